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
UNKEPT = "op foo(Tensor self, Stream s) -> Tensor { self: late(grad, s); }\n"
WRONG = "op foo(Tensor self) -> Tensor { self: grad * slef; }\n"
NOTED = "- name: foo(Tensor self) -> Tensor\n  self: grad # * 2\n"
NATIVE = "- func: foo(Tensor self) -> Tensor\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command in a folder with some specs; whatever happens, it must be an exit with a code of ours."""
    texts = {
        "a.grad": GRAD,
        "w.grad": WARNED,
        "x.grad": WRONG,
        "k.grad": f"extern late;\n{UNKEPT}",
        "empty.grad": "",
        "d.yaml": NOTED,
        "n.yaml": NATIVE,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, input: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(cli, arguments, input=input)
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
    "a right spec": ("check a.grad", 0, "1 op, 1 node: no errors"),
    "a wrong spec": ("check x.grad", 1, "GS0401"),
    "two specs of one op": ("check a.grad x.grad", 1, "a.grad:1 and x.grad:1"),
    "a warning": ("check w.grad", 0, "GS0308"),
    "a warning, strictly": ("check w.grad --strict", 1, "error: --strict takes warnings for errors\n"),
    "a file twice": ("check a.grad a.grad", 2, "error: a.grad is given twice\n"),
    "a file twice by two paths": ("check a.grad ../{here}/a.grad", 2, "are the same file: give it once"),
    "schemas twice": ("check a.grad --schemas n.yaml --schemas torch", 2, "--schemas is given 2 times"),
    "schemas of a misspelled torch": ("check a.grad --schemas tourch", 2, "`--schemas torch` means"),
    "empty schemas": ("check a.grad --schemas=", 2, "--schemas is empty"),
    "torch of a spec": ("check --torch a.grad", 2, "--torch brings its own specs"),
    "torch of stdin": ("check --torch -", 2, "--torch brings its own specs"),
    "check for a backend": ("check a.grad -b cpp -b python", 0, "1 op, 1 node: no errors for cpp, python\n"),
    "check for a backend that refuses": ("check k.grad -b cpp", 1, "GS0705"),
    "check for no backend": ("check k.grad", 0, "1 op, 1 node: no errors\n"),
    "check for an unknown backend": ("check a.grad -b nosuch", 2, "no backend `nosuch`"),
    "check with an option": ("check a.grad -b cpp -O shards=2", 0, "for cpp"),
    "check with a wrong option": ("check a.grad -b cpp -O shards=x", 2, "whole number"),
    "check with an option of nothing": ("check a.grad -O shards=2", 2, "name it with -b"),
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
    "ir by the class of a node": ("ir a.grad --op FooBackward0", 0, "node FooBackward0"),
    "ir by nearly the class of a node": ("ir a.grad --op FooBackward", 2, "did you mean `FooBackward0`"),
    "ir of an unknown op": ("ir a.grad --op fo", 2, "did you mean `foo`"),
    "ir without specs": ("ir", 2, "nothing to compile"),
    "emit without a backend": ("emit a.grad -o out", 2, "--backend"),
    "emit with an unknown backend": ("emit a.grad -b nosuch -o out", 2, "installed: "),
    "emit without a folder": ("emit a.grad -b cpp", 2, "--out"),
    "emit of a wrong spec": ("emit x.grad -b cpp -o out", 1, "GS0401"),
    "emit of no file": ("emit none.grad -b cpp -o out", 1, "GS0101"),
    "emit into a file": ("emit a.grad -b cpp -o a.grad", 2, "-o a.grad is a file: give the folder"),
    "emit into nothing": ("emit a.grad -b cpp --out=", 2, "-o is empty"),
    "a depfile of no name": ("emit a.grad -b cpp -o out --depfile=", 2, "--depfile is empty"),
    "a depfile of stdin": ("emit - -b cpp -o out --depfile d", 2, "nothing can depend on stdin"),
    "emit, strictly": ("emit w.grad --strict -b cpp -o out", 1, "for errors: nothing was emitted\n"),
    "import into a folder": ("import d.yaml --schemas n.yaml -o .", 2, "-o . is a folder"),
    "import into nothing": ("import d.yaml --schemas n.yaml --out=", 2, "-o is empty"),
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
    result = run(*call.format(here=Path.cwd().name).split())
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
    assert result.stdout == "1 op, 1 node: no errors\n"
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


def test_notes_are_only_for_check_beside_errors_too(run: Callable[..., Result]) -> None:
    Path("wrong.yaml").write_text(NOTED + "  result: auto_linea\n")
    for command, notes in (("check", 1), ("ir", 0), ("emit -b cpp -o out", 0), ("import", 0)):
        result = run(*command.split(), "wrong.yaml", "--schemas", "n.yaml")
        assert result.exit_code == 1
        assert "error[" in result.stderr
        assert result.stderr.count("GS0112") == notes, command


def test_stdin_is_a_spec(run: Callable[..., Result]) -> None:
    assert run("check", "-", input=GRAD).stdout == "1 op, 1 node: no errors\n"
    assert run("check", "-", "w.grad", input=GRAD.replace("foo", "bar")).stdout == "2 ops, 2 nodes: no errors\n"
    wrong = run("check", "-", input=WRONG)
    assert wrong.exit_code == 1
    assert " --> <stdin>.grad:1:46\n" in wrong.stderr
    assert run("check", "-", input=b"op \xff").exit_code == 1
    large = run("check", "-", input="/" * (8 * 1024 * 1024 + 1))
    assert large.exit_code == 1
    assert "GS0803" in large.stderr
    assert run("emit", "-", "-b", "cpp", "-o", "out", input=GRAD).exit_code == 0
    assert "FooBackward0" in Path("out/Functions.h").read_text()
    again = run("emit", "-", "-b", "cpp", "-o", "out", input=GRAD.replace("foo", "bar"))
    assert "up to date" not in again.output
    assert "BarBackward0" in Path("out/Functions.h").read_text()


def test_what_every_chosen_backend_refuses_is_told_at_once(run: Callable[..., Result]) -> None:
    document = json.loads(run("check", "k.grad", "-b", "cpp", "-b", "python", "--format", "json").stdout)
    assert [d["code"] for d in document["diagnostics"]] == ["GS0705", "GS0906"]
    assert sorted(p.name for p in Path().iterdir() if p.is_dir()) == []


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
    assert run("check", "t.grad", "--schemas", "torch").stdout == "1 op, 1 node: no errors\n"
    assert run("check", "a.grad", "--schemas", "torch").exit_code == 1


# ----------------------------------------------------------------------------------------------------- one folder, one emit


def test_an_emit_says_what_another_one_loses(run: Callable[..., Result]) -> None:
    Path("b.grad").write_text(GRAD.replace("foo", "bar"))

    def notes(call: str) -> list[str]:
        return [line for line in run(*call.split()).stderr.splitlines() if line.startswith("note: ")]

    gone = "which is gone: a folder holds one emit, with all its specs and backends"
    assert notes("emit a.grad -b cpp -o out") == []
    assert notes("emit a.grad -b cpp -b python -o out") == []
    assert notes("emit a.grad -b cpp -o out") == [f"note: out held what `-b python` emitted, {gone}"]
    assert notes("emit a.grad b.grad -b cpp -o out") == []
    assert notes("emit b.grad -b python -o out") == [f"note: out held what `-b cpp` emitted from a.grad, {gone}"]
    Path("b.grad").write_text(GRAD.replace("foo", "bar2"))
    assert notes("emit b.grad -b python -o out") == []
    assert notes(f"emit ../{Path.cwd().name}/b.grad -b python -o out") == []


def test_one_of_each(run: Callable[..., Result]) -> None:
    result = run("emit", "a.grad", "-b", "python", "-o", "out")
    assert result.stdout.startswith("1 op, 1 node, 1 file (1 written) in out, ")
    assert Path("out/a.py").read_text().partition("\n")[0].count("@generated") == 1
    assert run("import", "d.yaml", "--schemas", "n.yaml", "-o", "i.grad").stdout == "1 op in i.grad\n"


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
    assert done.stdout == b"1 op, 1 node: no errors\n"


def test_what_is_not_checked_is_said(run: Callable[..., Result]) -> None:
    text = GRAD.replace("grad * 2", "at::neg(grad)")
    assert "note: names of ATen were not checked" in run("check", "-", input=text).stderr
    assert "ATen" not in run("check", "a.grad").stderr
