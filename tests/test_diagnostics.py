"""Diagnostics: each code has its file, its row in the docs and its snapshot; and how findings are collected and shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from gradspec.backend import load_backend
from gradspec.diagnostics import (
    CODES,
    Diagnostic,
    Diagnostics,
    SpecError,
    as_record,
    count,
    did_you_mean,
    render_json,
    render_text,
)
from gradspec.pipeline import compile_files
from gradspec.source import Source, Span

REPO = Path(__file__).resolve().parent.parent
BAD = REPO / "specs/bad"
FILES = sorted(p.name for p in BAD.iterdir() if not p.name.endswith(".schemas.yaml"))

# What only a backend can say.
SAID_BY = {"GS0703": "cpp", "GS0705": "cpp", "GS0906": "python"}

# Files that are too large or too long must not be large or long: these limits are lowered for them.
LOWERED = {"GS0802": ("gradspec.parse.formula.MAX_FORMULA_LENGTH", 80), "GS0803": ("gradspec.load.MAX_FILE_BYTES", 400)}


def diagnose(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Diagnostic, ...]:
    """All findings of a file of specs/bad, with the operators beside it if there are some."""
    code = name.partition("-")[0]
    monkeypatch.chdir(BAD)
    if code in LOWERED:
        monkeypatch.setattr(*LOWERED[code])
    twin = Path(name).with_suffix(".schemas.yaml")
    try:
        compiled = compile_files([Path(name)], twin if twin.exists() else None)
        if code not in SAID_BY:
            return compiled.diagnostics
        backend = load_backend(SAID_BY[code])
        backend.emit(compiled.program, backend.Options())
    except SpecError as error:
        return error.diagnostics
    return compiled.diagnostics


# ------------------------------------------------------------------------------------------------------------- every code


def test_every_code_has_one_file() -> None:
    assert [name.partition("-")[0] for name in FILES] == sorted(CODES)


@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_its_code_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {d.code.id for d in diagnose(name, monkeypatch)} == {name.partition("-")[0]}


@pytest.mark.parametrize("name", FILES)
def test_rendered(name: str, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    found = diagnose(name, monkeypatch)
    assert "\n\n".join(map(render_text, found)) == snapshot(name=f"{name} as text")
    assert json.loads(render_json(found))["diagnostics"] == snapshot(name=f"{name} as JSON")


@pytest.mark.parametrize("name", [n for n in FILES if (BAD / n).is_file()])
def test_a_place_is_in_its_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for found in diagnose(name, monkeypatch):
        assert found.span is not None
        for span in (found.span, *(s for s, _ in found.others)):
            assert span.source.path == name
            assert 0 <= span.start <= span.end <= len(span.source.text)


def rows() -> dict[str, list[str]]:
    """The rows of docs/diagnostics.md by code; each a list of its cells."""
    lines = (REPO / "docs/diagnostics.md").read_text(encoding="utf-8").splitlines()
    table = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| GS")]
    return {row[0]: row for row in table}


def test_every_code_has_its_row() -> None:
    assert [(row[0], row[1], row[2]) for row in rows().values()] == [(c.id, c.severity, c.title) for c in CODES.values()]


def test_every_row_explains_and_shows_its_file() -> None:
    for code, (_, _, _, why, fix, example) in rows().items():
        assert why, code
        assert fix or CODES[code].severity == "note", code
        (name,) = [n for n in FILES if n.startswith(f"{code}-")]
        assert example.rstrip(" |") == f"[{code}](../specs/bad/{name})"


def test_the_groups_of_codes_are_in_order() -> None:
    assert list(CODES) == sorted(CODES)
    assert all(code == CODES[code].id and len(code) == 6 for code in CODES)


# -------------------------------------------------------------------------------------------------------------- collecting

SOURCE = Source("a.grad", "op f {\n\tself: grad * othr;\n}\n")


def found(code: str, message: str, start: int, end: int) -> Diagnostic:
    return Diagnostic(CODES[code], message, Span(SOURCE, start, end))


def test_findings_come_in_the_order_of_their_places_and_once() -> None:
    diagnostics = Diagnostics()
    diagnostics.add("GS0401", "later", Span(SOURCE, 9, 10))
    diagnostics.add("GS0402", "nowhere")
    diagnostics.add("GS0401", "first", Span(SOURCE, 3, 4))
    diagnostics.add("GS0401", "later", Span(SOURCE, 9, 10))
    diagnostics.extend([found("GS0301", "in between", 5, 6)])
    assert [d.message for d in diagnostics.all] == ["nowhere", "first", "in between", "later"]


def test_warnings_alone_raise_nothing() -> None:
    diagnostics = Diagnostics()
    diagnostics.add("GS0402", "a warning")
    diagnostics.add("GS0111", "a note")
    assert not diagnostics.has_errors
    diagnostics.raise_errors()


def test_an_error_raises_with_everything() -> None:
    diagnostics = Diagnostics()
    diagnostics.add("GS0402", "a warning")
    diagnostics.add("GS0401", "an error")
    with pytest.raises(SpecError, match="GS0401 an error") as caught:
        diagnostics.raise_errors()
    assert [d.code.id for d in caught.value.diagnostics] == ["GS0401", "GS0402"]


def test_an_unknown_code_is_our_bug() -> None:
    with pytest.raises(KeyError):
        Diagnostics().add("GS9999", "no such thing")


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("othr", ["other", "self"], "did you mean `other`?"),
        ("AutogradCuda", ["AutogradCPU", "AutogradCUDA"], "did you mean `AutogradCUDA` or `AutogradCPU`?"),
        ("grad_", ["grad", "grads"], "did you mean `grad` or `grads`?"),
        ("x", ["self"], ""),
        ("self", ["self"], ""),
        ("x", [], ""),
    ],
)
def test_near_names(name: str, known: list[str], said: str) -> None:
    assert did_you_mean(name, known) == said


@pytest.mark.parametrize(("number", "text"), [(0, "0 outputs"), (1, "1 output"), (2, "2 outputs")])
def test_counts(number: int, text: str) -> None:
    assert count(number, "output") == text


# --------------------------------------------------------------------------------------------------------------- rendering


def test_text() -> None:
    diagnostic = Diagnostic(
        CODES["GS0401"], "unknown", Span(SOURCE, 21, 25), "here", "do this", ((Span(SOURCE, 3, 4), "and here"),)
    )
    assert render_text(diagnostic) == (
        "error[GS0401]: unknown\n"
        " --> a.grad:2:15\n"
        "  |\n"
        "2 |  self: grad * othr;\n"
        "  |               ^^^^ here\n"
        " --> a.grad:1:4\n"
        "  |\n"
        "1 | op f {\n"
        "  |    ^ and here\n"
        "  = help: do this"
    )


def test_json() -> None:
    diagnostic = Diagnostic(
        CODES["GS0401"], "unknown", Span(SOURCE, 21, 25), "here", "do this", ((Span(SOURCE, 3, 4), "and here"),)
    )
    assert as_record(diagnostic) == {
        "code": "GS0401",
        "severity": "error",
        "message": "unknown",
        "place": {"file": "a.grad", "line": 2, "column": 15, "end_line": 2, "end_column": 19},
        "label": "here",
        "help": "do this",
        "others": [
            {"place": {"file": "a.grad", "line": 1, "column": 4, "end_line": 1, "end_column": 5}, "label": "and here"},
        ],
    }
    assert json.loads(render_json([diagnostic])) == {"format": 1, "diagnostics": [as_record(diagnostic)]}


def test_a_finding_without_a_place() -> None:
    diagnostic = Diagnostic(CODES["GS0101"], "cannot read x", help="check it")
    assert render_text(diagnostic) == "error[GS0101]: cannot read x\n  = help: check it"
    assert as_record(diagnostic)["place"] is None


def test_a_file_that_was_not_read_is_not_quoted() -> None:
    diagnostic = Diagnostic(CODES["GS0101"], "cannot read x", Span(Source("x", ""), 0, 0))
    assert render_text(diagnostic) == "error[GS0101]: cannot read x\n --> x"


def test_gutters_are_as_wide_as_the_longest_line_number() -> None:
    source = Source("x", "\n" * 99 + "last")
    diagnostic = Diagnostic(CODES["GS0401"], "m", Span(source, 99, 103), others=((Span(source, 0, 1), ""),))
    assert render_text(diagnostic).splitlines()[1:6] == ["   --> x:100:1", "    |", "100 | last", "    | ^^^^", "   --> x:1:1"]


@pytest.mark.parametrize("at", [0, 79, 80, 5_000, 9_996, 9_999])
def test_a_long_line_is_quoted_around_the_place(at: int) -> None:
    text = "".join(str(i % 10) for i in range(10_000))
    quoted, carets = render_text(Diagnostic(CODES["GS0401"], "m", Span(Source("x", text), at, at + 3))).splitlines()[3:]
    assert len(quoted) < 180
    assert quoted[carets.index("^")] == text[at]


def test_carets_stay_on_the_first_line() -> None:
    source = Source("x", "ab\ncd")
    assert render_text(Diagnostic(CODES["GS0401"], "m", Span(source, 1, 5))).splitlines()[-1] == "  |  ^"


def test_what_a_terminal_should_not_see_is_not_printed() -> None:
    bad = "a\x1b[31m\u202eb\x07\udcff"
    text = render_text(Diagnostic(CODES["GS0401"], bad, Span(Source(bad, bad), 0, 1), bad, bad))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\x07" not in text
    assert text.isascii() or "\N{REPLACEMENT CHARACTER}" in text
    text.encode()
