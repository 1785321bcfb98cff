"""What is in the wheel and the sdist, whether they work where they are installed, and whether a backend from elsewhere does."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable
from configparser import ConfigParser
from email import message_from_bytes
from pathlib import Path

import pytest

import gradspec

SPEC = "op mul.Tensor(Tensor self, Tensor other) -> Tensor {\n  self: grad * other.conj();\n  other: grad * self.conj();\n}\n"

# All of them use the builds below: one worker makes them once.
pytestmark = pytest.mark.xdist_group("packaging")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wanted_files(repo: Path) -> set[str]:
    """What the wheel must hold, by where the checkout has it."""
    found = set()
    for root, pattern, prefix in (
        (repo, "gradspec/**/*", ""),
        (repo / "backends", "gradspec_*/**/*", ""),
        (repo / "grammars", "*.lark", "gradspec/grammars/"),
        (repo / "cmake", "*.cmake", "gradspec/cmake/"),
        (repo / "specs/prelude", "*.grad", "gradspec/prelude/"),
    ):
        for path in root.glob(pattern):
            if path.is_file() and "__pycache__" not in path.parts:
                found.add(prefix + path.relative_to(root).as_posix())
    return found


@pytest.fixture(scope="module")
def built(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was made from the sdist."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, repo)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


def test_the_wheel_holds_all_and_nothing_else(repo: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {name for name in names if ".dist-info/" not in name} == wanted_files(repo)
    data = {"gradspec/py.typed", "gradspec/grammars/formula.lark", "gradspec/prelude/linalg.grad"}
    assert data | {"gradspec_cpp/__init__.py"} <= names
    assert any(name.startswith("gradspec_cpp/templates/") for name in names)


def test_what_the_wheel_says_of_itself(wheel: Path) -> None:
    info = f"gradspec-{gradspec.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = message_from_bytes(archive.read(f"{info}/METADATA"))
        entry_points = ConfigParser()
        entry_points.read_string(archive.read(f"{info}/entry_points.txt").decode())
        license_text = archive.read(f"{info}/licenses/LICENSE").decode()
    assert metadata["Version"] == gradspec.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert "gradspec contributors" in license_text
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert [line.partition(">")[0] for line in needed] == ["attrs", "click", "jinja2", "lark", "pyyaml", "rich"]
    assert entry_points["console_scripts"]["gradspec"] == "gradspec.cli:main"
    assert entry_points["gradspec.backends"]["cpp"] == "gradspec_cpp:BACKEND"


def test_the_wheel_of_the_checkout_is_the_wheel_of_the_sdist(repo: Path, wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, repo)
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(tmp_path / wheel.name) as other:
        assert {i.filename: i.CRC for i in one.infolist()} == {i.filename: i.CRC for i in other.infolist()}


def test_the_sdist_can_be_worked_on(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "LICENSE", "grammars/spec.lark", "tests/test_packaging.py", "tests/plugin/pyproject.toml"} <= names
    assert any(name.startswith("specs/") for name in names)
    left_over = {"__pycache__", ".venv", "build", "dist", ".git"}
    assert not [name for name in names if left_over & set(name.split("/"))]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with the wheel in it. Its dependencies are those of the running one, by a .pth file."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_the_installed_command_runs(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "mul.grad").write_text(SPEC)
    command = installed.with_name("gradspec")
    where = run(installed, "-c", "import gradspec, gradspec_cpp; print(gradspec.__file__, gradspec_cpp.__file__)", cwd=tmp_path)
    assert all(Path(path).is_relative_to(installed.parent.parent) for path in where.split())
    assert "cpp" in run(command, "backends", cwd=tmp_path)
    assert "MulBackward" in run(command, "ir", "mul.grad", cwd=tmp_path)
    module = Path(run(command, "--cmake-dir", cwd=tmp_path).strip()) / "GradspecGenerate.cmake"
    assert module.is_file()
    assert module.is_relative_to(installed.parent.parent)
    run(command, "emit", "mul.grad", "-b", "cpp", "-o", "out", cwd=tmp_path)
    assert "MulBackward" in (tmp_path / "out" / "Functions.h").read_text()


# ------------------------------------------------------------------------------------------------ a backend from elsewhere


@pytest.fixture(scope="module")
def plugin(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the project of tests/plugin installed in it."""
    folder = tmp_path_factory.mktemp("plugin")
    run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-build-isolation",
        "--no-deps",
        "--target",
        folder,
        repo / "tests/plugin",
    )
    return folder


RunGradspec = Callable[..., subprocess.CompletedProcess[str]]


def test_a_backend_from_elsewhere(plugin: Path, run_gradspec: RunGradspec, tmp_path: Path) -> None:
    (tmp_path / "mul.grad").write_text(SPEC)
    listed = run_gradspec("backends", also=plugin)
    assert "an outline of every op, in Markdown" in listed.stdout
    done = run_gradspec(
        "emit", tmp_path / "mul.grad", "-b", "outline", "-O", "title=Pointwise", "-o", tmp_path / "out", also=plugin
    )
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "out" / "outline.md").read_text()
    assert page.splitlines()[1] == "# Pointwise"
    assert "- gradient of self: `grad * other.conj()`" in page
    assert "outline" not in run_gradspec("backends").stdout


def test_the_tests_of_the_backend_from_elsewhere(repo: Path, plugin: Path, with_path: Callable[[Path], dict[str, str]]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(repo / "tests/plugin")]
    done = subprocess.run(command, env=with_path(plugin), capture_output=True, text=True, timeout=120, cwd=repo / "tests/plugin")
    assert done.returncode == 0, done.stdout + done.stderr
