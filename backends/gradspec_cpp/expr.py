"""Expressions as C++ text; knows no node, no statement and no type's spelling but the formulas' own."""

from __future__ import annotations

from typing import assert_never

from gradspec.emit.cxx import WIDTH, fill, string_literal
from gradspec.ir import (
    Binary,
    Bool,
    Braces,
    Call,
    Comprehension,
    Conditional,
    Constant,
    Construct,
    Cotangent,
    Cotangents,
    ElementIndex,
    Expr,
    Fold,
    Index,
    Input,
    InputMask,
    Lambda,
    Local,
    Method,
    Number,
    Output,
    Primal,
    RetainVariables,
    Saved,
    String,
    Tangent,
    TypeRef,
    Unary,
    walk,
)
from gradspec.types import BaseType

# How tightly each operator binds ([expr.mul] to [expr.cond]); a larger number binds tighter.
_BINDING = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_CONDITIONAL, _COMPARISON, _SUM, _UNARY, _POSTFIX, _PRIMARY = 0, 6, 9, 11, 12, 13

# Where C++ needs no parentheses but readers do, and g++ -Wall asks for them: what an operand must at least be.
_LEAST_OPERAND = {"||": 3, "|": 10, "^": 10, "&": 10, "<<": 10, ">>": 10, "==": 8, "!=": 8, "<": 8, ">": 8, "<=": 8, ">=": 8}


def emit_expr(expr: Expr) -> str:
    """The expression on one line, with no parentheses but those that keep its meaning and those that g++ -Wall asks for."""
    return _text(expr)[0]


def emit_expr_lines(expr: Expr, column: int, indent: int, room: int = 0) -> str:
    """The expression as `emit_expr` writes it, broken at its outermost call or conditional where it would pass the line's width.

    It starts at `column`, goes on at `indent`, and `room` more columns follow it on its last line.
    """
    text = emit_expr(expr)
    if column + len(text) + room <= WIDTH:
        return text
    pad = "\n" + " " * indent
    match expr:
        case Conditional(test, then, other):
            first = emit_expr_lines(test, column, indent) if _text(test)[1] > _CONDITIONAL else _operand(test, 1)
            second = emit_expr_lines(then, indent + 2, indent + 4)
            third = emit_expr_lines(other, indent + 2, indent + 4, room)
            return f"{first}{pad}? {second}{pad}: {third}"
        case Call(_, args, _) | Method(_, _, args, _, _) | Construct(_, args, _) if args:
            close = text[-1]
            head = text[: len(text) - len(", ".join(map(emit_expr, args))) - 1]
            return f"{head}{pad}{fill([emit_expr_lines(a, indent, indent + 4, 1) for a in args], indent, indent)}{close}"
        case Comprehension(value, names, sources, test):
            functions = [(names, value)] if test is None else [(names, value), (names, test)]
            parts = [_lambda_lines(n, v, indent) for n, v in functions] + [emit_expr(x) for x in sources]
            return f"mapped{'' if test is None else '_if'}({pad}{f',{pad}'.join(parts)})"
        case Fold(accumulator, initial, names, sources, value):
            step = _lambda_lines((accumulator, *names), value, indent)
            parts = [emit_expr_lines(initial, indent, indent + 4, 1), step, *[emit_expr(x) for x in sources]]
            return f"folded({pad}{f',{pad}'.join(parts)})"
        case _:
            return text


def emit_type(ref: TypeRef | str) -> str:
    """A type that a formula names."""
    if isinstance(ref, str):
        return ref
    return f"{ref.name}<{', '.join(map(emit_type, ref.args))}>" if ref.args else ref.name


def _operand(expr: Expr, least: int) -> str:
    text, binding = _text(expr)
    return text if binding >= least else f"({text})"


def _arguments(args: tuple[Expr, ...]) -> str:
    return ", ".join([_text(a)[0] for a in args])


def _lambda(names: tuple[str, ...], value: Expr) -> str:
    """A function of elements; one that it does not read has no name."""
    return f"{_lambda_head(names, value)} {{ return {_text(value)[0]}; }}"


def _lambda_head(names: tuple[str, ...], value: Expr) -> str:
    read = {part.name for part in walk(value) if isinstance(part, Local)}
    return f"[&]({', '.join(f'const auto& {n}' if n in read else f'const auto& /*{n}*/' for n in names)})"


