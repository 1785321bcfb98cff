"""The gradient checker: right formulas pass, wrong ones are caught, and the reports say where."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from gradspec.diagnostics import Diagnostics
from gradspec.gradcheck import known as known_list
from gradspec.gradcheck.calls import make_call
from gradspec.gradcheck.numeric import adjoint_error, jvp_error, vjp_error
from gradspec.gradcheck.one import Checked, check_one
from gradspec.gradcheck.report import OpReport, failure_lines, summary_rows
from gradspec.gradcheck.run import check_program
from gradspec.load import find_torch, load_source
from gradspec.pipeline import compile_sources
from gradspec.source import Source

# What is recorded of torch's samples is kept in the process.
pytestmark = pytest.mark.xdist_group("gradcheck")

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


@pytest.fixture(scope="module")
def native() -> Source:
    found = load_source(find_torch(None).native_functions, Diagnostics())
    assert found is not None
    return found


@pytest.fixture(scope="module")
def report(native: Source) -> Callable[..., OpReport]:
    """The report of the first op of a spec of this text."""

    def made(text: str, limit: float = 60.0) -> OpReport:
        program = compile_sources([Source("t.grad", text)], native, helpers="prelude").program
        (found,) = check_program(program.of(program.ops[:1]), 0, limit)
        return found

    return made


Report = Callable[..., OpReport]

COMPOSITIONS = {"vjp of vjp", "jvp of vjp", "vjp of jvp", "jvp of jvp"}
EXP = "op exp(Tensor self) -> Tensor {{ self: grad * result.conj(); result: {}; }}"


def test_second_order_is_checked_in_all_four_compositions(report: Report) -> None:
    found = report(EXP.format("self_t * result"))
    assert found.passed, list(failure_lines(found))
    assert found.ran.keys() >= COMPOSITIONS
    assert all(found.ran[c] == found.calls for c in COMPOSITIONS)


def test_a_tangent_that_is_no_function_of_the_values_shows_in_second_order_alone(report: Report) -> None:
    found = report(EXP.format("self_t * result.detach()"))
    assert set(found.found) == {"vjp of jvp", "jvp of jvp"}


IN_PLACE = "op sin_(Tensor(a!) self) -> Tensor(a!) {{ self: {}; }}"


def test_an_op_that_overwrites_its_argument_is_checked_on_a_copy(report: Report) -> None:
    found = report(IN_PLACE.format("grad * self.cos().conj()"))
    assert found.calls > 2
    assert {"vjp", "torch", "batched"} <= found.ran.keys() - found.found.keys()
    wrong = report(IN_PLACE.format("grad * self.sin().conj()"))
    assert {"vjp", "torch"} <= wrong.found.keys()


def test_a_formula_is_compared_with_the_op_that_writes_in_place_as_well(report: Report) -> None:
    found = report(RIGHT)
    assert found.ran["in place"] > 2
    assert "in place" in report(WRONG).found


def test_a_failure_names_the_input_and_the_line_of_its_formula(check: Run) -> None:
    done = check(WRONG, "--op", "mul.Tensor")
    assert "t.grad:3): vjp, in other: error" in done.stdout
    assert "in self" not in done.stdout


def test_a_call_that_hangs_is_ended_and_named(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: Any) -> Iterator[Checked]:
        time.sleep(60)
        yield from ()

    monkeypatch.setattr("gradspec.gradcheck.run.check_one", hang)
    start = time.monotonic()
    found = report(RIGHT, 0.5)
    assert time.monotonic() - start < 30
    assert "stopped after 0.5 s" in found.skipped
    assert "stopped after 0.5 s" in summary_rows([found])[0]


def test_a_process_that_ends_is_a_failure_and_the_other_calls_are_checked(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall(op: Any, subject: Any, call: Any, index: int, seed: int) -> Iterator[Checked]:
        for i, checked in enumerate(check_one(op, subject, call, index, seed)):
            if index == 1 and i == 2:
                os._exit(5)
            yield checked

    monkeypatch.setattr("gradspec.gradcheck.run.check_one", fall)
    found = report(RIGHT)
    assert [f.outcome.reason for f in found.failures] == ["the process ended (exit code 5)"]
    assert found.ran["torch"] == found.calls - 1


def test_a_kernel_that_ends_the_process_by_itself_is_a_note(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    def fall(op: Any, subject: Any, call: Any, index: int, seed: int) -> Iterator[Checked]:
        if index == 1:
            os._exit(5)
        yield from check_one(op, subject, call, index, seed)

    monkeypatch.setattr("gradspec.gradcheck.run.check_one", fall)
    found = report(RIGHT)
    assert found.passed
    assert "ended the process (exit code 5)" in found.notes[0]


def test_what_is_known_excuses_nothing_that_torch_passes(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = {("mul.Tensor", check): "a reason" for check in ("vjp", "torch", "in place", "vjp of vjp", "jvp of vjp")}
    monkeypatch.setattr("gradspec.gradcheck.run.known_faults", lambda: everything)
    assert not report(WRONG).passed


@pytest.mark.parametrize("text", ['[[known]]\nops = ["a"]\nchecks = ["vjp"]\n', "[[known]]\nreason = ' '\nops = []\n"])
def test_an_entry_without_a_reason_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "known.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(known_list, "LIST", tmp_path / "known.toml")
    with pytest.raises(ValueError, match="no reason"):
        known_list.known_faults()


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


def test_the_page_shows_what_a_run_says(run_gradspec: Run, repo: Path, tmp_path: Path) -> None:
    page = (repo / "docs/gradcheck.md").read_text(encoding="utf-8")
    specs, shown = ([part.partition("```")[0] for part in page.split(f"```{kind}\n")[1:]] for kind in ("grad", "text"))
    assert len(specs) == len(shown) == 2
    for name, op, spec, text in zip(("mul", "fourth_power"), ("mul.Tensor", "lab::fourth_power"), specs, shown, strict=True):
        (tmp_path / f"{name}.grad").write_text(spec, encoding="utf-8")
        assert run_gradspec("gradcheck", f"{name}.grad", "--op", op, cwd=tmp_path).stdout == text


def test_an_op_that_torch_has_not_is_skipped(check: Run) -> None:
    done = check(OWN)
    assert done.returncode == 0
    assert "skipped: torch has no such op: load the library that has it (--load), or say what it computes: `forward: ...;`" in (
        done.stdout
    )


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
