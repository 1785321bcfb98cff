"""Mistakes that people make in derivative formulas, each found where it stands; and that right specs are left in peace."""

from __future__ import annotations

import pytest
from compiling import diagnose, findings, place

from gradspec.diagnostics import Diagnostic, SpecError
from gradspec.load import find_torch
from gradspec.pipeline import compile_files, compile_sources
from gradspec.source import Source

SCHEMA = "foo(Tensor self, Tensor other) -> Tensor"
OPTIONAL = "f(Tensor self, Tensor? w) -> Tensor"
INPLACE = "f_(Tensor(a!) self) -> Tensor(a!)"
TWO = "two(Tensor self) -> (Tensor a, Tensor b)"


def grad_file(rules: str, schema: str = SCHEMA) -> str:
    """One op in the .grad language, a rule a line from line 2 on."""
    return f"extern h;\nop {schema} {{\n{rules}\n}}\n"


# What is wrong: the op's schema, its rules, and the finding. Rules begin in line 3.
PLANTED = {
    # names
    "an argument misspelt": (SCHEMA, "self: grad * othr;", ["GS0401 3:14"]),
    "a member without its call": (SCHEMA, "self: grad * self_;", ["GS0401 3:14"]),
    "the gradient misspelt": (SCHEMA, "self: gard * other;", ["GS0401 3:7"]),
    "Python's True": (SCHEMA, "self: h(grad, True);", ["GS0401 3:15"]),
    "C++'s this": (SCHEMA, "self: h(grad, this);", ["GS0401 3:15"]),
    "a constant misspelt": (SCHEMA, "self: grad * M_PIE;", ["GS0401 3:14"]),
    "a namespace misspelt": (SCHEMA, "self: h(grad, aten::kLong);", ["GS0401 3:15"]),
    "the wrong result": (TWO, "self: grad_a * result;", ["GS0401 3:16"]),
    "a numbered result of one output": (SCHEMA, "self: grad * result0;", ["GS0401 3:14"]),
    "a gradient of no output": (TWO, "self: grad_c;", ["GS0401 3:7"]),
    "a gradient of an output without a name": (SCHEMA, "self: grad_result;", ["GS0401 3:7"]),
    "an element index outside of foreach": (SCHEMA, "self: grad * i;", ["GS0401 3:14"]),
    "a lambda's parameter outside of it": (SCHEMA, "self: h([](T x) { return x; }, x);", ["GS0401 3:32"]),
    "a name in a lambda": (SCHEMA, "self: h(grad, [](T x) { return y; });", ["GS0401 3:32"]),
    "a special value inside of a formula": (SCHEMA, "self: grad * non_differentiable;", ["GS0401 3:14"]),
    "a helper misspelt": (SCHEMA, "self: pow_backwrd(grad, self, 2);", ["GS0402 3:7"]),
    "a function of an unknown namespace": (SCHEMA, "self: aten::neg(grad);", ["GS0402 3:7"]),
    "a tangent in a backward formula": (SCHEMA, "self: grad * other_t;", ["GS0403 3:14"]),
    "a primal value in a backward formula": (SCHEMA, "self: grad * other_p;", ["GS0403 3:14"]),
    "a gradient in a forward formula": (SCHEMA, "self: grad;\nresult: grad * self_p;", ["GS0403 4:9"]),
    "a mask in a forward formula": (SCHEMA, "self: grad;\nresult: h(self_t, grad_input_mask);", ["GS0403 4:19"]),
    "retain_variables in a forward formula": (SCHEMA, "self: grad;\nresult: h(self_t, retain_variables);", ["GS0403 4:19"]),
    "a gradient in a condition": (SCHEMA, "output_differentiability: grad.defined();\nself: grad;", ["GS0403 3:27"]),
    "an output in a condition": (SCHEMA, "output_differentiability: result.defined();\nself: grad;", ["GS0403 3:27"]),
    "a bare input in a forward formula": (SCHEMA, "self: grad * 2;\nresult: self * 2;", ["GS0404 4:9"]),
    "the tangent of an input without gradient": (SCHEMA, "self: grad;\nresult: self_t * other_t;", ["GS0401 4:18"]),
    "the tangent of a number": ("f(Tensor self, int n) -> Tensor", "self: grad * n;\nresult: self_t * n_t;", ["GS0401 4:18"]),
    "the original of an op that overwrites nothing": (SCHEMA, "self: grad;\nresult: original_self_t;", ["GS0401 4:9"]),
    "an old primal value in a backward formula": (INPLACE, "self: grad * original_self_p;", ["GS0403 3:14"]),
    # shapes and what is saved
    "sizes()": (SCHEMA, "self: grad.expand(self.sizes());", ["GS0405 3:24"]),
    "sizes() of a result": (SCHEMA, "self: grad.expand(result.sizes());", ["GS0405 3:26"]),
    "sizes() through an arrow": ("f(Tensor self, Tensor? w) -> Tensor", "self: h(grad, w->sizes());", ["GS0405 3:18"]),
    "size(i)": (SCHEMA, "self: grad.narrow(0, 0, other.size(-1));", ["GS0405 3:31"]),
    "size of a computed dimension": (SCHEMA, "self: h(grad, self.size(other.dim()));", ["GS0405 3:20"]),
    "strides()": (SCHEMA, "self: h(grad, self.strides());", ["GS0405 3:20"]),
    "a whole tensor for its device": (SCHEMA, "self: grad.to(other.device());", ["GS0406 3:15"]),
    "a whole tensor for its dtype": (SCHEMA, "self: grad.to(other.dtype());", ["GS0406 3:15"]),
    "sizes of a tensor that may be absent": (OPTIONAL, "self: h(grad, w.sym_sizes());", ["GS0407 3:15"]),
    "dim of a tensor that may be absent": (OPTIONAL, "self: h(grad, w.dim());", ["GS0407 3:15"]),
    "has_value() of a tensor": (OPTIONAL, "self: w.has_value() ? grad : h(grad);", ["GS0901 3:9"]),
    "value_or() of a tensor": (OPTIONAL, "self: grad * w.value_or(self);", ["GS0901 3:16"]),
    "value() of a tensor": (OPTIONAL, "self: grad * w.value();", ["GS0901 3:16"]),
    "a tensor that may be absent, dereferenced": (OPTIONAL, "self: w.defined() ? grad * *w : grad;", ["GS0904 3:28"]),
    "an arrow to what is not saved": (OPTIONAL, "self: grad * w->sum();", ["GS0901 3:17"]),
    "an arrow to defined()": (OPTIONAL, "self: w->defined() ? grad : h(grad);", ["GS0901 3:10"]),
    "strides of another tensor": (SCHEMA, "self: h(grad, other.sym_strides());", ["GS0702 3:15"]),
    "strides in a joint formula": (SCHEMA, "self, other: h(grad, self.sym_strides());", ["GS0702 3:22"]),
    "an overwritten input": ("f_(Tensor(a!) self) -> Tensor(a!)", "self: grad * self;", ["GS0704 2:4"]),
    # gradients
    "an index too large": (SCHEMA, "self: h(grads[1], grads[0]);", ["GS0501 3:9"]),
    "an index below zero": (TWO, "self: h(grads[-1], grads[0]);", ["GS0501 3:15"]),
    "an index that is no whole number": (TWO, "self: h(grads[1.0], grads[0]);", ["GS0501 3:15"]),
    "an index in octal": (TWO, "self: h(grads[01], grads[0]);", ["GS0501 3:15"]),
    "an index computed": (TWO, "self: h(grads[1 - 1], grads[0]);", ["GS0501 3:15"]),
    "grad and grads": (TWO, "self: h(grad, grads[1]);", ["GS0502 3:15"]),
    "grad and grad_NAME": (TWO, "self: h(grad, grad_b);", ["GS0502 3:15"]),
    "grads and grad_NAME": (TWO, "self: h(grads, grad_b);", ["GS0502 3:16"]),
    "grad in one formula, grads in another": (
        "f(Tensor x, Tensor y) -> (Tensor a, Tensor b)",
        "x: grad * y;\ny: grads[1] * x;",
        ["GS0502 4:4"],
    ),
    "grads[0] alone": (TWO, "self: grads[0] * 2;", ["GS0503 3:7"]),
    "grads[0] alone, of one output": (SCHEMA, "self: grads[0] * other;", ["GS0503 3:7"]),
    "an index of an output without gradient": (
        TWO,
        "output_differentiability: [True, False];\nself: h(grads[0], grads[1]);",
        ["GS0504 4:19"],
    ),
    "the named gradient of an output without one": (
        TWO,
        "output_differentiability: [True, False];\nself: grad_a + grad_b;",
        ["GS0504 4:16"],
    ),
    "the gradient of a number": ("f(Tensor self) -> int", "self: grad;", ["GS0504 3:7"]),
    "the gradient of nothing": ("f(Tensor self) -> ()", "self: grad;", ["GS0504 3:7"]),
    "a gradient for an int": ("f(Tensor self, int k) -> Tensor", "self: grad;\nk: grad.sum();", ["GS0505 4:1"]),
    "a gradient for a Scalar": ("f(Tensor self, Scalar k) -> Tensor", "self: grad;\nk: grad.sum();", ["GS0505 4:1"]),
    "a gradient for a list of ints": ("f(Tensor self, int[] k) -> Tensor", "self, k: h(grad);", ["GS0505 3:7"]),
    "a tangent for an int": ("f(Tensor self) -> (Tensor a, int n)", "self: grad;\nn: self_t;", ["GS0505 4:1"]),
    "a tangent for an output without gradient": (
        TWO,
        "output_differentiability: [True, False];\nself: grad;\nb: self_t;",
        ["GS0505 5:1"],
    ),
    "two formulas for one input": (SCHEMA, "self: grad * other;\nself: grad;", ["GS0506 4:1"]),
    "an input in two keys": (SCHEMA, "self: grad * other;\nself, other: h(grad);", ["GS0506 4:1"]),
    "a formula and non_differentiable": (SCHEMA, "self: grad;\nother: non_differentiable;\nother: grad;", ["GS0506 5:1"]),
    "an input twice in a key": (SCHEMA, "self, self: h(grad);", ["GS0507 3:7"]),
    "a mask too short": (SCHEMA, "self, other: h(grad, grad_input_mask[2]);", ["GS0508 3:38"]),
    "a mask's index below zero": (SCHEMA, "self, other: h(grad, grad_input_mask[-1]);", ["GS0508 3:38"]),
    "a mask of one input": (SCHEMA, "self: h(grad, grad_input_mask);", ["GS0509 3:15"]),
    "one gradient for two inputs": (SCHEMA, "self, other: grad * 2;", ["GS0510 3:14"]),
    "three gradients for two inputs": (SCHEMA, "self, other: std::tuple<Tensor, Tensor, Tensor>();", ["GS0510 3:14"]),
    "two gradients for one input": (SCHEMA, "self: std::make_tuple(grad, grad);", ["GS0510 3:7"]),
    "a list of two gradients for one input": (SCHEMA, "self: {grad, grad};", ["GS0510 3:7"]),
    "one branch with too few gradients": (
        SCHEMA,
        "self, other: grad.defined() ? h(grad) : std::tuple<Tensor>();",
        ["GS0510 3:14"],
    ),
    "one tensor for a list": ("f(Tensor[] ts) -> Tensor", "ts: grad;", ["GS0510 3:5"]),
    "input and output in a key": (SCHEMA, "self, result: h(grad);", ["GS0511 3:7"]),
    "auto_linear for an input": (SCHEMA, "self: auto_linear;", ["GS0512 3:7"]),
    "auto_element_wise for an input": (SCHEMA, "self: auto_element_wise;", ["GS0512 3:7"]),
    "non_differentiable for an output": (SCHEMA, "self: grad;\nresult: non_differentiable;", ["GS0512 4:9"]),
    "an undefined gradient": (TWO, "self: grads[0] * 2 + grads[1];", ["GS0513 3:7", "GS0513 3:22"]),
    "two undefined gradients": (TWO, "self: grad_a * 2 + grad_b;", ["GS0513 3:7", "GS0513 3:20"]),
    "a gradient that goes nowhere": (TWO, "self: grad_a * b;", ["GS0515 2:4"]),
    "an indexed gradient that goes nowhere": (TWO, "self: grads[1] * b;", ["GS0515 2:4"]),
    "a gradient squared": (SCHEMA, "self: grad * grad;", ["GS0516 3:7"]),
    "a gradient squared by a method": (SCHEMA, "self: grad.pow(2) * other;", ["GS0516 3:7"]),
    "a product of gradients by a function": (SCHEMA, "self: at::mul(grad, other * grad.conj());", ["GS0516 3:7"]),
    "a division by a gradient": (SCHEMA, "self: other / grad;", ["GS0516 3:7"]),
    "a term without a gradient": (SCHEMA, "self: -(grad * other - 1);", ["GS0516 3:8"]),
    "one half": (SCHEMA, "self: grad * (1/2);", ["GS0408 3:14"]),
    "minus a third": (SCHEMA, "self: grad * (-2 / (1 + 2));", ["GS0408 3:14"]),
    "no gradient in a backward formula": (SCHEMA, "self: other.conj();", ["GS0514 3:7"]),
    # forward mode
    "auto_linear without a gradient": (SCHEMA, "result: auto_linear;", ["GS0601 3:9"]),
    "auto_linear of two outputs": (TWO, "self: grad_a;\na, b: auto_linear;", ["GS0601 4:7"]),
    "auto_element_wise of two inputs": (SCHEMA, "self: grad;\nother: grad;\nresult: auto_element_wise;", ["GS0602 5:9"]),
    "auto_element_wise in place": (INPLACE, "self: grad;\nresult: auto_element_wise;", ["GS0602 4:9"]),
    "auto_linear on exp": ("exp(Tensor self) -> Tensor", "self: grad * result.conj();\nresult: auto_linear;", ["GS0604 4:9"]),
    "auto_linear on a square": ("f(Tensor self) -> Tensor", "self: grad * 2 * self;\nresult: auto_linear;", ["GS0604 4:9"]),
    "auto_linear on a product": (SCHEMA, "self: grad * other;\nother: grad * self;\nresult: auto_linear;", ["GS0604 5:9"]),
    "no tangent in a forward formula": (SCHEMA, "self: grad * 2;\nresult: self_p * 2;", ["GS0605 4:9"]),
    "half of the product rule": (SCHEMA, "self: grad * other;\nother: grad * self;\nresult: self_t * other_p;", ["GS0606 2:4"]),
    "a tangent squared": (SCHEMA, "self: grad;\nresult: self_t * self_t;", ["GS0607 4:9"]),
    "a term without a tangent": (SCHEMA, "self: grad;\nresult: self_t + other;", ["GS0607 4:9"]),
    "a value after the write": (INPLACE, "self: grad * result;\nresult: self_t * self_p.cos();", ["GS0608 4:18"]),
    "an op that loses its node": ("f(Tensor[] ts) -> Tensor", "result: cat_jvp(ts, 0);", ["GS0603 2:4"]),
    # names of arguments
    "an argument called grads": ("f(Tensor self, int grads) -> Tensor", "self: grad;", ["GS0310 2:23"]),
    "an argument called grad, read": ("f(Tensor self, Tensor grad) -> Tensor", "self: grad * 2;", ["GS0310 3:7"]),
    "an argument called result": ("f(Tensor self, Tensor result) -> Tensor", "self: grad;", ["GS0310 2:26"]),
    "an argument called grad_input_mask": ("f(Tensor self, Tensor grad_input_mask) -> Tensor", "self: grad;", ["GS0310 2:26"]),
    "an argument called retain_variables": ("f(Tensor self, bool retain_variables) -> Tensor", "self: grad;", ["GS0310 2:24"]),
    "an argument that is also a gradient": (
        "f(Tensor self, Tensor grad_a) -> (Tensor a, Tensor b)",
        "self: h(grad_b, grad_a);",
        ["GS0310 3:17"],
    ),
    "an argument that is also a tangent": ("f(Tensor x, Tensor x_t) -> Tensor", "x: grad;\nresult: x_t;", ["GS0310 4:9"]),
    "an argument that is also a member": ("f(Tensor self, int self_) -> Tensor", "self: grad * self * self_;", ["GS0701 2:4"]),
    "an argument that is also a saved property": (
        "f(Tensor self, int self_dim) -> Tensor",
        "self: grad * self.dim() * self_dim;",
        ["GS0701 2:23"],
    ),
    "an argument that is also saved sizes": (
        "f(Tensor self, SymInt[] self_sym_sizes) -> Tensor",
        "self: h(grad, self.sym_sizes(), self_sym_sizes);",
        ["GS0701 2:28"],
    ),
    # entries
    "a key misspelt": (SCHEMA, "slef: grad;", ["GS0307 3:1"]),
    "a key of another op": ("f(Tensor input, Tensor weight) -> Tensor", "self: grad * weight;", ["GS0307 3:1"]),
    "a dispatch key misspelt": (SCHEMA, "self: grad;\ndispatch AutogradCuda { self: grad * 2; }", ["GS0306 4:10"]),
    "a dispatch key twice": (SCHEMA, "dispatch Default { self: grad; }\ndispatch Default { self: grad; }", ["GS0109 4:10"]),
    "rules beside those of Default": (SCHEMA, "self: grad;\ndispatch Default { self: grad; }", ["GS0109 4:10"]),
    "no formula for other devices": (SCHEMA, "dispatch AutogradCUDA { self: grad; }", ["GS0308 2:4"]),
    "too many flags": (SCHEMA, "output_differentiability: [True, True];\nself: grad;", ["GS0309 3:27"]),
    "too few flags": (TWO, "output_differentiability: [True];\nself: grad;", ["GS0309 3:27"]),
    "a condition for two outputs": (TWO, "output_differentiability: self.dim() > 0;\nself: grad;", ["GS0309 3:27"]),
    "an in-place op without gradient": (
        "f_(Tensor(a!) self) -> Tensor(a!)",
        "output_differentiability: [False];",
        ["GS0309 3:27"],
    ),
    # syntax
    "a bracket not closed": (SCHEMA, "self: (grad * other;", ["GS0206 3:7"]),
    "a bracket closed twice": (SCHEMA, "self: grad * other);", ["GS0206 3:19"]),
    "a second statement": (SCHEMA, "self: grad; system(1);", ["GS0203 3:19"]),
    "an assignment": (SCHEMA, "self: grad = other;", ["GS0201 3:12"]),
    "Python's power": (SCHEMA, "self: grad ** 2;", ["GS0904 3:13"]),
    "Python's conditional": (SCHEMA, "self: grad if other else self;", ["GS0201 3:12"]),
    "Python's keyword argument": (SCHEMA, "self: grad.sum(dim=0);", ["GS0201 3:19"]),
    "Python's quotes": (SCHEMA, "self: not_implemented('foo');", ["GS0201 3:23"]),
    "Python's and": (SCHEMA, "self: grad and other;", ["GS0201 3:12"]),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "rules", "expected"), PLANTED.values(), ids=PLANTED)