def _lambda_lines(names: tuple[str, ...], value: Expr, indent: int) -> str:
    text = _lambda(names, value)
    if indent + len(text) < WIDTH:
        return text
    body = f"{' ' * (indent + 2)}return {emit_expr_lines(value, indent + 9, indent + 6, 1)};"
    return f"{_lambda_head(names, value)} {{\n{body}\n{' ' * indent}}}"


def _template(args: tuple[TypeRef | str, ...]) -> str:
    return f"<{', '.join(map(emit_type, args))}>" if args else ""


def _binary(expr: Binary) -> tuple[str, int]:
    op = expr.op
    binding = _BINDING[op]
    least = _LEAST_OPERAND.get(op, binding)
    # A run of one associative operator stays bare on its left: `a || b || c`, `a | b | c`.
    same = isinstance(expr.left, Binary) and expr.left.op == op and binding < _COMPARISON
    left = _operand(expr.left, binding if same else least)
    if _COMPARISON <= binding < _SUM and isinstance(expr.left, Unary) and expr.left.op == "!":
        left = f"({left})"
    return f"{left} {op} {_operand(expr.right, max(least, binding + 1))}", binding


def _unary(expr: Unary) -> tuple[str, int]:
    operand = _operand(expr.operand, _UNARY)
    # `- -x` must not become `--x`.
    return (f"{expr.op}({operand})" if operand[0] == expr.op and expr.op in "+-" else expr.op + operand), _UNARY


def _text(expr: Expr) -> tuple[str, int]:
    """The expression's text and how tightly its outermost operator binds."""
    # The commonest first: this is the emitter's innermost loop.
    match expr:
        case Saved(name=name) | Cotangent(name=name) | Constant(name) | Local(name) | Input(name=name) | Output(name=name):
            return name, _PRIMARY
        case Call(function, args, template):
            return f"{function}{_template(template)}({_arguments(args)})", _POSTFIX
        case Method(Saved(info, BaseType("TensorInfo")), "zeros", ()):
            # The method of torch's own is not exported, so that a node outside of libtorch could not be linked.
            return f"zeros_for({info})", _POSTFIX
        case Method(receiver, name, args, arrow, template):
            # A number keeps its parentheses: `1.exp()` is no call.
            left = f"({_text(receiver)[0]})" if isinstance(receiver, Number) else _operand(receiver, _POSTFIX)
            return f"{left}{'->' if arrow else '.'}{name}{_template(template)}({_arguments(args)})", _POSTFIX
        case Binary():
            return _binary(expr)
        case Number(text):
            return text, _PRIMARY
        case Index(value, index):
            return f"{_operand(value, _POSTFIX)}[{_text(index)[0]}]", _POSTFIX
        case Cotangents():
            return "grads", _PRIMARY
        case Conditional(test, then, other):
            return f"{_operand(test, 1)} ? {_text(then)[0]} : {_text(other)[0]}", _CONDITIONAL
        case Bool(value):
            return ("true" if value else "false"), _PRIMARY
        case Unary():
            return _unary(expr)
        case ElementIndex():
            return "i", _PRIMARY
        case InputMask():
            return "grad_input_mask", _PRIMARY
        case String(value):
            return string_literal(value), _PRIMARY
        case Braces(items):
            return f"{{{_arguments(items)}}}", _PRIMARY
        case Construct(ref, args, braces):
            left, right = "{}" if braces else "()"
            return f"{emit_type(ref)}{left}{_arguments(args)}{right}", _POSTFIX
        case RetainVariables():
            return "retain_variables", _PRIMARY
        case Lambda(param_type, param, body):
            return f"[]({emit_type(param_type)} {param}) {{ return {_text(body)[0]}; }}", _PRIMARY
        case Comprehension(value, names, sources, test):
            functions = _lambda(names, value) if test is None else f"{_lambda(names, value)}, {_lambda(names, test)}"
            return f"mapped{'' if test is None else '_if'}({functions}, {_arguments(sources)})", _POSTFIX
        case Fold(accumulator, initial, names, sources, value):
            step = _lambda((accumulator, *names), value)
            return f"folded({_text(initial)[0]}, {step}, {_arguments(sources)})", _POSTFIX
        case Tangent(name, original):
            return f"original_{name}_t" if original else f"{name}_t", _PRIMARY
        case Primal(name, original):
            return f"original_{name}_p" if original else f"{name}_p", _PRIMARY
        case _:
            assert_never(expr)
