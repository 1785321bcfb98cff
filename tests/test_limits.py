"""Limits: hostile sizes end in an error, or in the right result, within seconds and in flat memory."""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gradspec.parse.spec import MAX_OP_LENGTH

# Generous, as the machine may be slow or busy; without limits these inputs take minutes and gigabytes.
CPU_SECONDS, MEGABYTES = 20, 600

NATIVE = "- func: foo(Tensor self, Tensor other) -> Tensor\n"


def op(formula: str) -> str:
    return f"op foo(Tensor self, Tensor other) -> Tensor {{\n  self: {formula};\n}}\n"


def entry(formula: str) -> str:
    return f"- name: foo(Tensor self, Tensor other) -> Tensor\n  self: {formula}\n"


def bomb() -> str:
    names = "abcdefghij"
    return 'a: &a ["x"]\n' + "".join(f"{n}: &{n} [{', '.join([f'*{m}'] * 9)}]\n" for m, n in itertools.pairwise(names))


# How the file is made, how it is called, and the codes of its first finding; "" for none.
HOSTILE: dict[str, tuple[Callable[[], str], str, str]] = {
    "10,000 nested parentheses": (lambda: op("(" * 10_000 + "grad" + ")" * 10_000), "x.grad", ""),
    "10,000 nested parentheses in YAML": (lambda: entry(f"{'(' * 10_000}grad{')' * 10_000}"), "x.yaml", ""),
    "a million open parentheses": (lambda: op("(" * 1_000_000), "x.grad", "GS0802"),
    "a million open braces": (lambda: "{" * 1_000_000, "x.grad", "GS0203"),
    "10,000 brackets": (lambda: op("[" * 10_000 + "grad" + "]" * 10_000), "x.grad", "GS0201"),
    "a formula of 1 MB": (lambda: op(" + ".join(["grad"] * 150_000)), "x.grad", "GS0802"),
    "a formula of 1 MB in YAML": (lambda: entry(" + ".join(["grad"] * 150_000)), "x.yaml", "GS0802"),
    "10,000 terms": (lambda: op(" + ".join(["grad"] * 10_000)), "x.grad", "GS0801"),
    "90,000 signs": (lambda: op("-" * 90_000 + "grad"), "x.grad", "GS0801"),
    "5,000 conditionals": (lambda: op("a?b:" * 5_000 + "c"), "x.grad", "GS0801"),
    "a number of 90,000 digits": (lambda: op("9" * 90_000), "x.grad", "GS0207"),
    "a default of 90,000 digits": (lambda: f"op foo(Tensor self, int n={'9' * 90_000}) -> Tensor {{}}", "x.grad", "GS0301"),
    "a name of 5 MB": (lambda: "a" * 5_000_000, "x.grad", "GS0203"),
    "5 MB of words": (lambda: "x " * 2_500_000, "x.grad", "GS0203"),
    "2 MB of lines": (lambda: "\n" * 2_000_000, "x.grad", "GS0111"),
    "a million quotes": (lambda: op("'" * 1_000_000), "x.grad", "GS0802"),
    "300,000 comments": (lambda: "/**/ " * 300_000 + op("grad"), "x.grad", ""),
    "a million comments that never end": (lambda: "/* " * 1_000_000, "x.grad", "GS0205"),
    "a key of 20,000 names": (lambda: f"op foo(Tensor self) -> Tensor {{ {'self, ' * 20_000}self: grad; }}", "x.grad", "GS0507"),
    "3,000 ops on one line, the last wrong": (
        lambda: "".join(f"op f{i}(Tensor self) -> Tensor {{ self: grad; }} " for i in range(3_000)) + op("("),
        "x.grad",
        "GS0206",
    ),
    "an op that is too long, and one that is not": (lambda: op("grad" + " " * MAX_OP_LENGTH) + op("grad +"), "x.grad", "GS0802"),
    "a file of 33 MB": (lambda: " " * 33_000_000, "x.grad", "GS0803"),
    "a million open lists": (lambda: "[" * 1_000_000, "x.yaml", "GS0103 GS0801"),
    "3,000 nested mappings": (lambda: "".join(f"{' ' * i}a:\n" for i in range(3_000)), "x.yaml", "GS0801"),
    "an alias bomb": (bomb, "x.yaml", "GS0107"),
    "a scalar of 8 MB": (lambda: "a" * 8_000_000, "x.yaml", "GS0105"),
    "5,000 keys": (lambda: entry("grad") + "".join(f"  k{i}: grad\n" for i in range(5_000)), "x.yaml", "GS0307"),
    "20,000 merge conflicts": (lambda: "<<<<<<< a\n" * 20_000, "x.yaml", "GS0104"),
    "3,000 ops that nobody has": (
        lambda: "".join(f"- name: fooo{i}(Tensor self) -> Tensor\n  self: grad\n" for i in range(3_000)),
        "x.yaml",
        "GS0304",
    ),
    "a folded scalar of 9,000 lines": (lambda: entry(">\n" + "    x +\n" * 9_000 + "    grad"), "x.yaml", "GS0801"),
}  # fmt: skip


def lower_limits() -> None:
    """A process that needs more memory fails with a MemoryError, one that needs more time is killed."""
    resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


@pytest.mark.parametrize(("make", "name", "codes"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_size(make: Callable[[], str], name: str, codes: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(make())
    (tmp_path / "n.yaml").write_text(NATIVE)
    command = [sys.executable, "-m", "gradspec", "check", name, *(["--schemas", "n.yaml"] if name.endswith("yaml") else [])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, preexec_fn=lower_limits)
    assert "Traceback" not in done.stderr
    assert "MemoryError" not in done.stderr
    first = done.stderr.partition("[")[2].partition("]")[0]
    assert first in (codes.split() or [""])
    assert done.returncode == (0 if codes in ("", "GS0111") else 1)


def test_messages_are_short(tmp_path: Path) -> None:
    for text in (
        "a" * 1_000_000,
        op("9" * 90_000),
        f"op foo(Tensor self, int n={'9' * 90_000}) -> Tensor {{}}",
        op("x" * 90_000),
    ):
        (tmp_path / "x.grad").write_text(text)
        command = [sys.executable, "-m", "gradspec", "check", "x.grad"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert len(done.stderr) < 2_000
