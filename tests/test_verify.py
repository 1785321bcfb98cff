"""The verifier: each promise of the IR, broken once. What it finds is a bug of ours, so it says where."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from compiling import compile_ops

from gradspec import ir
from gradspec.load import find_torch
from gradspec.pipeline import compile_files
from gradspec.types import INT, TENSOR
from gradspec.verify import VerifyError, verify_program

TEXT = """
extern h;
op f(Tensor self, Tensor other, int n) -> (Tensor a, Tensor b) {
  output_differentiability: [True, False];
  self:  grad * other * n;
  other: grad * self * a;
  a:     self_t * other_p + self_p * other_t;
}
op g(Tensor self) -> Tensor { self: non_differentiable; }
"""


@pytest.fixture(scope="module")
def op() -> ir.Op:
    return compile_ops(TEXT)["f"]


def other_formula(op: ir.Op, formula: ir.Expr) -> ir.Op:
    first, *rest = op.derivatives
    return evolve(op, derivatives=(evolve(first, formula=formula), *rest))


def other_jvp(op: ir.Op, jvp: ir.Jvp) -> ir.Op:
    return evolve(op, jvps=(jvp,))


BROKEN: dict[str, tuple[Callable[[ir.Op], ir.Op], str]] = {
    "a node without formulas": (lambda op: evolve(op, derivatives=()), "node without formulas"),
    "formulas without a node": (lambda op: evolve(op, node=None), "formulas without a node"),
    "two saved values of one name": (lambda op: evolve(op, saved=(op.saved[0], *op.saved)), "share a name"),
    "saved values out of order": (lambda op: evolve(op, saved=op.saved[::-1]), "out of order"),
    "a gradient of no input": (lambda op: evolve(op, derivatives=(evolve(op.derivatives[0], inputs=("x",)),)), "no inputs"),
    "two formulas of one input": (lambda op: evolve(op, derivatives=(op.derivatives[0], op.derivatives[0])), "two formulas"),
    "an input read by a vjp": (lambda op: other_formula(op, ir.Input("self", TENSOR)), "reads self itself"),
    "an output read by a vjp": (lambda op: other_formula(op, ir.Output("a", TENSOR)), "reads a itself"),
    "what was not saved": (lambda op: other_formula(op, ir.Saved("self_dim", INT)), "self_dim is read and not saved"),
    "another type than saved": (lambda op: other_formula(op, ir.Saved("self", INT)), "read as int and saved as Tensor"),
    "a gradient that does not come": (lambda op: other_formula(op, ir.Cotangent(1, "grads[1]")), "there are 1 gradients"),
    "a tangent in a vjp": (lambda op: other_formula(op, ir.Tangent("self")), "tangent or primal of self"),
    "a primal value in a vjp": (lambda op: other_formula(op, ir.Primal("self")), "tangent or primal of self"),
    "a mask of one input": (lambda op: other_formula(op, ir.InputMask()), "mask in the formula of one input"),
    "an element of no list": (lambda op: other_formula(op, ir.ElementIndex()), "element index"),
    "the tangent of no output": (lambda op: other_jvp(op, evolve(op.jvps[0], outputs=("x",))), "no outputs"),
    "a saved value in a jvp": (
        lambda op: other_jvp(op, evolve(op.jvps[0], formula=ir.Saved("self", TENSOR))),
        "saved value self",
    ),
    "the tangent of no input": (lambda op: other_jvp(op, evolve(op.jvps[0], formula=ir.Tangent("x"))), "x is no input"),
    "deep inside": (
        lambda op: other_formula(op, ir.Call("h", (ir.Unary("-", ir.Braces((ir.InputMask(),))),))),
        "mask in the formula of one input",
    ),
}


@pytest.mark.parametrize(("break_", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_promise(op: ir.Op, break_: Callable[[ir.Op], ir.Op], words: str) -> None:
    with pytest.raises(VerifyError) as caught:
        verify_program(ir.Program((break_(op),)))
    message = str(caught.value)
    assert message.startswith("the IR of f (Default) is broken\nop f(")
    assert any(words in line for line in message.splitlines() if line.startswith("  ^ "))


def test_two_nodes_of_one_name(op: ir.Op) -> None:
    twin = evolve(op, schema=evolve(op.schema, name=ir.OpName("g")))
    with pytest.raises(VerifyError, match="also that of f"):
        verify_program(ir.Program((op, twin)))


def test_every_fault_of_an_op_is_marked(op: ir.Op) -> None:
    broken = evolve(other_formula(op, ir.InputMask()), saved=op.saved[::-1])
    with pytest.raises(VerifyError) as caught:
        verify_program(ir.Program((broken,)))
    assert str(caught.value).count("  ^ ") == 2


def test_what_is_whole(op: ir.Op) -> None:
    verify_program(ir.Program((op,)))
    verify_program(ir.Program(tuple(compile_ops(TEXT).values())))


def test_torchs_program_is_whole() -> None:
    torch = find_torch(None)
    verify_program(compile_files([torch.derivatives], torch.native_functions).program)
