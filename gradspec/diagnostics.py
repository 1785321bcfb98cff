"""Diagnostics: the table of codes, how one is rendered, and the error that carries them; knows no grammar."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Literal, TypeAlias

from attrs import field, frozen

from gradspec.source import Source, Span

Severity: TypeAlias = Literal["error", "warning", "note"]


@frozen
class Code:
    """A kind of mistake. `title` is its row in docs/diagnostics.md."""

    id: str
    severity: Severity
    title: str


def _table(*rows: tuple[str, Severity, str]) -> dict[str, Code]:
    return {id_: Code(id_, severity, title) for id_, severity, title in rows}


# GS01 files and YAML, GS02 syntax, GS03 schemas and entries, GS04 names in formulas, GS05 gradients and keys, GS06 forward mode,
# GS07 what is saved and generated names, GS08 limits, GS09 types. A code is never reused. docs/diagnostics.md explains each, and
# specs/bad has an example of each.
CODES = _table(
    ("GS0101", "error", "a file cannot be read"),
    ("GS0102", "error", "a file is not UTF-8"),
    ("GS0103", "error", "YAML syntax"),
    ("GS0104", "error", "merge conflict marker"),
    ("GS0105", "error", "the file's top level is not a list"),
    ("GS0106", "error", "several YAML documents in one file"),
    ("GS0107", "error", "YAML anchors, aliases, merge keys and tags"),
    ("GS0108", "error", "a value of the wrong YAML type"),
    ("GS0109", "error", "a key stands twice"),
    ("GS0110", "error", "an entry without its required key"),
    ("GS0111", "note", "a spec without entries"),
    ("GS0112", "note", "a YAML comment cuts a formula"),
    ("GS0201", "error", "syntax error in a formula"),
    ("GS0202", "error", "syntax error in a schema"),
    ("GS0203", "error", "syntax error in a .grad file"),
    ("GS0204", "error", "a character that no formula has"),
    ("GS0205", "error", "a comment or string is not closed"),
    ("GS0206", "error", "brackets do not match"),
    ("GS0207", "error", "a number that C++ does not have"),
    ("GS0208", "error", "an empty formula"),
    ("GS0209", "error", "raw strings, trigraphs and digraphs"),
    ("GS0301", "error", "a default that does not fit its type"),
    ("GS0302", "error", "an unknown type in a schema"),
    ("GS0303", "error", "a name is used twice in a schema"),
    ("GS0304", "error", "a schema that no operator has"),
    ("GS0305", "error", "two entries for one op"),
    ("GS0306", "error", "an unknown dispatch key"),
    ("GS0307", "error", "an unknown key in an entry"),
    ("GS0308", "warning", "no Default: not differentiable outside of the named dispatch keys"),
    ("GS0309", "error", "output_differentiability does not fit the op"),
    ("GS0310", "error", "a reserved name"),
    ("GS0311", "error", "an op name that is not an identifier"),
    ("GS0312", "error", "a forward expression that does not fit the op"),
    ("GS0401", "error", "an unknown name in a formula"),
    ("GS0402", "warning", "an unknown function"),
    ("GS0403", "error", "a name that only the other kind of formula knows"),
    ("GS0404", "error", "the bare name of a differentiable input in a forward formula"),
    ("GS0405", "error", "sizes(), size(i) or strides() where the symbolic form is needed"),
    ("GS0406", "warning", "a whole tensor is saved for one of its properties"),
    ("GS0407", "error", "a property of an optional tensor without ->"),
    ("GS0408", "warning", "a division of whole numbers that drops digits"),
    ("GS0410", "error", "a form that stands only in a function"),
    ("GS0411", "error", "a name that means something already"),
    ("GS0412", "error", "functions that call themselves in a circle"),
    ("GS0413", "error", "a header that is none of a function"),
    ("GS0414", "error", "a function that changes a value"),
    ("GS0501", "error", "an index of grads that the op does not have"),
    ("GS0502", "error", "grad, grads and grad_NAME mixed in one entry"),
    ("GS0503", "error", "only grads[0] is used"),
    ("GS0504", "error", "the gradient of an output that has none"),
    ("GS0505", "error", "a gradient or a tangent for a value that cannot have one"),
    ("GS0506", "error", "two formulas for one name"),
    ("GS0507", "error", "a name stands twice in one key"),
    ("GS0508", "error", "grad_input_mask out of range"),
    ("GS0509", "error", "grad_input_mask in the formula of one input"),
    ("GS0510", "error", "the formula gives another number of gradients than its key names"),
    ("GS0511", "error", "inputs and outputs mixed in one key"),
    ("GS0512", "error", "a special value where it cannot stand"),
    ("GS0513", "warning", "an undefined gradient reaches a formula that does not expect it"),
    ("GS0514", "warning", "a gradient that does not depend on the gradients of the outputs"),
    ("GS0515", "warning", "the gradient of a differentiable output is never read"),
    ("GS0516", "warning", "a gradient that is not linear in the gradients of the outputs"),
    ("GS0601", "error", "auto_linear does not fit"),
    ("GS0602", "error", "auto_element_wise does not fit"),
    ("GS0603", "warning", "an entry with forward formulas alone takes the op's node away"),
    ("GS0604", "warning", "auto_linear on an op that is not linear"),
    ("GS0605", "warning", "a tangent that does not depend on the tangents of the inputs"),
    ("GS0606", "warning", "the tangent of a differentiable input is never read"),
    ("GS0607", "warning", "a tangent that is not linear in the tangents of the inputs"),
    ("GS0608", "warning", "the value after the write in a forward formula of an in-place op"),
    ("GS0701", "error", "two values of the node would share one name"),
    ("GS0702", "error", "sym_strides() outside of the tensor's own formula"),
    ("GS0703", "error", "a name that the target language reserves"),
    ("GS0704", "warning", "an in-place op saves the input that it overwrites"),
    ("GS0705", "error", "a value that the target cannot keep"),
    ("GS0706", "error", "two nodes would share one class name"),
    ("GS0801", "error", "nested too deeply"),
    ("GS0802", "error", "a formula or an op that is too long"),
    ("GS0803", "error", "a file that is too large"),
    ("GS0901", "error", "a method that the value does not have"),
    ("GS0902", "error", "a call with a wrong number of arguments"),
    ("GS0903", "error", "an argument of a wrong type"),
    ("GS0904", "error", "an operator that the types do not have"),
    ("GS0905", "error", "a formula that gives no gradient"),
    ("GS0906", "error", "a function that the target cannot call"),
    ("GS0907", "error", "a value of another type than the header says"),
)  # fmt: skip


@frozen
class Diagnostic:
    """One finding: what is wrong, where, and what to do about it."""

    code: Code
    message: str
    span: Span | None = None
    label: str = ""
    help: str = ""
    others: tuple[tuple[Span, str], ...] = ()

    @property
    def severity(self) -> Severity:
        return self.code.severity


_MAX_COMPARED = 200_000  # names, which takes about two seconds


@frozen
class Diagnostics:
    """A collector that passes write to; findings come out in the order of their places, each once."""

    _found: list[Diagnostic] = field(factory=list)
    _counts: Counter[str] = field(factory=Counter)

    def add(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        *,
        label: str = "",
        help: str = "",
        others: Sequence[tuple[Span, str]] = (),
    ) -> None:
        """Note a finding.

        Raises:
            KeyError: the code is not in the table.
        """
        message, help = _shortened(message, _LONGEST_MESSAGE), _shortened(help, _LONGEST_HELP)
        self.extend([Diagnostic(CODES[code], message, span, label, help, tuple(others))])

    def suggest(self, name: str, known: Iterable[str]) -> str:
        """Like `did_you_mean`; empty once so many names were compared that the search would take most of a run."""
        if not self.may_compare(0):
            return ""
        names = set(known)
        self.may_compare(len(names))
        return did_you_mean(name, names)

    def may_compare(self, names: int) -> bool:
        """Whether so many more names can still be searched for near ones; counts them if so."""
        if self._counts["compared"] > _MAX_COMPARED:
            return False
        self._counts["compared"] += names
        return True

    def extend(self, more: Iterable[Diagnostic]) -> None:
        """Note findings made elsewhere."""
        for diagnostic in more:
            self._found.append(diagnostic)
            self._counts[diagnostic.severity] += 1

    @property
    def all(self) -> tuple[Diagnostic, ...]:
        """The findings, sorted by file and place."""
        seen: dict[tuple[str, int, str, str], Diagnostic] = {}
        for d in self._found:
            where = (d.span.source.path, d.span.start) if d.span else ("", 0)
            seen.setdefault((*where, d.code.id, d.message), d)
        return tuple(seen[k] for k in sorted(seen))

    @property
    def has_errors(self) -> bool:
        """Whether anything found is an error."""
        return self._counts["error"] > 0

    def syntax_errors(self, source: Source) -> list[int]:
        """Where a text was found to have wrong syntax, in order."""
        spans = [d.span for d in self._found if d.code.id.startswith("GS02") and d.span is not None] if self.has_errors else []
        return sorted(span.start for span in spans if span.source is source)

    def raise_errors(self) -> None:
        """Raise SpecError with everything found, warnings included, if an error is among it."""
        if self.has_errors:
            raise SpecError(self.all)


class SpecError(Exception):
    """The spec is wrong; carries all findings of the run."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("; ".join(f"{d.code.id} {d.message}" for d in diagnostics))
        self.diagnostics = tuple(diagnostics)


