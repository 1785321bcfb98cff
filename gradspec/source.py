"""Source text and places in it; knows nothing of what the text means."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import zip_longest
from typing import TypeAlias

from attrs import field, frozen


@frozen(eq=False)
class Source:
    """A text as it was read: one file, or one string given by a caller.

    `path` is what diagnostics print. `text` has `\\n` line ends only and no byte order mark.
    """

    path: str
    text: str
    # Eight bytes a line, as a file may consist of nothing but lines.
    _line_starts: array[int] = field(init=False, factory=lambda: array("q"), repr=False)

    def line_column(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column (in code points) of an offset into `text`."""
        if not self._line_starts:
            self._line_starts.append(0)
            at = self.text.find("\n")
            while at >= 0:
                self._line_starts.append(at + 1)
                at = self.text.find("\n", at + 1)
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a 1-based line, without its line end."""
        self.line_column(0)
        start = self._line_starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]


@frozen
class Span:
    """Half-open range of code points in a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """1-based line of the first code point."""
        return self.source.line_column(self.start)[0]

    @property
    def column(self) -> int:
        """1-based column of the first code point."""
        return self.source.line_column(self.start)[1]


@frozen(eq=False)
class Excerpt:
    """A piece of text that a parser reads on its own, and where it stands in its source.

    `span` covers the piece in the source, quotes included. Where the two texts differ (a YAML scalar that is quoted, escaped,
    folded over lines or a block), `quote` names the quoting character, and places are found by reading the source as YAML 1.1
    does, only when asked for.
    """

    text: str
    span: Span
    quote: str = ""
    _offsets: list[int] = field(init=False, factory=list, repr=False)

    @classmethod
    def of_text(cls, text: str, path: str = "<string>") -> Excerpt:
        """An excerpt that is a whole text of its own."""
        source = Source(path, text)
        return cls(text, Span(source, 0, len(text)))

    def place(self, start: int, end: int) -> Span:
        """The span in the source of a range of `text`; the whole piece where the two texts cannot be laid side by side."""
        if self._is_verbatim:
            shift = self.span.start + len(self.quote)
            return Span(self.span.source, shift + start, shift + max(start, end))
        if not self._offsets:
            self._offsets.extend(_offsets_in(self.span, self.text, self.quote))
        if len(self._offsets) != 2 * len(self.text) + 2:
            return self.span
        last = max(start, end - 1)
        return Span(self.span.source, self._offsets[2 * start], self._offsets[2 * last + (1 if end > start else 0)])

    @property
    def _is_verbatim(self) -> bool:
        width, quotes = self.span.end - self.span.start, 2 * len(self.quote)
        return width == len(self.text) + quotes and self.span.source.text.startswith(self.text, self.span.start + len(self.quote))


def _offsets_in(span: Span, text: str, quote: str) -> list[int]:
    """Where each code point of a scalar's text, and its end, begins and ends in the source; [-1] where that cannot be told."""
    raw, stop = span.source.text, span.end - len(quote)
    is_block = not quote and raw[span.start : span.start + 1] in ("|", ">")
    units = _block_units(raw, span.start, stop, text) if is_block else _flow_units(raw, span.start + len(quote), stop, quote)
    offsets: list[int] = []
    for unit, wanted in zip_longest(units, text):
        if unit is None or (unit[0] and unit[0] != wanted):
            return [-1]
        offsets += unit[1:]
    return [*offsets, stop, stop]


# A code point of a scalar, or nothing where the text tells it, and the range of the source that stands for it.
_Unit: TypeAlias = tuple[str, int, int]


def _flow_units(raw: str, at: int, stop: int, quote: str) -> Iterator[_Unit]:
    """A plain or quoted scalar: line breaks are folded (YAML 1.1, 4.1.3), and quotes escape what each of them can."""
    while at < stop:
        end = at + 1
        if raw[at] in " \t\n":
            while end < stop and raw[end] in " \t\n":
                end += 1
            breaks = raw.count("\n", at, end)
            if breaks:
                yield from [(" " if breaks == 1 else "\n", at, end)] * max(1, breaks - 1)
            else:
                yield from ((raw[i], i, i + 1) for i in range(at, end))
        elif quote == '"' and raw.startswith("\\\n", at):
            # An escaped line break is nothing; empty lines after it are line breaks.
            end += 1
            while end < stop and raw[end] in " \t\n":
                end += 1
            yield from [("\n", at, end)] * (raw.count("\n", at, end) - 1)
        elif quote == '"' and raw[at] == "\\":
            end = at + {"x": 4, "u": 6, "U": 10}.get(raw[at + 1], 2)
            yield "", at, end
        elif quote == "'" and raw[at] == "'":
            end = at + 2
            yield "'", at, end
        else:
            yield raw[at], at, end
        at = end


def _block_units(raw: str, at: int, stop: int, text: str) -> Iterator[_Unit]:
    """A block scalar: each line is found again behind its indentation; what stands between lines in the text is their break."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    line_start = raw.find("\n", at, stop) + 1
    indent = -1
    done = 0
    while 0 < line_start < stop:
        line_end = raw.find("\n", line_start, stop)
        line_end = stop if line_end < 0 else line_end
        line = raw[line_start:line_end]
        if line.strip() and indent < 0:
            indent = len(line) - len(line.lstrip(" ")) - (len(first) - len(first.lstrip(" ")))
        content = line[indent:] if indent >= 0 else ""
        while content and not text.startswith(content, done) and text[done : done + 1] in (" ", "\n"):
            yield text[done], max(at, line_start - 1), line_start
            done += 1
        for i, character in enumerate(content, line_end - len(content)):
            yield character, i, i + 1
        done += len(content)
        line_start = line_end + 1
    yield from ((character, stop, stop) for character in text[done:] if character == "\n")
