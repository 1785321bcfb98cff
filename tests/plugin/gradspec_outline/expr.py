"""Formulas as a reader would write them; knows nothing of ops."""

from __future__ import annotations

from typing import assert_never

from gradspec import ir


def formula_text(expr: ir.Expr) -> str:
    """A formula in one line."""
    match expr:
        case ir.Input(name) | ir.Output(name) | ir.Saved(name) | ir.Cotangent(_, name) | ir.Local(name) | ir.Constant(name):
            return name
        case ir.Cotangents():
            return "grads"
        case ir.InputMask():
            return "grad_input_mask"
        case ir.RetainVariables():
            return "retain_variables"
        case ir.Tangent(name):
            return f"d{name}"
        case ir.Primal(name):
            return name
        case ir.ElementIndex():
            return "i"
        case ir.Bool(value):
            return str(value).lower()
        case ir.Number(text):
            return text
        case ir.String(value):
            return f"“{value}”"
        case ir.Call(function, args):
            return f"{function}({_list(args)})"
        case ir.Method(receiver, name, args):
            return f"{_operand(receiver)}.{name}({_list(args)})"
        case ir.Construct(type_, args):
            return f"{type_.name}({_list(args)})"
        case ir.Braces(items):
            return f"{{{_list(items)}}}"
        case ir.Index(value, index):
            return f"{_operand(value)}[{formula_text(index)}]"
        case ir.Unary(op, operand):
            return f"{op}{_operand(operand)}"
        case ir.Binary(op, left, right):
            return f"{_operand(left)} {op} {_operand(right)}"
        case ir.Conditional(test, then, other):
            return f"{_operand(test)} ? {_operand(then)} : {_operand(other)}"
        case ir.Lambda(_, param, body):
            return f"{param} ↦ {formula_text(body)}"
        case ir.Comprehension(value, names, sources, test):
            condition = "" if test is None else f" where {formula_text(test)}"
            return f"[{formula_text(value)} for {', '.join(names)} in {_list(sources)}{condition}]"
        case ir.Fold(accumulator, initial, names, sources, value):
            each = f"{', '.join(names)} in {_list(sources)}"
            return f"{accumulator} from {formula_text(initial)}, for {each}: {formula_text(value)}"
        case _:
            # mypy says here which kind of expression this backend has forgotten.
            assert_never(expr)


def _list(args: tuple[ir.Expr, ...]) -> str:
    return ", ".join(formula_text(a) for a in args)


def _operand(expr: ir.Expr) -> str:
    """A part of a larger formula: brackets wherever a reader might ask."""
    text = formula_text(expr)
    return f"({text})" if isinstance(expr, ir.Unary | ir.Binary | ir.Conditional | ir.Lambda) else text