def test_a_planted_mistake(schema: str, rules: str, expected: list[str]) -> None:
    assert findings(grad_file(rules, schema)) == expected


def test_there_are_enough_of_them() -> None:
    assert len(PLANTED) >= 100
    assert all(expected for _, _, expected in PLANTED.values())


# Mistakes that span entries, or that only a list of operators shows.
SCHEMAS = "".join(
    f"- func: {text}\n"
    for text in (
        SCHEMA,
        TWO,
        "foo_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        "bar.a(Tensor self) -> Tensor",
        "bar.b(Tensor self, int n) -> Tensor",
    )
)

ENTRIES = {
    "two entries for one op": (f"- name: {SCHEMA}\n  self: grad\n- name: {SCHEMA}\n  other: grad\n", ["GS0305 3:9"]),
    "no such op": ("- name: fooo(Tensor self, Tensor other) -> Tensor\n  self: grad\n", ["GS0304 1:9"]),
    "another signature": ("- name: foo(Tensor self, Scalar other) -> Tensor\n  self: grad\n", ["GS0304 1:9"]),
    "another overload": ("- name: bar.c(Tensor self) -> Tensor\n  self: grad\n", ["GS0304 1:9"]),
    "a key twice": (f"- name: {SCHEMA}\n  self: grad\n  other: grad\n  self: grad * 2\n", ["GS0109 4:3"]),
    "an unknown key": (f"- name: {SCHEMA}\n  self: grad\n  version: [a]\n", ["GS0307 3:3"]),
    "a number for a formula": (f"- name: {SCHEMA}\n  self: 0\n", ["GS0108 2:9"]),
    "nothing for a formula": (f"- name: {SCHEMA}\n  self:\n  other: ~\n", ["GS0208 2:8", "GS0108 3:10"]),
    "a formula that a comment cuts": (f"- name: {SCHEMA}\n  self: grad # * other\n", ["GS0112 2:14"]),
    "rules beside dispatch": (f"- name: {SCHEMA}\n  self: grad\n  dispatch:\n    Default:\n      self: grad\n", ["GS0307 2:3"]),
    "a number that moves": (
        "- name: bar.a(Tensor self) -> Tensor\n  result: at::neg(result)\n"
        "- name: bar.b(Tensor self, int n) -> Tensor\n  self: grad\n",
        ["GS0603 1:9", "GS0605 2:11"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ENTRIES.values(), ids=ENTRIES)
def test_a_mistake_between_entries(text: str, expected: list[str]) -> None:
    assert findings(text, SCHEMAS) == expected


def test_all_mistakes_of_an_entry_are_found() -> None:
    rules = "slef: grad;\nother: grad * selff + sefl.size(0);\nresult: other_p;"
    assert findings(grad_file(rules)) == ["GS0307 3:1", "GS0401 4:15", "GS0401 4:23", "GS0405 4:28"]


# ------------------------------------------------------------------------------------------------------------------- peace

RIGHT = {
    "names only in strings and comments": 'self: not_implemented("foo: self and other");\nother: grad /* uses self */ * 2;',
    "a gradient of zeros": "self: zeros_like(self);\nother: Tensor();",
    "sizes in a forward formula": "self: grad;\nresult: h(self_t, self_t.sizes());",
    "the length of a list": "self: h(grad, std::vector<int64_t>(1, 0).size());",
    "all gradients": "self: h(grads);",
    "a gradient picked at run time": "self: grads[self.dim()];",
    "a mask": "self, other: h(grad, grad_input_mask, grad_input_mask[1]);",
    "a lambda that hides an input": "self: h(grad, [](Tensor self) { return self; });",
    "zeros in a sum": "self: grad + Tensor();\nother: grad + at::zeros_like(self) + 0;",
    "a condition on a gradient": "self: grad.defined() ? grad / (1 + other) : grad * 2 * other;",
    "a helper in a sum": "self: grad + h(other);",
    "divisions of what is no whole number": "self: grad * (1 / 2.0) * (4 / 2) * (other / 2);",
    "both tangents": "self: grad * other;\nother: grad * self;\nresult: self_t * other_p + self_p * other_t;",
    "an input with a gradient of zeros": "self: grad;\nother: zeros_like(other);\nresult: self_t * 1;",
    "constants": "self: grad * M_PI * std::numeric_limits_max;",
    "a tensor and its sizes": "self: grad * other.expand_symint(other.sym_sizes());",
    "a tensor and its device": "self: grad * other.to(other.device());",
}  # fmt: skip


@pytest.mark.parametrize("rules", RIGHT.values(), ids=RIGHT)
def test_what_is_right_is_left_in_peace(rules: str) -> None:
    assert findings(grad_file(rules)) == []


def test_guarded_gradients() -> None:
    assert findings(grad_file("self: grads[0].defined() ? grads[0] * 2 : h(grads[1]);", TWO)) == []
    assert findings(grad_file("self: h(grads[0], grads[1]);", TWO)) == []


def test_ops_of_the_spec_are_functions() -> None:
    text = "library mine; op g(Tensor self) -> Tensor { self: grad; } op f(Tensor self) -> Tensor { self: g(mine::g(grad)); }"
    assert findings(text) == []


def test_helps_name_what_was_meant() -> None:
    for rules, meant in [
        ("self: grad * othr;", "`other`"),
        ("self: grad * M_PIE;", "`M_PI`"),
        ("self: h(grad, True);", "`true`"),
        ("self: pow_backwrd(grad, self, 2);", "`pow_backward`"),
        ("slef: grad;", "`self`"),
        ("other: nondifferentiable;", "`non_differentiable`"),
        ("other: non_differentable;", "`non_differentiable`"),
        ("self: grad;\nresult: autolinear;", "`auto_linear`"),
        ("self: grad;\nresult: auto_elementwise;", "`auto_element_wise`"),
        ("self: not_implemented;", '`not_implemented("foo")`'),
        ("self: grad;\nresult: self_t * other_p;", "write `other`"),
        ("self: grad;\nresult: self_t * other_t;", "only inputs with a backward formula"),
    ]:
        assert meant in diagnose(grad_file(rules))[1][0].help, rules


def help_of(rules: str, schema: str) -> str:
    return diagnose(grad_file(rules, schema))[1][0].help


def test_helps_fit_the_op() -> None:
    named_grad = "f(Tensor self, Tensor grad) -> Tensor"
    assert help_of("self: grads[0] * 2;", named_grad).startswith("rename the argument `grad`")
    assert "`grads`" in help_of("self: grads[0] * 2;", "f(Tensor self) -> Tensor[]")
    assert "`*eps`" in help_of("self: grad * eps;", "f(Tensor self, float? eps=None) -> Tensor")


def test_only_near_functions_are_proposed() -> None:
    assert "did you mean" not in help_of("self: f_backward(grad);", SCHEMA)
    assert "did you mean" not in help_of("self: my_op_backward(grad);", SCHEMA)
    assert "`fft_c2r_backward`" in help_of("self: fft_c2c_backward(grad);", SCHEMA)


def test_unknown_operators() -> None:
    """Where ATen's own list is given, a name of `at::` that it has not is a mistake, and nothing to declare."""
    aten = SCHEMAS + "- func: add(Tensor self) -> Tensor\n- func: sigmoid(Tensor self) -> Tensor\n"
    text = f"- name: {SCHEMA}\n  self: grad * at::sigmiod(other)\n"
    (found,) = diagnose(text, aten)[1]
    assert place(found) == "GS0402 2:16"
    assert found.message == "ATen has no function `sigmiod`"
    assert found.help == "did you mean `at::sigmoid`?"


def test_unknown_schemas() -> None:
    """What differs is said; a .grad file may name another library, YAML cannot."""
    found = diagnose("- name: foo(Tensor self, Tensor othr) -> Tensor\n  self: grad\n", SCHEMAS)[1][0]
    assert "`Tensor othr` is `Tensor other` there" in found.help
    assert "library" not in found.help
    with pytest.raises(SpecError) as caught:
        compile_sources([Source("x.grad", "op foo(Tensor self, int other) -> Tensor { self: grad; }")], Source("n.yaml", SCHEMAS))
    (wrong,) = caught.value.diagnostics
    assert "`int other` is `Tensor other` there" in wrong.help
    assert "`library NAME;`" in wrong.help


def quoted(diagnostic: Diagnostic) -> str:
    """The beginning of the line at a finding's place."""
    assert diagnostic.span is not None
    return diagnostic.span.source.text[diagnostic.span.start :].partition("\n")[0][:24]


def test_torchs_own_spec_is_right() -> None:
    """Ten warnings, all of them true.

    Two in-place ops keep what they overwrite, and one op has no gradient by default. Formulas of an op that tests PyTorch's own
    dispatch square gradients or add 1 to them. Four foreach ops give the scalar that they clamp to as a tangent, which is 0.
    """
    torch = find_torch(None)
    compiled = compile_files([torch.derivatives], torch.native_functions)
    found = [(d.code.id, quoted(d)) for d in compiled.diagnostics if d.severity != "note"]
    assert found == [
        ("GS0704", "polygamma_(Tensor(a!) se"),
        ("GS0704", "threshold_(Tensor(a!) se"),
        ("GS0516", "grad.mul(grad)"),
        ("GS0308", "_test_autograd_multiple_"),
        ("GS0516", "grad.mul(grad).add(grad)"),
        ("GS0516", "grad.reshape_as(self) + "),
        ("GS0607", "(self_t - scalar)"),
        ("GS0607", "(self_t - scalars[i])"),
        ("GS0607", "(self_t - scalar)"),
        ("GS0607", "(self_t - scalars[i])"),
    ]
    assert all(place(d).startswith("GS0112") for d in compiled.diagnostics if d.severity == "note")
