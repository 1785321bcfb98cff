"""The gradient checker: right formulas pass, wrong ones are caught, and the reports say where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gradspec.gradcheck.numeric import adjoint_error, jvp_error, vjp_error
from gradspec.gradcheck.calls import make_call

RIGHT = "op mul.Tensor(Tensor self, Tensor other) -> Tensor {\n  self:  grad * other.conj();\n  other: grad * self.conj();\n}\n"
WRONG = RIGHT.replace("self.conj()", "self")
OWN = "library lab;\nop twice(Tensor self) -> Tensor { self: grad * 2; }\n"

Run = Callable[..., Any]


@pytest.fixture
def check(run_gradspec: Run, tmp_path: Path) -> Run:
    """Check a spec of this text."""

    def run(text: str, *options: str) -> Any:
        spec = tmp_path / "t.grad"
        spec.write_text(text)
        return run_gradspec("gradcheck", spec, "--schemas", "torch", *options)

    return run


def test_a_right_formula_passes(check: Run) -> None:
    done = check(RIGHT, "--op", "mul.Tensor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 op checked, 0 wrong, 0 skipped" in done.stdout


def test_a_wrong_formula_is_caught_with_its_place_and_its_input(check: Run) -> None:
    done = check(WRONG, "--op", "mul.Tensor", "--format", "json")
    assert done.returncode == 1
    (report,) = json.loads(done.stdout)["ops"]
    assert not report["passed"]
    assert report["place"]["line"] == 1
    assert {f["check"] for f in report["failures"]} >= {"vjp", "torch"}
    assert all("complex128" in f["input"] for f in report["failures"])


def test_an_op_that_torch_has_not_is_skipped(check: Run) -> None:
    done = check(OWN)
    assert done.returncode == 0
    assert "skipped: torch has no such operator" in done.stdout


def test_an_unknown_op_is_a_wrong_call(check: Run) -> None:
    assert check(RIGHT, "--op", "nosuch").returncode == 2


class Square(torch.autograd.Function):  # type: ignore[misc]
    """x * x, with a gradient that is off by a factor."""

    generate_vmap_rule = True
    FACTOR = 2.0

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return grad * Square.FACTOR * x

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return tangent * 2 * x


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(("factor", "right"), [(2.0, True), (2.001, False)])
def test_differences_show_a_small_factor(monkeypatch: pytest.MonkeyPatch, factor: float, right: bool) -> None:
    monkeypatch.setattr(Square, "FACTOR", factor)
    at = (torch.linspace(1, 2, 5, dtype=torch.float64),)

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (Square.apply(x),)

    assert (vjp_error(function, at, 0) < 1e-6) is right
    assert (adjoint_error(function, at, 0) < 1e-6) is right
    assert jvp_error(function, at, 0) < 1e-6


def test_a_call_moves_only_what_can_be_moved() -> None:
    call = make_call((torch.ones(2), torch.tensor([1, 2]), 3), {"other": [torch.zeros(1)]})
    assert [t.shape[0] for t in call.tensors] == [2, 1]
    args, kwargs = call.with_tensors((torch.full((2,), 5.0), torch.full((1,), 6.0)))
    assert args[0].tolist() == [5.0, 5.0]
    assert kwargs["other"][0].tolist() == [6.0]
