"""The README: what it shows is what a run prints, and what it lists is what there is."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from gradspec.cli import cli


@pytest.fixture(scope="module")
def readme(repo: Path) -> str:
    return (repo / "README.md").read_text(encoding="utf-8")


def shown_blocks(page: str) -> Iterator[list[str]]:
    """The blocks of a page that are set in by four blanks, without these."""
    block: list[str] = []
    for line in [*page.splitlines(), "."]:
        if line.startswith("    ") or (block and not line):
            block.append(line[4:])
        elif block:
            yield "\n".join(block).rstrip("\n").splitlines()
            block = []


def transcripts(page: str) -> Iterator[tuple[str, list[str]]]:
    """Each command that a page shows with output, and the lines below it."""
    for block in shown_blocks(page):
        starts = [i for i, line in enumerate(block) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(block)], strict=False):
            yield block[start].removeprefix("$ "), "\n".join(block[start + 1 : end]).rstrip("\n").splitlines()


def without_times(line: str) -> str:
    """The line with each `0.81 s` as `TIME`."""
    words = line.split(" ")
    for i, word in enumerate(words[1:], 1):
        if word.rstrip(")") == "s" and words[i - 1].lstrip("(").replace(".", "").isdigit():
            words[i - 1] = words[i - 1][: -len(words[i - 1].lstrip("("))] + "TIME"
    return " ".join(words)


def matches(shown: list[str], real: list[str]) -> bool:
    """Whether the lines are the same, where a line `...` stands for some lines."""
    if not shown or not real:
        return not real and all(line == "..." for line in shown)
    if shown[0] == "...":
        return matches(shown[1:], real) or matches(shown, real[1:])
    return shown[0] == real[0] and matches(shown[1:], real[1:])


def spec_of(page: str) -> str:
    return "\n".join(next(shown_blocks(page))) + "\n"


def test_the_commands_print_what_is_shown(readme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pointwise.grad").write_text(spec_of(readme).replace("* other", "* othr", 1))
    seen = []
    for command, shown in transcripts(readme):
        program, *arguments = shlex.split(command)
        assert program == "gradspec"
        printed = CliRunner().invoke(cli, arguments).output
        real = [without_times(line) for line in printed.rstrip("\n").splitlines()]
        assert matches([without_times(line) for line in shown], real), f"$ {command}\n{printed}"
        seen.append(arguments[0])
    assert seen == ["check", "emit", "emit"]


def test_the_code_is_that_of_the_spec(readme: str, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pointwise.grad").write_text(spec_of(readme))
    (call,) = [piece for piece in readme.split("`") if piece.startswith("gradspec emit pointwise.grad")]
    assert CliRunner().invoke(cli, call.split()[1:]).exit_code == 0
    code, function = [block for block in shown_blocks(readme) if block[0].startswith("//")]
    assert "\n".join(code) in Path("nodes/Functions.cpp").read_text()
    assert "\n".join(function) in (repo / "specs/prelude/reductions.grad").read_text()


def rows(page: str, first: str) -> list[str]:
    """The first cells of the table whose first heading is `first`, without backquotes."""
    lines = page.partition(f"| {first} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [line.split("|")[1].strip(" `") for line in lines]


def test_every_command_and_no_other_is_listed(readme: str) -> None:
    assert sorted(row.split()[1] for row in rows(readme, "command")) == sorted(cli.commands)


def test_every_backend_and_no_other_is_listed(readme: str, repo: Path) -> None:
    project = tomllib.loads((repo / "pyproject.toml").read_text())["project"]
    assert sorted(rows(readme, "backend")) == sorted(project["entry-points"]["gradspec.backends"])


def test_every_page_of_the_manual_is_linked(readme: str, repo: Path) -> None:
    assert [page.name for page in sorted((repo / "docs").glob("*.md")) if f"(docs/{page.name})" not in readme] == []
