"""The gradient checker on ops that no torch has, and on operators of a person's own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from linking import FLAGS

from gradspec.diagnostics import Diagnostics
from gradspec.gradcheck.compare import apart
from gradspec.gradcheck.places import formula_places
from gradspec.gradcheck.report import OpReport, failure_lines
from gradspec.gradcheck.run import NO_OPERATOR, check_program
from gradspec.load import find_torch, load_source
from gradspec.pipeline import compile_sources
from gradspec.source import Source

pytestmark = pytest.mark.xdist_group("gradcheck")

Run = Callable[..., Any]

COMPOSITIONS = {"vjp of vjp", "jvp of vjp", "vjp of jvp", "jvp of jvp"}

# Ops with kernels that torch's gradients do not see into, and one with a gradient in torch.
OPS = """
import numpy
import torch

print("not a part of the report")
LIBRARY = torch.library.Library("lab", "DEF")
LIBRARY.define("cube(Tensor self) -> Tensor")


@torch.library.impl(LIBRARY, "cube", "CPU")
def cube(x):
    return torch.from_numpy(numpy.asarray(x.detach().resolve_conj().numpy() ** 3))


@torch.library.custom_op("lab::quad", mutates_args=())
def quad(self: torch.Tensor) -> torch.Tensor:
    return self**4


@torch.library.custom_op("lab::quin", mutates_args=())
def quin(self: torch.Tensor) -> torch.Tensor:
    return self**5


def _backward(ctx, grad):
    return grad * 5 * (ctx.saved_tensors[0] ** 4).conj()


