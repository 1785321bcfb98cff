"""Evaluates a formula of the IR with torch, in Python: what the specs' mathematics is checked with; knows no backend."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from attrs import Factory, evolve, frozen

from gradspec import ir

# What C++ has and Python spells otherwise.
_CONSTANTS: dict[str, Any] = {
    "M_PI": math.pi,
    "::std::nullopt": None,
    "at::kStrided": torch.strided,
    "at::Reduction::Mean": 1,
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "*": operator.mul, "+": operator.add, "-": operator.sub, "%": math.fmod, "<<": operator.lshift, ">>": operator.rshift,
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "&": operator.and_, "^": operator.xor, "|": operator.or_,
}  # fmt: skip
_UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg, "+": operator.pos, "!": operator.not_, "~": operator.invert, "*": lambda value: value,
}  # fmt: skip


@frozen
class Options:
    """A tensor's options."""

    dtype: torch.dtype


@frozen
class Environment:
    """What the names of a formula stand for.

    `functions` are those that torch does not have, by their full names. `element` is the position in a foreach op's lists, and
    `masked` the number of inputs that the formula is for.
    """

    inputs: Mapping[str, Any] = Factory(dict)
    outputs: Mapping[str, Any] = Factory(dict)
    gradients: tuple[Any, ...] = ()
    tangents: Mapping[str, Any] = Factory(dict)
    functions: Mapping[str, Callable[..., Any]] = Factory(dict)
    element: int = 0
    masked: int = 0
    locals: Mapping[str, Any] = Factory(dict)


