"""Calls of an operator made from its schema alone; knows no derivative."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from gradspec.gradcheck.calls import Call, make_call
from gradspec.gradcheck.recorded import DTYPES
from gradspec.ir import Argument, Op
from gradspec.types import BaseType, ListType, OptionalType, Type

_SHAPES = ((2, 3), (), (3, 3), (0, 2), (2, 3, 4), (2, 2, 4, 4))


def made_calls(op: Op, seed: int) -> Iterator[Call]:
    """Calls whose arguments come from their types."""
    for dtype in DTYPES:
        for shape in _SHAPES:
            generator = torch.Generator().manual_seed(seed)
            arguments = [(a, _value(a, a.type, shape, dtype, generator)) for a in op.schema.arguments]
            positional = tuple(v for a, v in arguments if a in op.schema.positional)
            yield make_call(positional, {a.name: v for a, v in arguments if a not in op.schema.positional})


def _value(argument: Argument, type_: Type, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> Any:
    match type_:
        case OptionalType(BaseType("Tensor")):
            return torch.randn(shape, dtype=dtype, generator=generator)
        case OptionalType(BaseType("Scalar" | "float")):
            return 0.5
        case OptionalType():
            return None
        case ListType(BaseType("Tensor")):
            return [torch.randn(shape, dtype=dtype, generator=generator) for _ in range(2)]
        case ListType(BaseType("Scalar") as elem, size):
            # One for each tensor of a list.
            return [_value(argument, elem, shape, dtype, generator)] * (size or 2)
        case ListType(elem, size):
            return [_value(argument, elem, shape, dtype, generator)] * (size or 1)
        case BaseType("Tensor"):
            return torch.randn(shape, dtype=dtype, generator=generator)
        case BaseType("Scalar" | "float"):
            return 1.5
        case BaseType("bool"):
            return argument.default == "True"
        case BaseType("int" | "SymInt"):
            text = argument.default or "1"
            return int(text) if text.lstrip("-").isdigit() else 1
        case _:
            return None
