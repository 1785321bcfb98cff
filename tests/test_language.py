"""docs/language.md: its examples are compiled, and its tables are those of the code."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import frozen
from compiling import diagnose, findings

from gradspec.diagnostics import Diagnostics
from gradspec.fmt import WIDTH, format_spec
from gradspec.import_yaml import import_derivatives
from gradspec.load import MAX_FILE_BYTES
from gradspec.names import RESERVED_ARGUMENTS
from gradspec.parse import MAX_FORMULA_LENGTH, MAX_NESTING
from gradspec.saved import _FUNCTION_PROPERTIES, _METHOD_PROPERTIES
from gradspec.source import Source

PAGE = (Path(__file__).parent.parent / "docs/language.md").read_text()


@frozen
class Example:
    """A fenced block: its words behind the fence, its text, and the line where it begins."""

    words: tuple[str, ...]
    text: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}"


def examples() -> list[Example]:
    found: list[Example] = []
    lines: list[str] = []
    words: tuple[str, ...] = ()
    start = 0
    for number, line in enumerate(PAGE.splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif start:
            found.append(Example(words, "".join([f"{text}\n" for text in lines]), start))
            start = 0
        else:
            words, start, lines = tuple(line[3:].split()), number, []
    assert not start
    return found


RIGHT = [e for e in examples() if e.words == ("grad",)]
WRONG = [e for e in examples() if e.words[:2] == ("grad", "wrong")]
YAML = [e for e in examples() if e.words == ("yaml",)]


def test_every_example_is_of_a_known_kind() -> None:
    assert len(RIGHT) > 15
    assert WRONG
    assert len(RIGHT) + len(WRONG) + len(YAML) == len(examples())


@pytest.mark.parametrize("example", RIGHT, ids=str)
def test_a_right_example_has_no_findings(example: Example) -> None:
    program, found = diagnose(example.text)
    assert [d.message for d in found] == []
    assert program is not None
    assert program.ops


@pytest.mark.parametrize("example", WRONG, ids=str)
def test_a_wrong_example_has_the_finding_that_it_shows(example: Example) -> None:
    assert [place.split()[0] for place in findings(example.text)] == list(example.words[2:])


@pytest.mark.parametrize("example", RIGHT[2:], ids=str)
def test_an_example_is_in_canonical_form(example: Example) -> None:
    """But for the first two, that show free layout and comments anywhere."""
    assert format_spec(Source("x.grad", example.text), Diagnostics()) == example.text


def test_an_import_is_what_the_page_says() -> None:
    (example,) = YAML
    imported = import_derivatives(Source("d.yaml", example.text), (), Diagnostics())
    assert imported in [e.text for e in RIGHT]


def test_the_table_of_what_is_saved_is_complete() -> None:
    _, _, table = PAGE.partition("## What is saved")
    table = table.partition("\n## ")[0]
    for name, (suffix, type_) in {**_METHOD_PROPERTIES, **_FUNCTION_PROPERTIES}.items():
        (row,) = [line for line in table.splitlines() if line.startswith("|") and (f".{name}()" in line or f"`{name}(" in line)]
        assert suffix in row
        assert f" {type_} |" in row


def test_reserved_names_are_listed() -> None:
    (line,) = [line for line in PAGE.replace("\n", " ").split(". ") if line.startswith("No argument may be called")]
    assert [name for name in RESERVED_ARGUMENTS if f"`{name}`" not in line] == []


def test_limits_are_those_of_the_code() -> None:
    limits = PAGE.partition("## Limits")[2]
    assert f"{MAX_FORMULA_LENGTH:,} characters" in limits
    assert f"{MAX_NESTING} expressions" in limits
    assert f"{MAX_FILE_BYTES // 2**20} MiB" in limits
    assert f"{WIDTH} columns" in PAGE


def test_links_within_the_page_lead_somewhere() -> None:
    headings = {line.lstrip("# ").lower() for line in PAGE.splitlines() if line.startswith("#")}
    anchors = {"".join([c for c in h.replace(" ", "-") if c.isalnum() or c in "-_"]) for h in headings}
    used = [piece.partition(")")[0] for piece in PAGE.split("](#")[1:]]
    assert len(used) > 15
    assert [target for target in used if target not in anchors] == []
