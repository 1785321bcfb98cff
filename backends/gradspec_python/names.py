"""Names in emitted modules: of functions, arguments and locals; knows no expression."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable

from gradspec.ir import Op

# What every emitted function may read: no argument may hide it.
_IN_SCOPE = frozenset({"torch", "aten", "math", "Tensor", "grads", "needs_input_grad", "ctx", "inputs", "output"})
_MODULES = frozenset({"functools", "cmath", "ctypes"})
_USED_BUILTINS = frozenset(
    {"abs", "all", "any", "bool", "complex", "float", "getattr", "int", "isinstance", "len", "list", "range", "tuple", "zip"}
)


def python_name(name: str) -> str:
    """An argument's name in Python: with an underscore behind it where the plain one has a meaning of its own.

    What would be taken for such a name gets one too, so that two names stay two.
    """
    plain = name.rstrip("_")
    meant = keyword.iskeyword(plain) or plain in _IN_SCOPE or plain in _MODULES or plain in _USED_BUILTINS
    return f"{name}_" if meant else name


def local_name(name: str) -> str:
    """The name of a function's parameter, or of a value in it: never one that begins as those of helpers do."""
    return f"local_{name}" if name.startswith(("_", "local_")) else python_name(name)


def unique(name: str, taken: Iterable[str]) -> str:
    """The name, or the first one with underscores behind it that nobody has."""
    while name in taken:
        name += "_"
    return name


def op_name(op: Op) -> str:
    """What tells an op's functions from those of all others: base name, overload and dispatch key."""
    parts = [op.schema.name.library, op.schema.name.base, op.schema.name.overload]
    if op.dispatch != "Default":
        parts.append(op.dispatch)
    return "_".join(p for p in parts if p)


def function_names(ops: Iterable[Op], taken: Iterable[str]) -> dict[int, tuple[str, str]]:
    """The names of each op's pure function and of its differentiable function, by `id(op)`.

    Pure functions are always `<op>_backward`. An op that is called like one (`tanh_backward` is the gradient of `tanh` too) gets
    `_op` behind its name, and one that is called like a builtin an underscore.
    """
    ops = tuple(ops)
    pure = {id(op): f"{op_name(op)}_backward" for op in ops}
    used = {*pure.values(), *taken, *dir(builtins), *_IN_SCOPE}
    found: dict[int, tuple[str, str]] = {}
    for op in ops:
        name = op_name(op)
        if name in pure.values():
            name += "_op"
        name = unique(f"{name}_" if keyword.iskeyword(name) else name, used)
        used.add(name)
        found[id(op)] = (pure[id(op)], name)
    return found
