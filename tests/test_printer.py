"""The IR as text and as JSON: fewest parentheses, same meaning, and a stable form."""

from __future__ import annotations

import json

import pytest
from compiling import compile_op, compile_ops
from shapes import parse, shape

from gradspec import ir
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics, SpecError
from gradspec.load import find_torch, load_source
from gradspec.pipeline import compile_files, compile_sources
from gradspec.printer import as_record, print_expr, print_json, print_op, print_program, quote
from gradspec.read_ir import read_program
from gradspec.torch_yaml import parse_derivatives

# ------------------------------------------------------------------------------------------------------------- expressions


def printed(formula: str) -> str:
    op = compile_op(f"extern f, g; op x(Tensor self, Tensor a, Tensor b, Tensor c) -> Tensor {{ self: f(grad, {formula}); }}")
    call = op.derivatives[0].written
    assert isinstance(call, ir.Call)
    return print_expr(call.args[1])


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("((a))", "a"),
        ("(a * b) + c", "a * b + c"),
        ("a * (b + c)", "a * (b + c)"),
        ("(a + b) + c", "a + b + c"),
        ("a + (b + c)", "a + (b + c)"),
        ("a - (b - c)", "a - (b - c)"),
        ("a / (b / c)", "a / (b / c)"),
        ("-(a + b)", "-(a + b)"),
        ("-(-a)", "- -a"),
        ("+(+a)", "+ +a"),
        ("-(+a)", "-+a"),
        ("a - -b", "a - -b"),
        ("(-a).neg()", "(-a).neg()"),
        ("-(a.neg())", "-a.neg()"),
        ("(a + b)[0]", "(a + b)[0]"),
        ("(a + b).neg()", "(a + b).neg()"),
        ("f(1)[0][1]", "f(1)[0][1]"),
        ("f(({a}))", "f({a})"),
        ('f("a\\"b\\\\c\\n\\033")', 'f("a\\"b\\\\c\\n\\033")'),
        ("f( a ,b )", "f(a, b)"),
        ("std::get< 0 >(f(a))", "std::get<0>(f(a))"),
        ("std::tuple< Tensor,Tensor >( a,b )", "std::tuple<Tensor, Tensor>(a, b)"),
        ("std::vector<std::vector<int64_t>>{ {0} , {1} }", "std::vector<std::vector<int64_t>>{{0}, {1}}"),
        ("f([ ](Tensor x){return x;})", "f([](Tensor x) { return x; })"),
        ("f(1 << 2)", "f(1 << 2)"),
        ("f((1 < 2) == (3 > 4))", "f(1 < 2 == 3 > 4)"),
        ("f((1 & 2) | (3 ^ 4))", "f(1 & 2 | 3 ^ 4)"),
        ("f(!(true && false) || true)", "f(!(true && false) || true)"),
        ("true ? a : (false ? b : c)", "true ? a : false ? b : c"),
        ("(true ? false : true) ? a : b", "(true ? false : true) ? a : b"),
        ("true ? (false ? a : b) : c", "true ? false ? a : b : c"),
        ("(true ? a : b) + c", "(true ? a : b) + c"),
    ],
)
def test_fewest_parentheses(formula: str, text: str) -> None:
    assert printed(formula) == text


def test_a_number_is_no_receiver_without_parentheses() -> None:
    assert print_expr(ir.Method(ir.Number("1"), "f", ())) == "(1).f()"
    assert print_expr(ir.Index(ir.Number("1"), ir.Number("0"))) == "1[0]"


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (ir.Cotangents(), "grads"),
        (ir.InputMask(), "grad_input_mask"),
        (ir.RetainVariables(), "retain_variables"),
        (ir.ElementIndex(), "i"),
        (ir.Tangent("x"), "x_t"),
        (ir.Tangent("x", original=True), "original_x_t"),
        (ir.Primal("x"), "x_p"),
        (ir.Primal("x", original=True), "original_x_p"),
        (ir.Bool(True), "true"),
        (ir.Cotangent(1, "grads[1]"), "grads[1]"),
        (ir.Local("y"), "y"),
    ],
)
def test_leaves(expr: ir.Expr, text: str) -> None:
    assert print_expr(expr) == text


@pytest.mark.parametrize(
    ("value", "literal"),
    [("", '""'), ('"', '"\\""'), ("\\", '"\\\\"'), ("\0" + "1", '"\\0001"'), ("\x7f", '"\\177"'), ("é", '"é"')],
)
def test_quotes(value: str, literal: str) -> None:
    assert quote(value) == literal


def test_every_expression_of_torch_prints_back() -> None:
    """The same tree comes out of the printed text as of the file's own."""
    torch = find_torch(None)
    sources = [load_source(path, Diagnostics()) for path in (torch.derivatives, torch.native_functions)]
    assert sources[0] is not None
    ops = {(str(op.schema), op.dispatch): op for op in compile_sources([sources[0]], sources[1]).program.ops}
    compared = 0
    for entry in parse_derivatives(sources[0], Diagnostics()).entries:
        for block in entry.blocks:
            op = ops[str(entry.schema), block.dispatch]
            ours = {d.inputs: d.written for d in op.derivatives} | {j.outputs: j.formula for j in op.jvps if not j.auto}
            for rule in block.rules:
                if not isinstance(rule.formula.value, str):
                    text = print_expr(ours[tuple(n.text for n in rule.names)])
                    assert shape(parse(text)) == shape(rule.formula.value), text
                    compared += 1
    assert compared == 989 + 48


