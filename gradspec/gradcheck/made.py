"""Calls of an operator made from its schema alone; knows no derivative."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from attrs import define, field

from gradspec.gradcheck.calls import Call, make_call
from gradspec.gradcheck.recorded import DTYPES
from gradspec.ir import Argument, Op
from gradspec.types import BaseType, ListType, OptionalType, Type, is_tensor_like

_Shape = tuple[int, ...]
_SHAPES: tuple[_Shape, ...] = ((2, 3), (), (3, 3), (0, 2), (2, 3, 4), (2, 2, 4, 4))
# Shapes of the tensors of one call, in turn: what is broadcast, and what is multiplied as matrices.
_MIXED: tuple[tuple[_Shape, ...], ...] = (
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 3), ()),
    ((2, 1), (1, 3)),
    ((2, 3), (3, 2)),
    ((2, 3), (4, 3), (4,)),
)


@define
class _Maker:
    """Values by types. `shapes` are given to the tensors in turn; `other`: switches are turned, and what may be absent is.

    `whole`: tensors that hold indices, if those inputs are such.
    """

    dtype: torch.dtype
    shapes: Sequence[_Shape]
    seed: int
    other: bool = False
    whole: frozenset[str] = frozenset()
    _generator: torch.Generator = field(init=False)
    _made: list[_Shape] = field(init=False, factory=list)

    def __attrs_post_init__(self) -> None:
        self._generator = torch.Generator().manual_seed(self.seed)

    def call(self, op: Op) -> Call:
        values = [(a, self.value(a, a.type)) for a in op.schema.arguments]
        positional = tuple(v for a, v in values if a in op.schema.positional)
        return make_call(positional, {a.name: v for a, v in values if a not in op.schema.positional})

    def tensor(self, argument: Argument) -> torch.Tensor:
        shape = self.shapes[len(self._made) % len(self.shapes)]
        self._made.append(shape)
        if argument.name in self.whole:
            return torch.randint(0, 2, shape, generator=self._generator)
        return torch.randn(shape, dtype=self.dtype, generator=self._generator)

    def value(self, argument: Argument, type_: Type) -> Any:
        match type_:
            case OptionalType() if self.other:
                return None
            case OptionalType(BaseType("Tensor")):
                return self.tensor(argument)
            case OptionalType(BaseType("Scalar" | "float")):
                return 0.5
            case OptionalType():
                return None
            case ListType(BaseType("Tensor")):
                return [self.tensor(argument) for _ in range(2)]
            case ListType(BaseType("Scalar") as elem, size):
                # One for each tensor of a list.
                return [self.value(argument, elem)] * (size or 2)
            case ListType(elem, size):
                return [self.value(argument, elem)] * (size or 1)
            case BaseType("Tensor"):
                return self.tensor(argument)
            case BaseType("Scalar" | "float"):
                return 0.75 if self.other else 1.5
            case BaseType("bool"):
                return (argument.default == "True") is not self.other
            case BaseType("int" | "SymInt"):
                text = argument.default or ("0" if self.other else "1")
                return int(text) if text.lstrip("-").isdigit() else 1
            case BaseType("str"):
                return (argument.default or "").strip("'\"")
            case _:
                return None


def made_calls(op: Op, seed: int) -> Iterator[Call]:
    """Calls whose arguments come from their types."""
    for dtype in DTYPES:
        for shape in _SHAPES:
            yield _Maker(dtype, (shape,), seed).call(op)


def own_calls(op: Op, seed: int) -> Iterator[Call]:
    """Those, and more for an operator that nobody has samples of: tensors of several shapes, and other values beside them."""
    yield from made_calls(op, seed)
    tensors = [a.name for a in op.schema.arguments if is_tensor_like(a.type)]
    still = frozenset(tensors) - {i.name for i in op.differentiable_inputs}
    for dtype in DTYPES:
        if any(not isinstance(a.type, BaseType) or a.type.name != "Tensor" for a in op.schema.arguments):
            yield _Maker(dtype, _SHAPES[:1], seed, other=True).call(op)
        if still:
            for shape in _SHAPES:
                yield _Maker(dtype, (shape,), seed, whole=still).call(op)
            yield _Maker(dtype, ((4, 3), (2,)), seed, whole=still).call(op)
        if len(tensors) > 1:
            for shapes in _MIXED:
                yield _Maker(dtype, shapes, seed).call(op)
