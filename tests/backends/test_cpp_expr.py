"""Expressions as C++: what is written, and that it reads back as what was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradspec import ir, syntax
from gradspec.diagnostics import Diagnostics
from gradspec.emit.cxx import WIDTH, string_literal
from gradspec.parse import parse_formula
from gradspec.source import Excerpt
from gradspec.types import TENSOR, BaseType
from gradspec_cpp.expr import emit_expr, emit_expr_lines, emit_type

A, B, C = (ir.Input(name, TENSOR) for name in "abc")


def binary(op: ir.BinaryOperator, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Binary(op, left, right)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (binary("-", A, binary("-", B, C)), "a - (b - c)"),
        (binary("-", binary("-", A, B), C), "a - b - c"),
        (binary("*", binary("+", A, B), C), "(a + b) * c"),
        (binary("+", binary("*", A, B), C), "a * b + c"),
        (binary("/", A, binary("*", B, C)), "a / (b * c)"),
        (ir.Unary("-", ir.Unary("-", A)), "-(-a)"),
        (ir.Unary("-", binary("*", A, B)), "-(a * b)"),
        (binary("*", ir.Unary("-", A), B), "-a * b"),
        (binary("-", A, ir.Unary("-", B)), "a - -b"),
        (ir.Unary("!", ir.Unary("!", A)), "!!a"),
        (ir.Method(ir.Unary("-", A), "exp", ()), "(-a).exp()"),
        (ir.Unary("-", ir.Method(A, "exp", ())), "-a.exp()"),
        (ir.Method(ir.Unary("*", A), "dim", ()), "(*a).dim()"),
        (ir.Method(A, "dim", (), arrow=True), "a->dim()"),
        (ir.Method(A, "to", (), template=(ir.TypeRef("double"),)), "a.to<double>()"),
        (ir.Method(ir.Number("2"), "exp", ()), "(2).exp()"),
        (ir.Index(binary("+", A, B), ir.ElementIndex()), "(a + b)[i]"),
        (ir.Conditional(A, B, ir.Conditional(B, A, C)), "a ? b : b ? a : c"),
        (ir.Conditional(ir.Conditional(A, B, C), B, C), "(a ? b : c) ? b : c"),
        (binary("+", ir.Conditional(A, B, C), C), "(a ? b : c) + c"),
        (ir.Call("at::where", (ir.Conditional(A, B, C), B)), "at::where(a ? b : c, b)"),
        (ir.Call("std::get", (A,), ("0",)), "std::get<0>(a)"),
        (
            ir.Construct(ir.TypeRef("std::tuple", (ir.TypeRef("Tensor"), ir.TypeRef("Tensor"))), ()),
            "std::tuple<Tensor, Tensor>()",
        ),
        (
            ir.Construct(ir.TypeRef("std::vector", (ir.TypeRef("c10::SymInt"),)), (A, ir.Number("0"))),
            "std::vector<c10::SymInt>(a, 0)",
        ),
        (ir.Construct(ir.TypeRef("IntArrayRef"), (ir.Number("1"),), braces=True), "IntArrayRef{1}"),
        (ir.Braces((ir.Number("1"), A)), "{1, a}"),
        (ir.Lambda(ir.TypeRef("int64_t"), "k", ir.Unary("-", ir.Local("k"))), "[](int64_t k) { return -k; }"),
        (ir.Call("f", (ir.Bool(True), ir.Bool(False), ir.Constant("M_PI"), ir.String('"'))), 'f(true, false, M_PI, "\\"")'),
        (ir.Call("f", (ir.Cotangents(), ir.InputMask(), ir.RetainVariables())), "f(grads, grad_input_mask, retain_variables)"),
        (ir.Method(ir.Saved("a_info", BaseType("TensorInfo")), "zeros", ()), "zeros_for(a_info)"),
        (ir.Cotangent(1, "grads[1]"), "grads[1]"),
        (binary("*", ir.Tangent("a"), ir.Primal("b")), "a_t * b_p"),
        (binary("*", ir.Tangent("a", original=True), ir.Primal("a", original=True)), "original_a_t * original_a_p"),
        (binary("*", ir.Saved("a", TENSOR), ir.Output("result", TENSOR)), "a * result"),
    ],
)
def test_spelling(expr: ir.Expr, text: str) -> None:
    assert emit_expr(expr) == text


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (binary("||", binary("&&", A, B), C), "(a && b) || c"),
        (binary("||", binary("||", A, B), C), "a || b || c"),
        (binary("&&", binary("==", A, B), C), "a == b && c"),
        (binary("==", ir.Unary("!", A), B), "(!a) == b"),
        (binary("&", binary("==", A, B), C), "(a == b) & c"),
        (binary("|", binary("&", A, B), C), "(a & b) | c"),
        (binary("<<", binary("+", A, B), C), "(a + b) << c"),
        (binary("<", binary("<", A, B), C), "(a < b) < c"),
        (binary("==", binary("<", A, B), C), "(a < b) == c"),
    ],
)
def test_parentheses_that_compilers_ask_for(expr: ir.Expr, text: str) -> None:
    # g++ -Wall (-Wparentheses, -Wlogical-not-parentheses) warns without them.
    assert emit_expr(expr) == text


UNARY = st.sampled_from(["-", "+", "!", "~", "*"])
BINARY = st.sampled_from(["*", "/", "%", "+", "-", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||"])
EXPRS = st.recursive(
    st.sampled_from([A, B, C, ir.Number("2"), ir.Number("1.5e-3"), ir.Bool(True)]),
    lambda inner: st.one_of(
        st.builds(ir.Unary, UNARY, inner),
        st.builds(ir.Binary, BINARY, inner, inner),
        st.builds(ir.Conditional, inner, inner, inner),
        st.builds(ir.Index, inner, inner),
        st.builds(lambda receiver, arg: ir.Method(receiver, "pow", (arg,)), inner, inner),
        st.builds(lambda x, y: ir.Call("at::where", (x, y)), inner, inner),
    ),
    max_leaves=12,
)


def outline(expr: ir.Expr | syntax.Expr | str) -> object:
    """An expression of either tree as nested tuples: what it applies to what, without places and types."""
    match expr:
        case ir.Input(name=text) | syntax.Name(text=text) | ir.Number(text) | syntax.Number(text=text):
            return text
        case ir.Bool(value):
            return str(value).lower()
        case ir.Unary(op, operand) | syntax.Unary(op, operand):
            return op, outline(operand)
        case ir.Binary(op, left, right) | syntax.Binary(op, left, right):
            return op, outline(left), outline(right)
        case ir.Conditional(test, then, other) | syntax.Conditional(test, then, other):
            return "?", outline(test), outline(then), outline(other)
        case ir.Index(value, index) | syntax.Index(value, index):
            return "[]", outline(value), outline(index)
        case ir.Method(receiver, name, args):
            return ".", outline(receiver), name, *map(outline, args)
        case syntax.Method(receiver=receiver, name=called, args=args):
            return ".", outline(receiver), called.text, *map(outline, args)
        case ir.Call(function, args):
            return "()", function, *map(outline, args)
        case syntax.Call(function=called, args=args):
            return "()", called.text, *map(outline, args)
    raise AssertionError(expr)


@given(EXPRS)
def test_what_is_written_means_what_was_meant(expr: ir.Expr) -> None:
    found = Diagnostics()
    formula = parse_formula(Excerpt.of_text(emit_expr(expr)), found)
    assert formula is not None, [d.message for d in found.all]
    assert outline(formula.value) == outline(expr)


@given(EXPRS, st.integers(0, 60))
def test_broken_lines_say_the_same(expr: ir.Expr, column: int) -> None:
    lines = emit_expr_lines(expr, column, 8)
    assert "".join(lines.split()) == "".join(emit_expr(expr).split())


def test_long_calls_are_filled() -> None:
    call = ir.Call("some_backward", tuple(ir.Input(f"argument_number_{i}", TENSOR) for i in range(9)))
    first, *rest = emit_expr_lines(call, 15, 8, 2).split("\n")
    assert first == "some_backward("
    assert all(line.startswith("        argument") and len(line) <= WIDTH for line in rest)
    assert "\n".join(rest).count("argument_number_") == 9


def test_long_conditionals_have_a_line_a_branch() -> None:
    long = ir.Call("some_function_with_a_long_name", tuple(ir.Input(f"argument_{i}", TENSOR) for i in range(5)))
    lines = emit_expr_lines(ir.Conditional(ir.Method(A, "defined", ()), long, ir.Construct(ir.TypeRef("Tensor"), ())), 4, 8)
    assert [line.split("(")[0] for line in lines.split("\n")] == [
        "a.defined",
        "        ? some_function_with_a_long_name",
        "        : Tensor",
    ]


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        ("plain", '"plain"'),
        ('say "hi"\\n', '"say \\"hi\\"\\\\n"'),
        ("a\tb\nc\r", '"a\\tb\\nc\\r"'),
        ("what??/", '"what?\\?/"'),
        ("??? yes?", '"?\\?\\? yes?"'),
        ("é1", '"\\303\\2511"'),
        ("\x01f\0", '"\\001f\\000"'),
    ],
)
def test_string_literals(value: str, literal: str) -> None:
    assert string_literal(value) == literal


def test_types() -> None:
    nested = ir.TypeRef("std::tuple", (ir.TypeRef("std::vector", (ir.TypeRef("Tensor"),)), "3"))
    assert emit_type(nested) == "std::tuple<std::vector<Tensor>, 3>"