_LONGEST_MESSAGE, _LONGEST_HELP = 400, 4000  # code points; names in them may have any length


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest // 2]} ... {text[-longest // 2 :]}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A help text with the nearest known names, whatever their case; empty where none is near."""
    spellings: dict[str, list[str]] = {}
    for other in sorted(set(known) - {name}):
        spellings.setdefault(other.lower(), []).append(other)
    lowered = name.lower()
    close = [other for other in get_close_matches(lowered, spellings, n=3, cutoff=0.6) if _stems_are_near(lowered, other)]
    near = [n for other in close for n in spellings[other]][:3]
    return f"did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else ""


def _stems_are_near(name: str, other: str) -> bool:
    """Whether two names are alike without the last word that they share: a long `_backward` makes none of them near."""
    (stem, _, last), (other_stem, _, other_last) = name.rpartition("_"), other.rpartition("_")
    if last != other_last or not stem or not other_stem:
        return True
    return SequenceMatcher(None, stem, other_stem).ratio() >= _LEAST_STEM_RATIO


_LEAST_STEM_RATIO = 0.7


def count(number: int, noun: str) -> str:
    """A number of things in words: `1 output`, `2 outputs`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def render_text(diagnostic: Diagnostic) -> str:
    """A diagnostic for people: sentence, place, quoted line with carets, help."""
    lines = [f"{diagnostic.severity}[{diagnostic.code.id}]: {_visible(diagnostic.message)}"]
    span = diagnostic.span
    gutter = 1
    if span is not None:
        gutter = len(str(max([span.line, *(s.line for s, _ in diagnostic.others)])))
        lines += _quoted(span, diagnostic.label, gutter)
    for other, label in diagnostic.others:
        lines += _quoted(other, label, gutter)
    if diagnostic.help:
        lines.append(f"{' ' * gutter} = help: {_visible(diagnostic.help)}")
    return "\n".join(lines)


def _visible(text: str) -> str:
    """The text with what a terminal should not see as escapes: names and paths may hold anything."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