# ---------------------------------------------------------------------------------------------------------------- programs

TEXT = """
extern h;
op f_(Tensor(a!) self, Tensor? other, int[2] n) -> Tensor(a!) {
  self, other: h(grad, self, other->sym_sizes(), grad_input_mask);
  result: h(original_self_p, self_t);
  dispatch AutogradCUDA { self: grad; }
}
op g(Tensor(a) self) -> Tensor(a) { output_differentiability: self.dim() > 0; self: grad; result: auto_linear; }
op two(Tensor self) -> (Tensor a, Tensor b) { self: grad_b; }
op _foreach_k(Tensor[] self) -> Tensor[] { self: grads[i] * self[i]; }
op nothing(Tensor self) -> Tensor { output_differentiability: False; }
"""


def test_an_op_as_text() -> None:
    assert print_op(compile_ops(TEXT)["f_"]) == (
        "op f_(Tensor(a!) self, Tensor? other, int[2] n) -> Tensor(a!)\n"
        "  node FBackward0\n"
        "  input self: Tensor differentiable\n"
        "  input other: Tensor? differentiable\n"
        "  input n: int[2]\n"
        "  output result: Tensor differentiable\n"
        "  save input other_sym_sizes_opt: SymInt[]? = other->sym_sizes()\n"
        "  save input self: Tensor = self before the write\n"
        "  vjp self, other = h(grad, self, other_sym_sizes_opt, grad_input_mask)\n"
        "    written h(grad, self, other->sym_sizes(), grad_input_mask)\n"
        "  jvp result = h(original_self_p, self_t)\n"
    )


def test_the_text_reads_back() -> None:
    program = ir.Program(tuple(compile_ops(TEXT).values()))
    assert read_program(print_program(program)).ops == program.ops


@pytest.mark.parametrize("formula", ["-" * 198 + "grad", "+".join(["grad"] * 199), f"h({'{' * 197}grad{'}' * 197})"])
def test_a_program_at_the_limits_reads_back(formula: str) -> None:
    """The element-wise tangent is deeper than what it was made from, and blanks make it longer."""
    text = f"extern h; op f(Tensor self) -> Tensor {{ self: {formula}; result: auto_element_wise; }}"
    program = ir.Program((compile_op(text),))
    assert read_program(print_program(program)).ops == program.ops


def test_torchs_program_reads_back() -> None:
    torch = find_torch(None)
    program = compile_files([torch.derivatives], torch.native_functions).program
    assert read_program(print_program(program)).ops == program.ops


@pytest.mark.parametrize(
    "text", ["nonsense\n", "op f(\n", "op f(Tensor self) -> Tensor\n  wonder\n", "op f() -> ()\n  vjp self = (\n"]
)
def test_what_is_no_printed_program(text: str) -> None:
    with pytest.raises((SpecError, ValueError)):
        read_program(text)


def test_an_op_as_json() -> None:
    record = as_record(compile_ops(TEXT)["f_"])
    assert record["op"] == "f_"
    assert record["dispatch"] == "Default"
    assert record["node"] == "FBackward0"
    assert record["inputs"][1] == {"name": "other", "type": "Tensor?", "state": "differentiable"}
    assert record["saved"] == [
        {
            "name": "other_sym_sizes_opt",
            "type": "SymInt[]?",
            "from": "input",
            "value": "other->sym_sizes()",
            "before_write": False,
        },
        {"name": "self", "type": "Tensor", "from": "input", "value": "self", "before_write": True},
    ]
    assert record["derivatives"][0]["inputs"] == ["self", "other"]
    assert record["tangents"] == [
        {"outputs": ["result"], "formula": "h(original_self_p, self_t)", "tangents": ["self"], "primals": [], "auto": None}
    ]


def test_json_has_a_stable_form() -> None:
    document = json.loads(print_json(ir.Program(tuple(compile_ops(TEXT).values()))))
    assert document["format"] == 1
    assert [(n["op"], n["dispatch"], n["node"]) for n in document["nodes"]] == [
        ("f_", "Default", "FBackward0"),
        ("f_", "AutogradCUDA", "FBackwardAutogradCUDA0"),
        ("g", "Default", "GBackward0"),
        ("two", "Default", "TwoBackward0"),
        ("_foreach_k", "Default", "ForeachKBackward0"),
        ("nothing", "Default", None),
    ]
    fields = {
        "op", "schema", "dispatch", "node", "traceable", "inputs", "outputs", "saved", "derivatives", "tangents",
        "named_gradients", "uses_retain_variables",
    }  # fmt: skip
    assert all(fields <= node.keys() for node in document["nodes"])


def test_surface_and_ir_operators_are_the_same() -> None:
    assert s.Binary.__annotations__["op"] == ir.Binary.__annotations__["op"]
