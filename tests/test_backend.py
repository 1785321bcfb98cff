"""Backends that are installed and broken: each ends in one clear line, and the others go on working."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gradspec.backend import BackendError, emit_files
from gradspec.pipeline import compile_sources
from gradspec.source import Source

GRAD = "op foo(Tensor self) -> Tensor { self: grad * 2; }\n"
WORKS = """
from attrs import field, frozen

@frozen
class Options:
    width: int = field(default=100, metadata={"help": "columns"})

class Broken:
    name = "broken"
    description = "a backend"
    api_version = 1
    Options = Options
    def emit(self, program, options):
        return {"a.txt": f"@generated {options.width}"}

BACKEND = Broken()
"""

# What the module of the backend is, and words of the one line that is said: when it is loaded, and when it emits.
UNLOADABLE = {
    "a syntax error": ("def", "from broken_backend:BACKEND: SyntaxError: invalid syntax (broken_backend.py, line 1)"),
    "an import error": ("import nosuch_module", "ModuleNotFoundError: No module named 'nosuch_module'"),
    "an error when imported": ("1 / 0", "ZeroDivisionError: division by zero"),
    "an exit when imported": ("raise SystemExit('\\nno\\nlicence')", "SystemExit: no licence"),
    "no such object": ("", "AttributeError: module 'broken_backend' has no attribute 'BACKEND'"),
    "not a backend": ("BACKEND = None", "is no backend: it has no name, description, api_version, Options, emit"),
    "a part is missing": (WORKS.replace("description", "about"), "is no backend: it has no description"),
    "a class": (WORKS.replace("Broken()", "Broken"), "is a class: the entry point must name an object of it"),
    "another version": (WORKS.replace("api_version = 1", "api_version = 99"), "speaks API version 99, this gradspec speaks 1"),
    "another name": (WORKS.replace('"broken"', '"fixed"'), "calls itself 'fixed'"),
    "options of another kind": (WORKS.replace("Options = Options", "Options = dict"), "has Options that are no attrs class"),
    "a list as an option": (WORKS.replace("default=100", "factory=list"), "option `width` whose default is of type Factory"),
    "an option without default": (WORKS.replace("default=100, ", ""), "has an option `width` whose default is missing"),
    "a default of None": (WORKS.replace("default=100", "default=None"), "has an option `width` whose default is None"),
}  # fmt: skip
RETURN = 'return {"a.txt": f"@generated {options.width}"}'
REFUSES_ALL = "    def __attrs_post_init__(self): 1 / 0\n\nclass Broken"
UNFIT = {
    "None": (WORKS.replace(RETURN, "return None"), "gave no mapping from paths to texts: it is None"),
    "a list": (WORKS.replace(RETURN, "return []"), "gave no mapping from paths to texts: it is of type list"),
    "bytes": (WORKS.replace(RETURN, "return {'a.txt': b''}"), "gave a text for `a.txt` that is of type bytes"),
    "a path": (WORKS.replace(RETURN, "import pathlib; return {pathlib.Path('a'): ''}"), "gave a path that is of type PosixPath"),
    "an error of another package": (WORKS.replace(RETURN, "import json; json.loads('')"), "backend.py:14: JSONDecodeError"),
    "an error": (WORKS.replace(RETURN, "return {}['x']"), "broken_backend.py:14: KeyError: 'x'"),
    "a path that leads out": (WORKS.replace("a.txt", "../a.txt"), "`../a.txt` leads out of its folder"),
    "options that refuse all": (WORKS.replace("class Broken", REFUSES_ALL), "ZeroDivisionError"),
}  # fmt: skip

Run = Callable[..., subprocess.CompletedProcess[str]]


def install(folder: Path, module: str) -> Path:
    """A folder in which a distribution with the backend `broken` is installed."""
    site = folder / "site"
    (site / "broken-1.dist-info").mkdir(parents=True)
    (site / "broken-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (site / "broken-1.dist-info/entry_points.txt").write_text("[gradspec.backends]\nbroken = broken_backend:BACKEND\n")
    (site / "broken_backend.py").write_text(module)
    (folder / "a.grad").write_text(GRAD)
    return site


def assert_one_line(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_one_that_works(tmp_path: Path, run_gradspec: Run) -> None:
    site = install(tmp_path, WORKS)
    assert "broken: a backend\n  -O width=100  columns\n" in run_gradspec("backends", also=site).stdout
    done = run_gradspec("emit", "a.grad", "-b", "broken", "-O", "width=7", "-o", "out", cwd=tmp_path, also=site)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/a.txt").read_text() == "@generated 7"


def test_one_that_changes(tmp_path: Path, run_gradspec: Run) -> None:
    site = install(tmp_path, WORKS)

    def emit() -> str:
        return run_gradspec("emit", "a.grad", "-b", "broken", "-o", "out", cwd=tmp_path, also=site).stdout

    assert "1 written" in emit()
    assert "up to date" in emit()
    (site / "broken_backend.py").write_text(WORKS.replace("@generated", "@generated again"))
    assert "1 written" in emit()


@pytest.mark.parametrize(("module", "words"), UNLOADABLE.values(), ids=UNLOADABLE)
def test_one_that_cannot_be_loaded(module: str, words: str, tmp_path: Path, run_gradspec: Run) -> None:
    site = install(tmp_path, module)
    listed = run_gradspec("backends", also=site)
    assert_one_line(listed, words)
    assert "cpp: " in listed.stdout
    assert_one_line(run_gradspec("emit", "a.grad", "-b", "broken", "-o", "out", cwd=tmp_path, also=site), words)
    assert not (tmp_path / "out").exists()
    assert run_gradspec("emit", "a.grad", "-b", "python", "-o", "out", cwd=tmp_path, also=site).returncode == 0


@pytest.mark.parametrize(("module", "words"), UNFIT.values(), ids=UNFIT)
def test_one_that_emits_no_files(module: str, words: str, tmp_path: Path, run_gradspec: Run) -> None:
    site = install(tmp_path, module)
    assert_one_line(run_gradspec("emit", "a.grad", "-b", "broken", "-o", "out", cwd=tmp_path, also=site), words)
    assert not (tmp_path / "out").exists()
    if "leads out" not in words:
        assert_one_line(run_gradspec("check", "a.grad", "-b", "broken", cwd=tmp_path, also=site), words)


def test_the_cause_is_kept() -> None:
    class Fails:
        name = "fails"
        description = ""
        api_version = 1
        Options = object

        def emit(self, program: object, options: object) -> Mapping[str, str]:
            raise ValueError("late")

    with pytest.raises(BackendError, match="`fails` failed in .*: ValueError: late") as caught:
        emit_files(Fails(), compile_sources([Source("a.grad", GRAD)]).program, None)
    assert isinstance(caught.value.__cause__, ValueError)
