"""Source text and places in it; knows nothing of what the text means."""

from __future__ import annotations

from bisect import bisect_right

from attrs import field, frozen


@frozen(eq=False)
class Source:
    """A text as it was read: one file, or one string given by a caller.

    `path` is what diagnostics print. `text` has `\\n` line ends only and no byte order mark.
    """

    path: str
    text: str
    _line_starts: list[int] = field(init=False, factory=list, repr=False)

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

    `span` covers the piece in the source, quotes included. Where the two texts differ (a YAML scalar that is quoted, escaped or
    folded over lines), `quote` names the quoting character and places are found by walking both texts side by side, only when
    asked for.
    """

    text: str
    span: Span
    quote: str = ""

    @classmethod
    def of_text(cls, text: str, path: str = "<string>") -> Excerpt:
        """An excerpt that is a whole text of its own."""
        source = Source(path, text)
        return cls(text, Span(source, 0, len(text)))

    def place(self, start: int, end: int) -> Span:
        """The span in the source of a range of `text`."""
        first = self._source_offset(start)
        last = self._source_offset(end - 1) + 1 if end > start else first
        return Span(self.span.source, first, max(first, last))

    def _source_offset(self, offset: int) -> int:
        raw = self.span.source.text
        at, stop = self.span.start, self.span.end
        if raw.startswith(self.text, at):
            return min(at + offset, stop)
        at += 1 if self.quote else 0
        for wanted in self.text[: offset + 1]:
            if at >= stop:
                break
            step = 1
            if self.quote == '"' and raw[at] == "\\":
                step = {"x": 4, "u": 6, "U": 10}.get(raw[at + 1 : at + 2], 2)
            elif self.quote == "'" and raw.startswith("''", at):
                step = 2
            elif wanted.isspace():
                # A folded line break stands for any run of blanks.
                while at + step < stop and raw[at].isspace() and raw[at + step].isspace():
                    step += 1
            else:
                while at < stop and raw[at] != wanted and raw[at].isspace():
                    at += 1
            at += step
            last = at - step
        else:
            return last if offset < len(self.text) else min(at, stop)
        return stop
