"""Forward mode: what auto_linear and auto_element_wise stand for, and which tangents and primals a formula reads."""

from __future__ import annotations

import pytest
from compiling import compile_op, compile_ops

from gradspec.ir import Jvp
from gradspec.printer import print_expr


def jvp(schema: str, rules: str) -> Jvp:
    """The only jvp of an op."""
    (found,) = compile_op(f"extern h; op {schema} {{ {rules} }}").jvps
    return found


LINEAR = {
    "one input": ("f(Tensor self) -> Tensor", "self: grad;", "at::f(self_t)"),
    "other arguments": ("f(Tensor self, int n, *, bool b=False) -> Tensor", "self: grad;", "at::f(self_t, n, b)"),
    "two inputs": ("f(Tensor self, Tensor other) -> Tensor", "self: grad; other: grad;", "at::f(self_t, other_t)"),
    "one of two inputs": ("f(Tensor self, Tensor other) -> Tensor", "self: grad;", "at::f(self_t, other)"),
    "symbolic ints": ("f(Tensor self, SymInt[] s) -> Tensor", "self: grad;", "at::f_symint(self_t, s)"),
    "an optional symbolic int": ("f(Tensor self, SymInt? s) -> Tensor", "self: grad;", "at::f_symint(self_t, s)"),
    "an overload": ("f.x(Tensor self) -> Tensor", "self: grad;", "at::f(self_t)"),
    "a library": ("mine::f(Tensor self) -> Tensor", "self: grad;", "mine::f(self_t)"),
    "options": (
        "f(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "self: grad;",
        "at::f(self_t, options)",
    ),
    "some options": ("f(Tensor self, *, ScalarType? dtype=None) -> Tensor", "self: grad;", "at::f(self_t, dtype)"),
}


@pytest.mark.parametrize(("schema", "vjps", "formula"), LINEAR.values(), ids=LINEAR)
def test_auto_linear(schema: str, vjps: str, formula: str) -> None:
    found = jvp(schema, f"{vjps} result: auto_linear;")
    assert print_expr(found.formula) == formula
    assert found.auto == "linear"
    assert found.primals == ()


def test_auto_linear_of_an_op_that_is_only_a_method() -> None:
    entry = "- name: f(Tensor self, Tensor other) -> Tensor\n  self: grad\n  other: grad\n  result: auto_linear\n"
    ops = compile_ops(entry, "- func: f(Tensor self, Tensor other) -> Tensor\n  variants: method\n")
    assert print_expr(ops["f"].jvps[0].formula) == "self_t.f(other_t)"


ELEMENT_WISE = {
    "a factor": ("self: grad * 2;", "(self_t.conj() * 2).conj()", ()),
    "a value": ("self: grad * self.cos().conj();", "(self_t.conj() * self_p.cos().conj()).conj()", ("self",)),
    "the result": ("self: grad * result;", "(self_t.conj() * result).conj()", ()),
    "zeros": ("self: zeros_like(grad);", "zeros_like(self_t.conj()).conj()", ()),
    "a helper": ("self: h(grad, self, n);", "h(self_t.conj(), self_p, n).conj()", ("self",)),
}


@pytest.mark.parametrize(("vjp", "formula", "primals"), ELEMENT_WISE.values(), ids=ELEMENT_WISE)
def test_auto_element_wise(vjp: str, formula: str, primals: tuple[str, ...]) -> None:
    found = jvp("f(Tensor self, int n) -> Tensor", f"{vjp} result: auto_element_wise;")
    assert print_expr(found.formula) == formula
    assert (found.tangents, found.primals, found.auto) == (("self",), primals, "element_wise")


def test_auto_element_wise_has_a_tangent_even_if_it_reads_none() -> None:
    found = jvp("f(Tensor self) -> Tensor", "self: zeros_like(self); result: auto_element_wise;")
    assert found.tangents == ("self",)


def test_tangents_and_primals_come_in_schema_order() -> None:
    found = jvp("f(Tensor c, Tensor a, Tensor b) -> Tensor", "a: grad; b: grad; c: grad; result: h(b_t, b_p, a_p, c_t, a_t);")
    assert (found.tangents, found.primals) == (("c", "a", "b"), ("a", "b"))


def test_each_output_has_its_formula() -> None:
    op = compile_op("op f(Tensor self) -> (Tensor a, Tensor b) { self: grad_a; a: self_t; b: self_t * self_p; }")
    assert [(j.outputs, print_expr(j.formula)) for j in op.jvps] == [(("a",), "self_t"), (("b",), "self_t * self_p")]


def test_one_formula_for_several_outputs() -> None:
    op = compile_op("extern h; op f(Tensor self) -> (Tensor a, Tensor b) { self: grad_a; a, b: h(self_t); }")
    assert [j.outputs for j in op.jvps] == [("a", "b")]


def test_an_in_place_op_has_original_values() -> None:
    op = compile_op(
        "op f_(Tensor(a!) self) -> Tensor(a!) { self: grad * 2; result: self_t * original_self_p * original_self_t * self_p; }"
    )
    (found,) = op.jvps
    assert print_expr(found.formula) == "self_t * original_self_p * original_self_t * self_p"
    assert found.primals == ("self",)


def test_inputs_without_a_gradient_are_read_by_name() -> None:
    found = jvp("f(Tensor self, Tensor mask, int n) -> Tensor", "self: grad; result: h(self_t, mask, n);")
    assert print_expr(found.formula) == "h(self_t, mask, n)"


def test_lists_carry_their_tangents_along() -> None:
    found = jvp("f(Tensor[] ts, int n) -> Tensor", "ts: h(grad, n); result: h(ts, n);")
    assert (found.tangents, found.primals) == ((), ())


def test_outputs_are_read_by_name() -> None:
    assert print_expr(jvp("f(Tensor self) -> Tensor", "self: grad; result: self_t * result;").formula) == "self_t * result"
