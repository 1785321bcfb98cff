"""Syntax to IR: class names, states of inputs, outputs, gradients; PyTorch's loader is the judge of names."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import compile_op, compile_ops, findings

from gradspec import ir
from gradspec.load import find_torch
from gradspec.pipeline import compile_files, compile_sources
from gradspec.printer import print_expr
from gradspec.resolve import class_prefix
from gradspec.source import Source

# ------------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("base", "prefix"),
    [
        ("mul", "MulBackward"),
        ("max_pool2d", "MaxPool2DBackward"),
        ("nb18b", "Nb18BBackward"),
        ("conv3d1x", "Conv3D1XBackward"),
        ("add_", "AddBackward"),
        ("_foreach_abs", "ForeachAbsBackward"),
        ("__and__", "AndBackward"),
        ("a__b", "ABBackward"),
        ("fooBar", "FoobarBackward"),
        ("FOO", "FooBackward"),
        ("thnn_forward", "ThnnBackward"),
        ("forward", "Backward"),
        ("forward_mul", "ForwardMulBackward"),
        ("native_dropout_backward", "NativeDropoutBackwardBackward"),
    ],
)
def test_class_prefix(base: str, prefix: str) -> None:
    assert class_prefix(base) == prefix


def nodes(text: str) -> list[str | None]:
    return [op.node for op in compile_ops(text).values()]


def one(name: str, rules: str = "self: grad;") -> str:
    return f"op {name}(Tensor self) -> Tensor {{ {rules} }}\n"


def test_numbers_count_per_prefix_in_file_order() -> None:
    text = one("mul.b") + one("exp") + one("mul.a") + one("mul")
    assert nodes(text) == ["MulBackward0", "ExpBackward0", "MulBackward1", "MulBackward2"]


def test_two_names_with_one_prefix_share_its_numbers() -> None:
    assert nodes(one("foo_bar") + one("foo__bar") + one("foo_bar_")) == ["FooBarBackward0", "FooBarBackward1", "FooBarBackward2"]


def test_each_dispatch_key_has_a_prefix_of_its_own() -> None:
    text = one("f.a", "self: grad; dispatch AutogradCUDA { self: grad; }") + one(
        "f.b", "dispatch AutogradCUDA { self: grad; } self: grad;"
    )
    assert nodes(text) == ["FBackward0", "FBackwardAutogradCUDA0", "FBackward1", "FBackwardAutogradCUDA1"]


def test_numbers_go_on_across_files() -> None:
    sources = [Source("a.grad", one("f.a")), Source("b.grad", one("f.b"))]
    assert [op.node for op in compile_sources(sources).program.ops] == ["FBackward0", "FBackward1"]


def test_what_has_no_backward_formula_takes_no_number() -> None:
    text = one("f.a", "self: non_differentiable;") + one("f.b") + one("f.c", "output_differentiability: False;") + one("f.d")
    assert nodes(text) == [None, "FBackward0", None, "FBackward1"]


def test_names_of_torch_are_those_of_its_own_loader() -> None:
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    torch = find_torch(None)
    tags = torch.native_functions.with_name("tags.yaml")
    theirs, _ = load_derivatives(str(torch.derivatives), str(torch.native_functions), str(tags))
    names = {(str(schema), key): info.op for schema, keys in theirs.items() for key, info in keys.items()}
    ours = {(str(op.schema), op.dispatch): op for op in compile_files([torch.derivatives], torch.native_functions).program.ops}
    foreach = {key for key, op in ours.items() if op.foreach and op.node is not None and key not in names}
    assert len(names) == 746
    assert len(foreach) == len(ours) - len(names) == 62
    assert {key: ours[key].node for key in names} == names


# ---------------------------------------------------------------------------------------------------------- inputs, outputs


def test_states_of_inputs() -> None:
    op = compile_op("op f(Tensor a, Tensor b, Tensor c, int n) -> Tensor { a: grad; b, n: non_differentiable; }")
    assert [(i.name, i.state) for i in op.inputs] == [
        ("a", "differentiable"),
        ("b", "non_differentiable"),
        ("c", "unmentioned"),
        ("n", "non_differentiable"),
    ]
    assert [i.name for i in op.differentiable_inputs] == ["a"]


TWO = "op f(Tensor self) -> (Tensor a, Tensor b)"

OUTPUTS = {
    "grad alone": (f"{TWO} {{ self: grad; }}", [True, False]),
    "grads": (f"{TWO} {{ self: at::add(grads[0], grads[1]); }}", [True, True]),
    "the second alone": (f"{TWO} {{ self: at::neg(grads[1]); }}", [True, True]),
    "named": (f"{TWO} {{ self: grad_b; }}", [True, True]),
    "flags and grad": (f"{TWO} {{ output_differentiability: [False, True]; self: grad; }}", [False, True]),
    "flags for all and grad": (f"{TWO} {{ output_differentiability: [True, True]; self: grad; }}", [True, True]),
    "an int output": ("op f(Tensor self) -> (Tensor a, int b) { self: at::neg(grads[0]) + at::neg(grads); }", [True, False]),
    "a list of tensors": ("op f(Tensor self) -> Tensor[] { self: at::cat(grads); }", [True]),
    "no gradient read": (f"{TWO} {{ self: not_implemented(\"f\"); }}", [True, True]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), OUTPUTS.values(), ids=OUTPUTS)
def test_differentiable_outputs(text: str, expected: list[bool]) -> None:
    assert [o.differentiable for o in compile_op(text).outputs] == expected


def test_gradients_count_the_differentiable_outputs() -> None:
    op = compile_op(
        "op f(Tensor self) -> (Tensor a, Tensor b, Tensor c) { output_differentiability: [False, True, True]; self: grad_c; }"
    )
    (gradient,) = [e for e in ir.walk(op.derivatives[0].written) if isinstance(e, ir.Cotangent)]
    assert (gradient.index, gradient.name) == (1, "grad_c")
    assert op.named_gradients == ("grad_c",)


def test_derivatives_come_in_the_order_of_their_keys() -> None:
    op = compile_op("extern h; op f(Tensor c, Tensor a, Tensor b) -> Tensor { c: grad; b, a: h(grad); }")
    assert [d.inputs for d in op.derivatives] == [("b", "a"), ("c",)]


@pytest.mark.parametrize(
    ("schema", "traceable"),
    [
        ("f(Tensor self) -> Tensor", True),
        ("f(Tensor(a) self) -> Tensor(a)", False),
        ("f(Tensor(a -> *) self) -> Tensor(a)[]", False),
        ("f_(Tensor(a!) self) -> Tensor(a!)", True),
        ("chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", True),
        ("lift_fresh(Tensor(a) self) -> Tensor(a)", True),
    ],
)
def test_views_cannot_be_traced(schema: str, traceable: bool) -> None:
    assert compile_op(f'op {schema} {{ self: not_implemented("f"); }}').traceable == traceable


def test_retain_variables() -> None:
    op = compile_op("extern h; op f(Tensor self) -> Tensor { self: h(grad, retain_variables); }")
    assert op.uses_retain_variables


# -------------------------------------------------------------------------------------------------------------- expressions

EXPRESSIONS = {
    "an input": ("self", ir.Input),
    "an output": ("result", ir.Output),
    "the gradient": ("grad", ir.Cotangent),
    "all gradients": ("grads", ir.Cotangents),
    "retain_variables": ("retain_variables", ir.RetainVariables),
    "a constant": ("M_PI", ir.Constant),
    "a qualified constant": ("at::kLong", ir.Constant),
    "a truth value": ("true", ir.Bool),
    "a number": ("1.5f", ir.Number),
    "a string": ('"a"', ir.String),
    "a call": ("h(grad)", ir.Call),
    "a method": ("grad.neg()", ir.Method),
    "an index": ("self[0]", ir.Index),
    "braces": ("{1}", ir.Braces),
    "a construction": ("std::vector<int64_t>{1}", ir.Construct),
    "a lambda": ("[](Tensor x) { return x; }", ir.Lambda),
    "a conditional": ("true ? 1 : 2", ir.Conditional),
}


@pytest.mark.parametrize(("text", "kind"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_each_expression(text: str, kind: type) -> None:
    op = compile_op(f"extern h; op f(Tensor self) -> Tensor {{ self: h({text}, {'' if text == 'grads' else 'grad, '}0); }}")
    call = op.derivatives[0].written
    assert isinstance(call, ir.Call)
    assert isinstance(call.args[0], kind)
    assert print_expr(call.args[0]) == text


def test_a_lambda_hides_what_has_its_parameters_name() -> None:
    op = compile_op("extern h; op f(Tensor self) -> Tensor { self: h(grad, [](Tensor self) { return self; }); }")
    assert not any(isinstance(e, ir.Input) for e in ir.walk(op.derivatives[0].written))
    assert op.saved == ()


def test_the_mask() -> None:
    op = compile_op("extern h; op f(Tensor a, Tensor b) -> Tensor { a, b: h(grad, grad_input_mask[1]); }")
    assert any(isinstance(e, ir.InputMask) for e in ir.walk(op.derivatives[0].written))


def test_an_argument_may_be_called_grad_where_none_is_read() -> None:
    op = compile_op('op f_backward(Tensor grad, Tensor self) -> Tensor { self: not_implemented("f"); grad: zeros_like(self); }')
    assert [d.inputs for d in op.derivatives] == [("grad",), ("self",)]


def test_element_index() -> None:
    op = compile_op("op _foreach_f(Tensor[] self) -> Tensor[] { self: grads[i] * self[i]; }")
    assert op.foreach
    assert any(isinstance(e, ir.ElementIndex) for e in ir.walk(op.derivatives[0].written))


def test_the_functional_form_that_the_build_makes_is_known() -> None:
    schemas = "- func: f(Tensor self, Tensor(a!) buf) -> Tensor\n"
    text = "- name: f_functional(Tensor self, Tensor buf) -> (Tensor, Tensor buf_out)\n  self: grad\n"
    assert findings(text, schemas) == []
    assert findings(text.replace("buf_out", "other"), schemas) == ["GS0304 1:9"]


def test_the_nearest_schemas_are_shown(tmp_path: Path) -> None:
    schemas = tmp_path / "n.yaml"
    schemas.write_text(
        "- func: foo.a(Tensor self) -> Tensor\n- func: foo.b(Tensor self, int n) -> Tensor\n- func: goo(Tensor x) -> Tensor\n"
    )
    spec = tmp_path / "d.grad"
    spec.write_text("op foo(Tensor self) -> Tensor { self: grad; }")
    from gradspec.diagnostics import SpecError

    with pytest.raises(SpecError) as caught:
        compile_files([spec], schemas)
    help_ = caught.value.diagnostics[0].help
    assert help_.index("foo.a(") < help_.index("foo.b(")
    assert "goo(" in help_
