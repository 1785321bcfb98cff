"""The command line: what each call prints, where, and with which exit code. A traceback is always our bug."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gradspec import __version__
from gradspec.cli import cli

GRAD = "op foo(Tensor self) -> Tensor { self: grad * 2; }\n"
WARNED = "op foo(Tensor self) -> Tensor { dispatch AutogradCUDA { self: grad; } }\n"
WRONG = "op foo(Tensor self) -> Tensor { self: grad * slef; }\n"
NOTED = "- name: foo(Tensor self) -> Tensor\n  self: grad # * 2\n"
NATIVE = "- func: foo(Tensor self) -> Tensor\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command in a folder with some specs; whatever happens, it must be an exit with a code of ours."""
    texts = {"a.grad": GRAD, "w.grad": WARNED, "x.grad": WRONG, "empty.grad": "", "d.yaml": NOTED, "n.yaml": NATIVE}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        result = CliRunner().invoke(cli, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


# -------------------------------------------------------------------------------------------------------------- exit codes

CALLS: dict[str, tuple[str, int, str]] = {
    # what is called, the exit code, and words of what is said
    "nothing": ("", 2, "Usage:"),
    "the version": ("--version", 0, __version__),
    "help": ("-h", 0, "Commands:"),
    "help of a command": ("check -h", 0, "--schemas"),
    "an unknown command": ("nosuch", 2, "nosuch"),
    "an unknown option": ("check a.grad --nosuch", 2, "--nosuch"),
    "no specs": ("check", 2, "nothing to compile"),
    "a right spec": ("check a.grad", 0, "1 ops, 1 nodes: no errors"),
    "a wrong spec": ("check x.grad", 1, "GS0401"),
    "two specs of one op": ("check a.grad x.grad", 1, "a.grad:1 and x.grad:1"),
    "a warning": ("check w.grad", 0, "GS0308"),
    "a warning, strictly": ("check w.grad --strict", 1, "GS0308"),
    "a note, strictly": ("check d.yaml --schemas n.yaml --strict", 0, "GS0112"),
    "an empty spec": ("check empty.grad", 0, "GS0111"),
    "no such file": ("check none.grad", 1, "GS0101"),
    "no such schemas": ("check d.yaml --schemas none.yaml", 1, "GS0101"),
    "YAML without schemas": ("check d.yaml", 2, "--schemas"),
    "schemas that are none": ("check a.grad --schemas a.grad", 1, "GS0105"),
    "torch and specs": ("check a.grad --torch", 2, "--schemas torch"),
    "torch and schemas": ("check --torch --schemas n.yaml", 2, "--schemas torch"),
    "no such torch": ("check --torch none", 2, "not a folder"),
    "no torch there": ("check --torch .", 2, "neither a site-packages folder"),
    "an unknown format": ("check a.grad --format xml", 2, "xml"),
    "an extern that is no name": ("check a.grad --extern a-b", 2, "--extern a-b"),
    "an empty extern": ("check a.grad --extern=", 2, "--extern"),
    "ir of a wrong spec": ("ir x.grad", 1, "GS0401"),
    "ir of an unknown op": ("ir a.grad --op fo", 2, "did you mean `foo`"),
    "ir without specs": ("ir", 2, "nothing to compile"),
    "emit without a backend": ("emit a.grad -o out", 2, "--backend"),
    "emit with an unknown backend": ("emit a.grad -b nosuch -o out", 2, "installed: "),
    "emit without a folder": ("emit a.grad -b cpp", 2, "--out"),
    "emit of a wrong spec": ("emit x.grad -b cpp -o out", 1, "GS0401"),
    "emit of no file": ("emit none.grad -b cpp -o out", 1, "GS0101"),
    "emit into a file": ("emit a.grad -b cpp -o a.grad", 2, "a.grad"),
    "an option without a value": ("emit a.grad -b cpp -o out -O x", 2, "KEY=VALUE"),
    "an unknown backend option": ("emit a.grad -b cpp -o out -O nosuch=1", 2, "nosuch"),
    "an option that is no number": ("emit a.grad -b cpp -o out -O shards=two", 2, "whole number"),
    "an option that is nearly a number": ("emit a.grad -b cpp -o out -O shards=--5", 2, "whole number"),
    "an option that is a digit to Unicode": ("emit a.grad -b cpp -o out -O shards=²", 2, "whole number"),
    "an option that does not fit": ("emit a.grad -b cpp -o out -O namespace=1", 2, "namespace"),
    "backends": ("backends", 0, "cpp: "),
}  # fmt: skip


@pytest.mark.parametrize(("call", "code", "words"), CALLS.values(), ids=CALLS)
def test_a_call(run: Callable[..., Result], call: str, code: int, words: str) -> None:
    result = run(*call.split())
    assert result.exit_code == code, result.output
    assert words in result.output


@pytest.mark.parametrize(
    "call", ["emit x.grad -b cpp -o out", "emit a.grad -b nosuch -o out", "emit w.grad --strict -b cpp -o out"]
)
def test_a_run_that_fails_writes_nothing(run: Callable[..., Result], call: str) -> None:
    assert run(*call.split()).exit_code
    assert not Path("out").exists()


# ---------------------------------------------------------------------------------------------------------------- channels


def test_findings_go_to_stderr_results_to_stdout(run: Callable[..., Result]) -> None:
    assert run("ir", "w.grad").stdout.startswith("op foo(Tensor self) -> Tensor\n  dispatch AutogradCUDA\n")
    result = run("check", "w.grad")
    assert result.stdout == "1 ops, 1 nodes: no errors\n"
    assert result.stderr.startswith("warning[GS0308]")
    assert result.stderr.endswith("\n1 warning\n")
    result = run("ir", "x.grad")
    assert result.stdout == ""
    assert result.stderr.startswith("error[GS0401]")


def test_counts(run: Callable[..., Result]) -> None:
    Path("many.grad").write_text(WRONG.replace("foo", "a") + WRONG.replace("foo", "b") + WARNED)
    assert run("check", "many.grad").stderr.endswith("\n2 errors, 1 warning\n")


def test_notes_are_only_for_check(run: Callable[..., Result]) -> None:
    assert "GS0112" in run("check", "d.yaml", "--schemas", "n.yaml").stderr
    assert run("ir", "d.yaml", "--schemas", "n.yaml").stderr == ""


def test_a_flood_is_cut(run: Callable[..., Result]) -> None:
    Path("many.grad").write_text("".join(WRONG.replace("foo", f"f{i}") for i in range(1500)))
    result = run("check", "many.grad")
    assert result.stderr.count("error[GS0401]") == 1000
    assert "... and 500 more" in result.stderr
    assert result.stderr.endswith("\n1500 errors\n")
    assert len(json.loads(run("check", "many.grad", "--format", "json").stdout)["diagnostics"]) == 1500


@pytest.mark.parametrize(("spec", "code", "codes"), [("a.grad", 0, []), ("w.grad", 0, ["GS0308"]), ("x.grad", 1, ["GS0401"])])
def test_findings_as_json(run: Callable[..., Result], spec: str, code: int, codes: list[str]) -> None:
    result = run("check", spec, "--format", "json")
    assert result.exit_code == code
    assert result.stderr == ""
    document = json.loads(result.stdout)
    assert document["format"] == 1
    assert [d["code"] for d in document["diagnostics"]] == codes


def test_ir_as_json(run: Callable[..., Result]) -> None:
    document = json.loads(run("ir", "a.grad", "--format", "json").stdout)
    assert [(n["op"], n["node"]) for n in document["nodes"]] == [("foo", "FooBackward0")]


def test_ir_of_some_ops(run: Callable[..., Result]) -> None:
    Path("many.grad").write_text("".join(GRAD.replace("foo", name) for name in ("f.a", "f.b", "g", "h")))

    def heads(*arguments: str) -> list[str]:
        lines = run("ir", "many.grad", *arguments).stdout.splitlines()
        return [line.partition("(")[0] for line in lines if line.startswith("op ")]

    assert heads() == ["op f.a", "op f.b", "op g", "op h"]
    assert heads("--op", "f") == ["op f.a", "op f.b"]
    assert heads("--op", "h", "--op", "f.b") == ["op h", "op f.b"]


def test_externs(run: Callable[..., Result]) -> None:
    Path("e.grad").write_text("op foo(Tensor self) -> Tensor { self: my_backward(mine::other(grad)); }\n")
    assert run("check", "e.grad").stderr.count("GS0402") == 2
    assert run("check", "e.grad", "--extern", "my_backward", "--extern", "mine::other").stderr == ""


def test_the_installed_torch(run: Callable[..., Result]) -> None:
    result = run("check", "--torch")
    assert result.exit_code == 0
    assert result.stdout == "808 ops, 711 nodes: no errors\n"


def test_operators_of_the_installed_torch(run: Callable[..., Result]) -> None:
    Path("t.grad").write_text("op sinc(Tensor self) -> Tensor { self: sinc_backward(grad, self); }\n")
    assert run("check", "t.grad", "--schemas", "torch").stdout == "1 ops, 1 nodes: no errors\n"
    assert run("check", "a.grad", "--schemas", "torch").exit_code == 1


# --------------------------------------------------------------------------------------------------------------- processes


def process(folder: Path, *arguments: str, **options: str) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | options
    return subprocess.run(
        [sys.executable, "-m", "gradspec", *arguments], cwd=folder, capture_output=True, timeout=60, env=environment
    )


def test_the_core_does_not_import_torch(tmp_path: Path) -> None:
    (tmp_path / "a.grad").write_text(GRAD)
    run_check = "from gradspec.cli import cli; cli(['check', 'a.grad'], standalone_mode=False)"
    code = f"import sys; {run_check}; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=60, capture_output=True)


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    (tmp_path / "a.grad").write_text("".join(GRAD.replace("foo", f"f{i}") for i in range(2000)))
    command = f"{sys.executable} -m gradspec ir a.grad | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, timeout=60)
    assert done.stdout.startswith(b"op f0(")
    assert done.stderr == b""


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8", "tr_TR.UTF-8"])
def test_a_terminal_that_knows_only_ascii(locale: str, tmp_path: Path) -> None:
    (tmp_path / "a.grad").write_text("op foo(Tensor self) -> Tensor { self: gr\u0430d; }\n")
    done = process(tmp_path, "check", "a.grad", LC_ALL=locale, PYTHONUTF8="0", PYTHONIOENCODING="ascii:backslashreplace")
    assert done.returncode == 1
    assert b"U+0430" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\x1b[31m.grad"
    Path(os.fsdecode(name)).write_text(WRONG)
    for extra in ([], ["--format", "json"]):
        done = process(tmp_path, "check", os.fsdecode(name), *extra)
        assert done.returncode == 1
        assert b"Traceback" not in done.stderr
        assert b"\x1b" not in done.stderr + done.stdout


def test_output_depends_on_nothing_but_the_input(tmp_path: Path) -> None:
    (tmp_path / "a.grad").write_text("".join(WRONG.replace("foo", n) + WARNED.replace("foo", f"{n}2") for n in "abcde"))
    seen = {process(tmp_path, "check", "a.grad", PYTHONHASHSEED=str(seed)).stderr for seed in range(4)}
    assert len(seen) == 1


def test_a_pipe_is_a_file(tmp_path: Path) -> None:
    fifo = tmp_path / "p.grad"
    os.mkfifo(fifo)
    with subprocess.Popen([sys.executable, "-c", f"open({str(fifo)!r}, 'w').write({GRAD!r})"]):
        done = process(tmp_path, "check", "p.grad")
    assert done.stdout == b"1 ops, 1 nodes: no errors\n"