def evaluate(expr: ir.Expr, env: Environment) -> Any:
    """The value of a formula over inputs and outputs (not over saved values).

    Raises:
        NotImplementedError: a construct, a constant or a function that has no counterpart here.
    """
    match expr:
        case ir.Input(name) | ir.Primal(name):
            return env.inputs[name]
        case ir.Output(name):
            return env.outputs[name]
        case ir.Cotangent(index):
            return env.gradients[index]
        case ir.Cotangents():
            return list(env.gradients)
        case ir.Tangent(name):
            return env.tangents[name]
        case ir.InputMask():
            return [True] * env.masked
        case ir.RetainVariables():
            return True
        case ir.ElementIndex():
            return env.element
        case ir.Local(name):
            return env.locals[name]
        case ir.Constant(name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ir.Bool(value) | ir.String(value):
            return value
        case ir.Number(text):
            return _number(text)
        case ir.Braces(items):
            return [evaluate(i, env) for i in items]
        case ir.Index(value, index):
            return evaluate(value, env)[evaluate(index, env)]
        case ir.Unary(op, operand):
            return _UNARY[op](evaluate(operand, env))
        case ir.Binary("&&" | "||" as op, left, right):
            first = evaluate(left, env)
            return evaluate(right, env) if bool(first) == (op == "&&") else first
        case ir.Binary("/", left, right):
            return _divide(evaluate(left, env), evaluate(right, env))
        case ir.Binary(op, left, right):
            return _BINARY[op](evaluate(left, env), evaluate(right, env))
        case ir.Conditional(test, then, other):
            return evaluate(then if evaluate(test, env) else other, env)
        case ir.Lambda(_, param, body):
            return lambda value: evaluate(body, _with_local(env, param, value))
        case ir.Construct(type_, args, braces):
            return _construct(type_.name, [evaluate(a, env) for a in args], braces)
        case ir.Call(function, args):
            return _call(function, [evaluate(a, env) for a in args], env, expr.template)
        case ir.Method(receiver, name, args):
            return _method(evaluate(receiver, env), name, [evaluate(a, env) for a in args])
        case ir.Comprehension(value, names, sources, test):
            inner = _walk(names, sources, env)
            return [evaluate(value, e) for e in inner if test is None or evaluate(test, e)]
        case ir.Fold(accumulator, initial, names, sources, value):
            last = evaluate(initial, env)
            for element in _walk(names, sources, env):
                last = evaluate(value, _with_local(element, accumulator, last))
            return last
        case _:
            raise NotImplementedError(expr)


def as_callables(functions: Iterable[ir.Function]) -> dict[str, Callable[..., Any]]:
    """Functions of the language by name, for an environment: none of them may have overloads."""
    callables: dict[str, Callable[..., Any]] = {}
    for function in functions:
        callables[function.name] = partial(_called, function, callables)
    return callables


def _called(function: ir.Function, others: Mapping[str, Callable[..., Any]], *args: Any) -> Any:
    env = Environment(functions=others)
    for parameter, arg in zip(function.parameters, args, strict=True):
        env = _with_local(env, parameter.name, arg)
    for statement in function.statements:
        match statement:
            case ir.Let((name,), value):
                env = _with_local(env, name, evaluate(value, env))
            case ir.Let(names, value):
                for name, part in zip(names, evaluate(value, env), strict=True):
                    env = _with_local(env, name, part)
            case ir.Guard(test, value):
                if evaluate(test, env):
                    return evaluate(value, env)
    return evaluate(function.result, env)


def _walk(names: Iterable[str], sources: Iterable[ir.Expr], env: Environment) -> Iterator[Environment]:
    """The environment of each step of a walk over lists."""
    for elements in zip(*[evaluate(x, env) for x in sources], strict=True):
        yield evolve(env, locals={**env.locals, **dict(zip(names, elements, strict=True))})


def _with_local(env: Environment, name: str, value: Any) -> Environment:
    return evolve(env, locals={**env.locals, name: value})


def _number(text: str) -> int | float:
    plain = text.replace("'", "").lower()
    if plain.startswith("0x"):
        return int(plain, 16)
    plain = plain.rstrip("ul")
    return int(plain) if plain.isdigit() else float(plain)


def _divide(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        return int(left / right)
    return left / right


def _construct(name: str, args: list[Any], braces: bool) -> Any:
    last = name.rpartition("::")[2]
    if last in ("tuple", "pair"):
        return tuple(args)
    if last == "optional":
        return args[0] if args else None
    if last == "vector" and len(args) == 2 and not braces:
        return [args[1]] * args[0]
    if last in ("vector", "array"):
        return args
    if last == "Scalar":
        return args[0]
    if last == "TensorOptions" and not args:
        return Options(torch.get_default_dtype())
    raise NotImplementedError(name)


def _call(function: str, args: list[Any], env: Environment, template: tuple[ir.TypeRef | str, ...]) -> Any:
    match function, args:
        case "std::get", [value]:
            return value[int(str(template[0]))]
        case "std::make_tuple", _:
            return tuple(args)
        case "std::log", [value]:
            return math.log(value)
        case "static_cast" | "at::IntArrayRef", [value]:
            return value
        case "Tensor", []:
            return None
        case "fmap", [values, change]:
            return [change(v) for v in values]
        case "at::zeros" | "at::zeros_symint", [sizes, Options(dtype)]:
            return torch.zeros(sizes, dtype=dtype)
        case "at::empty_strided_symint", [sizes, strides, Options(dtype)]:
            return torch.empty_strided(sizes, strides, dtype=dtype)
        case "at::scalar_tensor", [value, Options(dtype)]:
            return torch.scalar_tensor(value, dtype=dtype)
        case "at::div", [left, right, mode]:
            return torch.div(left, right, rounding_mode=mode)
        case "at::sum_to", [value, sizes]:
            return value.sum_to_size(sizes)
    plain = function.removesuffix("_symint")
    if plain in env.functions:
        return env.functions[plain](*args)
    if plain.startswith("at::"):
        return getattr(torch.ops.aten, plain.removeprefix("at::"))(*args)
    raise NotImplementedError(function)


def _method(receiver: Any, name: str, args: list[Any]) -> Any:
    match name, args:
        case "defined" | "has_value", []:
            return receiver is not None
        case "value_or", [other]:
            return other if receiver is None else receiver
        case "equal", [other]:
            return receiver == other
        case "sym_sizes", []:
            return None if receiver is None else list(receiver.shape)
        case "sym_strides", []:
            return list(receiver.stride())
        case "sym_size", [dim]:
            return receiver.shape[dim]
        case "sym_numel", []:
            return receiver.numel()
        case "options", []:
            return Options(receiver.dtype)
        case "scalar_type", []:
            return receiver.dtype
        case "layout", []:
            return receiver.layout
        case "empty", [] if isinstance(receiver, list):
            return not receiver
        case "size", [] if isinstance(receiver, list | tuple):
            return len(receiver)
        case "toDouble" | "to", [] if isinstance(receiver, int | float):
            return float(receiver)
        case "conj", [] if isinstance(receiver, int | float | complex):
            return receiver.conjugate()
        case "to", [Options(dtype)]:
            return receiver.to(dtype)
        case "mH" | "mT", []:
            return getattr(receiver, name)
        case "slice", _:
            return torch.ops.aten.slice(receiver, *args)
        case "add_", [value, alpha]:
            return receiver.add_(value, alpha=alpha)
    return getattr(receiver, name.removesuffix("_symint"))(*args)