quin.register_autograd(_backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
"""
OWN = """library lab;
op cube(Tensor self) -> Tensor {
  self:   grad * (3 * self * self).conj();
  result: self_t * 3 * self_p * self_p;
}
op quad(Tensor self) -> Tensor {
  forward: self * self * self * self;
  self:    grad * (4 * self * self * self).conj();
  result:  self_t * 4 * self_p * self_p * self_p;
}
op quin(Tensor self) -> Tensor {
  self:   grad * (5 * self * self * self * self).conj();
  result: self_t * 5 * self_p * self_p * self_p * self_p;
}
"""


@pytest.fixture(scope="module")
def native() -> Source:
    found = load_source(find_torch(None).native_functions, Diagnostics())
    assert found is not None
    return found


@pytest.fixture(scope="module")
def reports(native: Source) -> Callable[[str], list[OpReport]]:
    """The reports of the ops of a spec of this text."""

    def made(text: str) -> list[OpReport]:
        found = list(check_program(compile_sources([Source("t.grad", text)], native).program, 0))
        for report in found:
            report.places = formula_places(report.op)
        return found

    return made


Reports = Callable[[str], list[OpReport]]


@pytest.fixture(scope="module")
def forwards(repo: Path) -> str:
    return (repo / "specs/forwards.grad").read_text(encoding="utf-8")


def test_a_spec_that_says_what_its_ops_compute_passes_without_schemas(run_gradspec: Run) -> None:
    done = run_gradspec("gradcheck", "specs/forwards.grad", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    every = COMPOSITIONS | {"vjp", "jvp", "undefined gradients", "batched", "batched tangents", "special points"}
    for op in json.loads(done.stdout)["ops"]:
        assert op["calls"] > 10
        assert op["ran"].keys() >= every
        assert not any("torch" in check for check in op["ran"])


# A formula, one that is wrong in its place, and the check, input and call that show it.
FAULTS = [
    ("grad * sharpened_slope(self, beta).conj()", "grad * sharpened_slope(self, beta)", "vjp, in self", "complex128"),
    ("grad * sharpened_slope(self, beta).conj()", "1.001 * grad * sharpened_slope(self, beta).conj()", "vjp, in self", ""),
    ("self_t * sharpened_slope(self_p, beta)", "self_t * sharpened_slope(self_p, beta).detach()", "jvp of jvp", ""),
    ("grad * b;", "grad * (b + a - a.detach());", "vjp of vjp, in a", "float64"),
    ("grad * a;", "grad * b;", "vjp, in b", "float64"),
    # Where one is as large as the other this is right.
    ("grad * b;", "(grad * b).reshape_symint(a.sym_sizes());", "vjp, in a", "float64"),
    ("a_t * b_p + a_p * b_t", "a_t * b_p", "jvp, in b", "float64"),
]


@pytest.mark.parametrize(("right", "wrong", "check", "dtype"), FAULTS)
def test_a_fault_in_a_copy_is_caught_with_the_line_of_its_formula(
    reports: Reports, forwards: str, right: str, wrong: str, check: str, dtype: str
) -> None:
    assert forwards.count(right) == 1
    line = forwards[: forwards.index(right)].count("\n") + 1
    lines = [text for report in reports(forwards.replace(right, wrong)) for text in failure_lines(report)]
    found = [(a, b) for a, b in zip(lines[::2], lines[1::2], strict=True) if f"(t.grad:{line}): {check}" in a]
    assert found, lines
    assert dtype in found[0][1]


def test_without_either_it_is_skipped_and_the_reason_says_what_to_do(reports: Reports) -> None:
    (found,) = reports("library lab;\nop twice(Tensor self) -> Tensor { self: grad * 2; }\n")
    assert found.skipped == NO_OPERATOR


QUARTIC = """library lab;
op quartic(Tensor self) -> Tensor {{
  forward: self * self * self * self;
  self:    {};
  result:  {};
}}
"""


def test_a_division_by_zero_is_found_by_differences(reports: Reports) -> None:
    (found,) = reports(QUARTIC.format("grad * (4 * result / self).conj()", "self_t * 4 * result / self_p"))
    assert list(failure_lines(found)) == [
        "lab::quartic (t.grad:4): special points, in self: NaN where the input is 0.0, and differences are finite",
        "    at float64[] 0.0",
        "lab::quartic (t.grad:5): special points, tangent, in self: NaN, and differences are finite",
        "    at float64[] 0.0",
    ]


def test_a_number_that_is_wrong_at_a_special_point_alone_is_found(reports: Reports) -> None:
    wrong = "grad * at::where(self == 1, 5, 4 * self * self * self).conj()"
    (found,) = reports(QUARTIC.format(wrong, "self_t * 4 * self_p * self_p * self_p"))
    assert found.found["special points"].outcome.error > 1e-2
    assert found.found["special points"].call == "float64[] 1.0"
    assert "vjp" not in found.found


# What has a kink, a jump or a derivative without bound at a special point, and is right.
RIGHT = [
    ("self.abs()", "grad * self.sgn()"),
    ("at::where(self > 0, self, self * 3)", "at::where(self > 0, grad, grad * 3)"),
    ("self.sign()", "grad * 0"),
    ("self.sqrt()", "grad / (2 * result.conj())"),
    ("self.abs().sqrt()", "grad * self.sgn() / (2 * result)"),
    ("self.log()", "grad / self.conj()"),
    ("self.reciprocal()", "-grad * (result * result).conj()"),
]


@pytest.mark.parametrize(("forward", "formula"), RIGHT)
def test_a_right_formula_passes_where_its_function_has_a_kink(reports: Reports, forward: str, formula: str) -> None:
    (found,) = reports(f"library lab;\nop f(Tensor self) -> Tensor {{ forward: {forward}; self: {formula}; }}\n")
    assert found.passed, list(failure_lines(found))
    assert found.ran["vjp"] > 4


def test_a_gradient_that_is_nan_is_reported_as_one_where_torch_has_the_op(reports: Reports) -> None:
    (found,) = reports("op square(Tensor self) -> Tensor { self: grad * (2 * result / self).conj(); }\n")
    lines = list(failure_lines(found))
    assert any("torch at special points, in self: NaN, not 0" in line for line in lines), lines
    assert any(line.startswith("    at float64") and "0.0" in line for line in lines)
    assert not any("error inf" in line for line in lines)


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("mine", "theirs", "said"),
    [
        (NAN, 1.0, "NaN, not 1"),
        (1.0, NAN, "1, not NaN"),
        (INF, 1.0, "infinite, not 1"),
        (1.0, INF, "1, not infinite"),
        (INF, -INF, "infinite, not -infinite"),
        (complex(INF, 0), complex(1, 2), "infinite, not 1+2j"),
        (NAN, NAN, ""),
        (INF, INF, ""),
        (complex(INF, NAN), complex(NAN, NAN), ""),
    ],
)
def test_what_is_no_number_is_told_in_words(mine: Any, theirs: Any, said: str) -> None:
    dtype = torch.complex128 if isinstance(mine, complex) else torch.float64
    gap = apart((torch.tensor([0, mine], dtype=dtype),), (torch.tensor([0, theirs], dtype=dtype),))
    assert getattr(gap, "why", "") == said
    assert (gap == INF) is bool(said)


def test_what_a_spec_says_is_compared_with_the_operator_that_torch_has(reports: Reports) -> None:
    spec = "op exp(Tensor self) -> Tensor {{\n  forward: self.exp(){};\n  self: grad * result.conj();\n}}\n"
    right, *_ = reports(spec.format(""))
    assert right.passed, list(failure_lines(right))
    assert {"forward", "torch", "vjp"} <= right.ran.keys()
    wrong, *_ = reports(spec.format(" + 1"))
    assert next(failure_lines(wrong)).startswith("exp (t.grad:2): forward: error")


@pytest.fixture
def own(run_gradspec: Run, tmp_path: Path) -> Run:
    """Check a spec of ops that are defined in ops.py."""
    (tmp_path / "ops.py").write_text(OPS, encoding="utf-8")

    def run(text: str, load: str = "ops.py") -> Any:
        (tmp_path / "own.grad").write_text(text, encoding="utf-8")
        return run_gradspec("gradcheck", "own.grad", "--load", load, "--format", "json", cwd=tmp_path)

    return run


@pytest.mark.parametrize("load", ["ops.py", "ops"])
def test_operators_without_a_gradient_in_torch_are_checked_by_differences(own: Run, load: str) -> None:
    done = own(OWN, load)
    assert done.returncode == 0, done.stdout + done.stderr
    cube, quad, quin = json.loads(done.stdout)["ops"]
    assert all(op["ran"].keys() >= {"vjp", "jvp", "special points"} | COMPOSITIONS for op in (cube, quad))
    assert not any("torch" in check for op in (cube, quad) for check in op["ran"])
    assert "forward" in quad["ran"]
    assert {"torch", "torch at special points"} <= quin["ran"].keys()


def test_faults_in_them_are_caught(own: Run) -> None:
    wrong = OWN.replace("3 * self * self", "2 * self * self").replace("self * self * self;\n", "self * self * self + 1;\n", 1)
    done = own(wrong.replace("(5 * self * self", "(4 * self * self"))
    assert done.returncode == 1
    cube, quad, quin = json.loads(done.stdout)["ops"]
    failed = [{f["check"]: f["place"]["line"] for f in op["failures"]} for op in (cube, quad, quin)]
    assert failed[0]["vjp"] == 3
    assert failed[1]["forward"] == 7
    assert failed[2]["torch"] == 12


# One kernel that torch's gradients do not see into, and an operator that is composed of others.
KERNELS = """
#include <ATen/ATen.h>
#include <torch/library.h>
static at::Tensor cube(const at::Tensor& self) { return self * self * self; }
static at::Tensor quin(const at::Tensor& self) { return self * self * self * self * self; }
TORCH_LIBRARY(lab, m) {
  m.def("cube(Tensor self) -> Tensor");
  m.def("quin(Tensor self) -> Tensor", quin);
}
TORCH_LIBRARY_IMPL(lab, CPU, m) { m.impl("cube", cube); }
"""


def test_a_shared_library_is_loaded(own: Run, tmp_path: Path) -> None:
    root = Path(torch.__file__).parent
    (tmp_path / "lab.cpp").write_text(KERNELS, encoding="utf-8")
    flags = [*FLAGS, f"-isystem{root / 'include'}", f"-isystem{root / 'include/torch/csrc/api/include'}"]
    links = [f"-L{root / 'lib'}", "-ltorch_cpu", "-lc10"]
    subprocess.run(["g++", *flags, "-shared", "lab.cpp", "-o", "liblab.so", *links], cwd=tmp_path, check=True)
    done = own(OWN, "liblab.so")
    assert done.returncode == 0, done.stdout + done.stderr
    cube, quad, quin = json.loads(done.stdout)["ops"]
    assert {"vjp", "jvp", "special points"} <= cube["ran"].keys()
    assert {"torch", "torch's tangent", "torch at special points"} <= quin["ran"].keys()
    assert quad["passed"]


@pytest.mark.parametrize(
    ("load", "text", "said"),
    [
        ("nosuch.so", None, "there is no file and no module nosuch.so"),
        ("no/such.so", None, "there is no file no/such.so"),
        ("", None, "the path is empty"),
        (".", None, ". is a folder, and no Python package"),
        ("broken.so", "no library", "broken.so cannot be loaded: OSError: "),
        ("broken.py", "1 / 0\n", "broken.py cannot be loaded: ZeroDivisionError: division by zero"),
        ("broken.py", "raise SystemExit('enough\\nof it')\n", "broken.py cannot be loaded: SystemExit: enough"),
        ("broken", "import nosuch_module\n", "broken cannot be loaded: ModuleNotFoundError: No module named 'nosuch_module'"),
    ],
)
def test_what_cannot_be_loaded_is_one_line(own: Run, tmp_path: Path, load: str, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / (load if "." in load else f"{load}.py")).write_text(text, encoding="utf-8")
    done = own(OWN, load)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: --load: {said}")
    assert done.stderr.count("\n") == 1