_WIDEST_QUOTE = 160


def _quoted(span: Span, label: str, gutter: int) -> list[str]:
    line, column = span.line, span.column
    pad = " " * gutter
    if not span.source.text:
        return [f"{pad}--> {_visible(span.source.path)}"]
    text = span.source.line_text(line)
    # A very long line is quoted around the place, so that one bad formula never floods the screen.
    cut = max(0, column - _WIDEST_QUOTE // 2) if len(text) > _WIDEST_QUOTE else 0
    shown = text[cut : cut + _WIDEST_QUOTE]
    prefix = "..." if cut else ""
    shown = "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in shown)
    start = column - 1 - cut + len(prefix)
    width = max(1, min(span.end - span.start, len(shown) + len(prefix) - start))
    return [
        f"{pad}--> {_visible(span.source.path)}:{line}:{column}",
        f"{pad} |",
        f"{line:>{gutter}} | {prefix}{shown}".rstrip(),
        f"{pad} | {' ' * start}{'^' * width}{' ' + _visible(label) if label else ''}",
    ]


def as_record(diagnostic: Diagnostic) -> dict[str, object]:
    """A diagnostic as plain data, for editors and CI; lines and columns are 1-based, `end_column` is exclusive."""

    def place(span: Span) -> dict[str, object]:
        end_line, end_column = span.source.line_column(span.end)
        return {
            "file": span.source.path,
            "line": span.line,
            "column": span.column,
            "end_line": end_line,
            "end_column": end_column,
        }

    return {
        "code": diagnostic.code.id,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "place": place(diagnostic.span) if diagnostic.span else None,
        "label": diagnostic.label,
        "help": diagnostic.help,
        "others": [{"place": place(s), "label": text} for s, text in diagnostic.others],
    }


def render_json(diagnostics: Sequence[Diagnostic]) -> str:
    """All diagnostics as one JSON document: `{"format": 1, "diagnostics": [...]}`."""
    return json.dumps({"format": 1, "diagnostics": [as_record(d) for d in diagnostics]}, indent=2)
