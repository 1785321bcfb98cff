"""Forward mode: the formulas that `auto_linear` and `auto_element_wise` stand for, and what a formula reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradspec.ir import (
    Call,
    Constant,
    Cotangent,
    Derivative,
    Expr,
    Input,
    InputInfo,
    Method,
    Primal,
    Schema,
    Tangent,
    rewrite,
    walk,
)
from gradspec.types import OPTIONS_ARGUMENTS, has_symint, is_tensor_like


def linear_formula(schema: Schema, differentiable: Iterable[str], *, has_function: bool) -> Expr:
    """The op itself, called with the tangents in place of its differentiable inputs.

    In the `_symint` form where the schema has symbolic ints, and as a method where the op is no function
    (the rule is that of torchgen's load_derivatives.postprocess_forward_derivatives).
    """
    moving = set(differentiable)
    names = [a.name for a in schema.arguments]
    grouped = all(n in names for n in OPTIONS_ARGUMENTS)
    args: list[Expr] = []
    for argument in schema.arguments:
        if argument.name in moving:
            args.append(Tangent(argument.name))
        elif grouped and argument.name in OPTIONS_ARGUMENTS:
            if argument.name == OPTIONS_ARGUMENTS[0]:
                args.append(Constant("options"))
        else:
            args.append(Input(argument.name, argument.type))
    suffix = "_symint" if any(has_symint(a.type) for a in schema.arguments) else ""
    name = schema.name.base + suffix
    if has_function:
        return Call(f"{schema.name.library or 'at'}::{name}", tuple(args))
    return Method(args[0], name, tuple(args[1:]))


def element_wise_formula(derivative: Derivative) -> Expr:
    """The jvp of an element-wise op from its vjp.

    The Jacobian J is diagonal, and the vjp multiplies by its conjugate: so J t is the conjugate of what the vjp makes of the
    conjugate of t.
    """
    (name,) = derivative.inputs

    def change(expr: Expr) -> Expr | None:
        match expr:
            case Cotangent(name="grad"):
                return Method(Tangent(name), "conj", ())
            case Input(name=used) if used == name:
                return Primal(name)
            case _:
                return None

    return Method(rewrite(derivative.written, change), "conj", ())


def tangents_read(formula: Expr, inputs: Sequence[InputInfo]) -> tuple[str, ...]:
    """The inputs whose tangents a formula reads, in schema order."""
    read = {e.input for e in walk(formula) if isinstance(e, Tangent)}
    return tuple(i.name for i in inputs if i.name in read and is_tensor_like(i.type))


def primals_read(formula: Expr, inputs: Sequence[InputInfo]) -> tuple[str, ...]:
    """The inputs whose primal values a formula reads, in schema order."""
    read = {e.input for e in walk(formula) if isinstance(e, Primal) and not e.original}
    return tuple(i.name for i in inputs if i.name in read and is_tensor_like(i.type))
