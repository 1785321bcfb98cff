"""Surface expressions without their places, so that trees of different texts compare; and their values in C++."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TypeAlias, cast

from gradspec import ir
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostic, Diagnostics
from gradspec.parse import parse_formula
from gradspec.parse.formula import number_problem
from gradspec.source import Excerpt

Shape: TypeAlias = tuple[object, ...]


def parse(text: str) -> s.Expr:
    """An expression that must be right."""
    diagnostics = Diagnostics()
    formula = parse_formula(Excerpt.of_text(text), diagnostics)
    assert formula is not None, [f"{d.code.id} {d.message}" for d in diagnostics.all]
    assert not isinstance(formula.value, str)
    return formula.value


def diagnose(text: str) -> tuple[Diagnostic, ...]:
    """What is said of a formula that must be wrong."""
    diagnostics = Diagnostics()
    assert parse_formula(Excerpt.of_text(text), diagnostics) is None
    return diagnostics.all


def shape(expr: s.Expr) -> Shape:
    """The tree as nested tuples: the node's kind, then its parts."""
    match expr:
        case s.Name(text):
            return ("name", text)
        case s.Number(text):
            return ("number", text)
        case s.String(value):
            return ("string", value)
        case s.Call(function, template, args):
            return ("call", function.text, template, *map(shape, args))
        case s.Method(receiver, name, template, args, arrow):
            return ("arrow" if arrow else "method", shape(receiver), name.text, template, *map(shape, args))
        case s.Construct(type_, args, braces):
            return ("construct", type_, braces, *map(shape, args))
        case s.Braces(items):
            return ("braces", *map(shape, items))
        case s.Index(value, index):
            return ("index", shape(value), shape(index))
        case s.Unary(op, operand):
            return (op, shape(operand))
        case s.Binary(op, left, right):
            return (op, shape(left), shape(right))
        case s.Conditional(test, then, other):
            return ("?", shape(test), shape(then), shape(other))
        case s.Lambda(param_type, param, body):
            return ("lambda", param_type, param.text, shape(body))
        case s.Comprehension(value, names, sources, test):
            walked = [n.text for n in names]
            return ("list", shape(value), *walked, *map(shape, sources), None if test is None else shape(test))
        case s.Fold(accumulator, initial, names, sources, value):
            walked = [n.text for n in names]
            return ("fold", accumulator.text, shape(initial), *walked, *map(shape, sources), shape(value))


def divide(left: int, right: int) -> int:
    """C++ cuts towards zero where Python rounds down."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def shift(left: int, right: int, move: Callable[[int, int], int]) -> int:
    if not 0 <= right < 64 or left < 0:
        raise ValueError("C++ does not say what this is")
    return move(left, right)


BINARY: dict[str, Callable[[int, int], int]] = {
    "*": operator.mul,
    "/": divide,
    "%": lambda a, b: a - b * divide(a, b),
    "+": operator.add,
    "-": operator.sub,
    "<<": lambda a, b: shift(a, b, operator.lshift),
    ">>": lambda a, b: shift(a, b, operator.rshift),
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "&": operator.and_,
    "^": operator.xor,
    "|": operator.or_,
}
UNARY: dict[str, Callable[[int], int]] = {"-": operator.neg, "+": operator.pos, "!": operator.not_, "~": operator.invert}


def evaluate(expr: s.Expr) -> int:
    """The value of an expression over whole numbers, as C++ has it.

    Raises:
        ArithmeticError: C++ does not define it, such as a division by zero or what does not fit 62 bits.
        ValueError: the same, of a shift.
    """
    value = int(_evaluate(expr))
    if abs(value) >= 1 << 62:
        raise OverflowError(value)
    return value


def _evaluate(expr: s.Expr) -> int:
    match expr:
        case s.Number(text):
            assert number_problem(text) == ""
            return int(text.rstrip("lLuU"))
        case s.Unary(op, operand):
            return UNARY[op](evaluate(operand))
        case s.Binary("&&", left, right):
            return bool(evaluate(left)) and bool(evaluate(right))
        case s.Binary("||", left, right):
            return bool(evaluate(left)) or bool(evaluate(right))
        case s.Binary(op, left, right):
            return BINARY[op](evaluate(left), evaluate(right))
        case s.Conditional(test, then, other):
            return evaluate(then) if evaluate(test) else evaluate(other)
        case _:
            raise AssertionError(f"no number: {cast(object, expr)}")


def shape_of_ir(expr: ir.Expr) -> Shape:
    """The same of an IR expression, over the nodes that only name what is written."""
    match expr:
        case ir.Constant(name):
            return ("name", name)
        case ir.Number(text):
            return ("number", text)
        case ir.String(value):
            return ("string", value)
        case ir.Call(function, args, template):
            return ("call", function, template, *map(shape_of_ir, args))
        case ir.Method(receiver, name, args, arrow, template):
            return ("arrow" if arrow else "method", shape_of_ir(receiver), name, template, *map(shape_of_ir, args))
        case ir.Construct(type_, args, braces):
            return ("construct", type_, braces, *map(shape_of_ir, args))
        case ir.Braces(items):
            return ("braces", *map(shape_of_ir, items))
        case ir.Index(value, index):
            return ("index", shape_of_ir(value), shape_of_ir(index))
        case ir.Unary(op, operand):
            return (op, shape_of_ir(operand))
        case ir.Binary(op, left, right):
            return (op, shape_of_ir(left), shape_of_ir(right))
        case ir.Conditional(test, then, other):
            return ("?", shape_of_ir(test), shape_of_ir(then), shape_of_ir(other))
        case ir.Lambda(param_type, param, body):
            return ("lambda", param_type, param, shape_of_ir(body))
        case _:
            raise AssertionError(f"not as written: {expr}")
