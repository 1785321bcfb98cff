"""Builds that emit: the depfile as Make reads it, the CMake module with both kinds of generator, and the example project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

MUL = "op mul.Tensor(Tensor self, Tensor other) -> Tensor {\n  self: grad * other.conj();\n  other: grad * self.conj();\n}\n"
EXAMPLE = Path(__file__).resolve().parents[1] / "cmake_example"

RunGradspec = Callable[..., subprocess.CompletedProcess[str]]

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def emit(run_gradspec: RunGradspec, folder: Path, *more: str | Path, spec: str = "mul.grad") -> subprocess.CompletedProcess[str]:
    return run_gradspec("emit", spec, "-b", "cpp", "-o", "out", *more, cwd=folder)


def rules(text: str) -> dict[str, list[str]]:
    """The rules of a depfile without blanks in its paths."""
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line]
    return {target: needed.split() for target, _, needed in (line.partition(":") for line in lines)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mul.grad").write_text(MUL)
    return tmp_path


# ------------------------------------------------------------------------------------------------------------- the depfile


def test_all_that_an_emit_reads(run_gradspec: RunGradspec, folder: Path, repo: Path) -> None:
    schemas = folder / "native.yaml"
    schemas.write_text("- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  variants: function, method\n")
    done = emit(run_gradspec, folder, "--schemas", schemas, "--depfile", "out.d")
    assert (done.returncode, done.stderr) == (0, "")
    (first, needed), *phony = rules((folder / "out.d").read_text()).items()
    emitted = sorted(path.name for path in (folder / "out").iterdir() if not path.name.startswith("."))
    assert sorted(first.split()) == [f"out/{name}" for name in emitted]
    assert {"mul.grad", str(schemas)} <= set(needed)
    for root in ("gradspec", "grammars", "backends/gradspec_cpp"):
        files = [p for p in (repo / root).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
        assert files
        assert {str(path) for path in files} <= set(needed)
    # A file that is gone by then must not stop Make.
    assert dict(phony) == {file: [] for file in needed}
    assert not [path for path in needed if "gradspec_python" in path]


def test_an_emit_with_nothing_to_do_writes_the_same(run_gradspec: RunGradspec, folder: Path) -> None:
    emit(run_gradspec, folder, "--depfile", "one.d")
    done = emit(run_gradspec, folder, "--depfile", "two.d")
    assert "is up to date" in done.stdout
    assert (folder / "one.d").read_bytes() == (folder / "two.d").read_bytes()


def test_a_stamp_stands_for_the_outputs(run_gradspec: RunGradspec, folder: Path) -> None:
    emit(run_gradspec, folder, "--depfile", "out.d", "--stamp", "stamp")
    assert next(iter(rules((folder / "out.d").read_text()))) == "stamp"
    times = {path: path.stat().st_mtime_ns for path in (folder / "out").iterdir()}
    os.utime(folder / "stamp", ns=(0, 0))
    emit(run_gradspec, folder, "--stamp", "stamp")
    assert (folder / "stamp").stat().st_mtime_ns > 0
    assert {path: path.stat().st_mtime_ns for path in (folder / "out").iterdir()} == times


def test_no_stamp_where_the_spec_is_wrong(run_gradspec: RunGradspec, folder: Path) -> None:
    (folder / "mul.grad").write_text(MUL.replace("other.conj", "othr.conj"))
    assert emit(run_gradspec, folder, "--depfile", "out.d", "--stamp", "stamp").returncode == 1
    assert not (folder / "stamp").exists()
    assert not (folder / "out.d").exists()


def test_what_cannot_be_written_is_said(run_gradspec: RunGradspec, folder: Path) -> None:
    done = emit(run_gradspec, folder, "--depfile", "nowhere/out.d")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_check_writes_neither(run_gradspec: RunGradspec, folder: Path) -> None:
    done = emit(run_gradspec, folder, "--check", "--stamp", "stamp")
    assert done.returncode == 2
    assert not (folder / "stamp").exists()


@needs_make
@pytest.mark.parametrize("spec", ["mul.grad", "two words.grad", "c#.grad", "cash$.grad"])
def test_make_reads_it(run_gradspec: RunGradspec, folder: Path, spec: str) -> None:
    if spec != "mul.grad":
        (folder / "mul.grad").rename(folder / spec)
    (folder / "Makefile").write_text("stamp: ; @echo again\ninclude out.d\n")
    emit(run_gradspec, folder, "--depfile", "out.d", "--stamp", "stamp", spec=spec)

    def make() -> str:
        return subprocess.run(["make", "stamp"], cwd=folder, capture_output=True, text=True, check=True).stdout

    assert "up to date" in make()
    later = (folder / "stamp").stat().st_mtime + 10
    os.utime(folder / spec, (later, later))
    assert make() == "again\n"
    (folder / spec).unlink()
    assert make() == "again\n"


# ----------------------------------------------------------------------------------------------------------------- CMake

GENERATORS = [
    pytest.param("Unix Makefiles", marks=needs_make),
    pytest.param("Ninja", marks=pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja is not installed")),
]

# A project that compiles nothing.
PROJECT = """\
cmake_minimum_required(VERSION 3.21)
project(example LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH "${GRADSPEC_CMAKE_DIR}")
include(GradspecGenerate)
add_custom_target(nodes)
gradspec_generate(TARGET nodes %s)
"""


def cmake(*command: str | Path) -> str:
    done = subprocess.run(["cmake", *map(str, command)], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def configure(source: Path, build: Path, repo: Path, *more: str) -> None:
    cmake("-S", source, "-B", build, f"-DGRADSPEC_CMAKE_DIR={repo / 'cmake'}", f"-DPython3_EXECUTABLE={sys.executable}", *more)


@needs_cmake
@pytest.mark.parametrize("generator", GENERATORS)
def test_a_build_emits_again_when_anything_has_changed(generator: str, repo: Path, folder: Path) -> None:
    # Files of gradspec are changed here: a copy is.
    copy, build = folder / "copy", folder / "build"
    for name in ("gradspec", "grammars", "backends/gradspec_cpp"):
        shutil.copytree(repo / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    path = os.pathsep.join([str(copy), str(copy / "backends")])
    command = ";".join(["-DGRADSPEC_COMMAND=cmake", "-E", "env", f"PYTHONPATH={path}", sys.executable, "-m", "gradspec"])
    (folder / "CMakeLists.txt").write_text(PROJECT % "SPECS mul.grad OUTPUTS Functions.h Functions.cpp")
    configure(folder, build, repo, "-G", generator, command)
    out = build / "gradspec" / "nodes"

    def emits() -> bool:
        return "gradspec: nodes_cpp" in cmake("--build", build, "--target", "nodes")

    assert emits()
    assert not emits()
    emitted = (out / "Functions.cpp").stat().st_mtime_ns
    for changed in ("gradspec/resolve.py", "grammars/formula.lark", "backends/gradspec_cpp/templates/Functions.cpp.j2"):
        (copy / changed).touch()
        assert emits(), changed
        assert not emits(), changed
    # Nothing of the text was another: nothing would be compiled again.
    assert (out / "Functions.cpp").stat().st_mtime_ns == emitted
    (folder / "mul.grad").write_text(MUL.replace("conj()", "conj().conj()"))
    assert emits()
    assert not emits()
    assert ".conj().conj()" in (out / "Functions.cpp").read_text()
    assert (out / "Functions.h").stat().st_mtime_ns < (out / "Functions.cpp").stat().st_mtime_ns


@needs_cmake
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("SPECS mul.grad", "OUTPUTS are missing"),
        ("OUTPUTS Functions.h", "give SPECS or TORCH"),
        ("TORCH SPECS mul.grad OUTPUTS Functions.h", "give SPECS or TORCH"),
        ("SPECS mul.grad OUTPUTS Functions.h TARGET other", "`other` is no target"),
    ],
)
def test_a_call_that_is_wrong(repo: Path, folder: Path, arguments: str, words: str) -> None:
    (folder / "CMakeLists.txt").write_text(PROJECT % arguments)
    with pytest.raises(AssertionError) as failed:
        configure(folder, folder / "build", repo)
    assert words in str(failed.value)


@needs_cmake
@needs_torch
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_the_example_builds_and_runs(repo: Path, tmp_path: Path) -> None:
    import torch

    configure(EXAMPLE, tmp_path, repo, f"-DCMAKE_PREFIX_PATH={torch.utils.cmake_prefix_path}")
    cmake("--build", tmp_path, "--parallel", "2")
    assert subprocess.run([tmp_path / "example"], capture_output=True, text=True, check=True).stdout == "3\n"


# ---------------------------------------------------------------------------------------------------- docs/building.md


def blocks(repo: Path, language: str) -> list[str]:
    """The code blocks of one language."""
    parts = (repo / "docs" / "building.md").read_text(encoding="utf-8").split(f"```{language}\n")[1:]
    return [part.partition("```")[0] for part in parts]


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_the_macro_declares_what_is_emitted(repo: Path, run_gradspec: RunGradspec, folder: Path, shards: int) -> None:
    class Native:
        def __init__(self) -> None:
            self.rules: dict[str, dict[str, object]] = {}

        def genrule(self, **rule: object) -> None:
            self.rules["genrule"] = rule

        def cc_library(self, **rule: object) -> None:
            self.rules["cc_library"] = rule

    native = Native()
    scope: dict[str, object] = {"native": native}
    # The macro's Starlark is Python too.
    exec(blocks(repo, "starlark")[0], scope)
    macro = scope["gradspec_cpp"]
    assert callable(macro)
    macro(name="out", specs=["mul.grad"], shards=shards, options={"namespace": "mylib::nodes"})
    command = str(native.rules["genrule"]["cmd"])
    for place, text in {"$(locations mul.grad)": "mul.grad", "$(RULEDIR)": ".", "'": ""}.items():
        command = command.replace(place, text)
    tool, *arguments = command.removeprefix("$(location //tools:gradspec)").split()
    assert tool == "emit"
    done = run_gradspec(tool, *arguments, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    written = {f"out/{path.name}" for path in (folder / "out").iterdir() if not path.name.startswith(".")}
    outs, sources, headers = (
        native.rules[rule][key] for rule, key in [("genrule", "outs"), ("cc_library", "srcs"), ("cc_library", "hdrs")]
    )
    assert isinstance(outs, list)
    assert isinstance(sources, list)
    assert isinstance(headers, list)
    assert set(outs) == written == set(sources) | set(headers)
    assert all(path.endswith(".cpp") for path in sources)


@needs_make
def test_the_makefile_of_the_page(repo: Path, folder: Path) -> None:
    (folder / "mul.grad").rename(folder / "nodes.grad")
    (folder / "build").mkdir()
    (makefile,) = blocks(repo, "make")
    (folder / "Makefile").write_text(makefile.replace("gradspec emit", f"{sys.executable} -m gradspec emit"))
    goal = ["make", "build/nodes/Functions.cpp"]

    def emits() -> bool:
        done = subprocess.run(goal, cwd=folder, capture_output=True, text=True, check=True)
        return "gradspec emit" in done.stdout

    assert emits()
    assert (folder / "build/nodes/Functions.cpp").is_file()
    assert not emits()
    (folder / "nodes.grad").touch()
    assert emits()
    assert not emits()


@pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja is not installed")
def test_the_ninja_file_of_the_page(repo: Path, folder: Path) -> None:
    (folder / "mul.grad").rename(folder / "nodes.grad")
    (rules_,) = blocks(repo, "ninja")
    (folder / "build.ninja").write_text(rules_.replace("gradspec emit", f"{sys.executable} -m gradspec emit"))

    def emits() -> bool:
        done = subprocess.run(["ninja"], cwd=folder, capture_output=True, text=True, check=True)
        return "no work to do" not in done.stdout

    assert emits()
    assert not emits()
    (folder / "nodes.grad").touch()
    assert emits()
    assert not emits()
