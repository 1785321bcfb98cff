"""What a saved value of each type can be: what is put into the node, and what is to be read; knows no node."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any

from attrs import frozen

MOST, LEAST = 2**63 - 1, -(2**63)

TensorOptions = namedtuple("TensorOptions", "dtype layout device requires_grad pinned_memory memory_format")
TensorInfo = namedtuple("TensorInfo", "sizes options")
TensorGeometry = namedtuple("TensorGeometry", "sizes strides storage_offset")


@frozen
class Sample:
    """One value: what is put, and what is read."""

    put: Any
    read: Any


def tensor() -> Any:
    """A small tensor."""
    import torch

    return torch.arange(3, dtype=torch.float64)


@cache
def symbolic_int() -> Any:
    """An int that stays symbolic: of a size that only a run knows."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    return ShapeEnv().create_unbacked_symint()


def _kept(values: list[Any]) -> list[Sample]:
    return [Sample(value, value) for value in values]


def _of_tensors() -> list[tuple[Any, tuple[int, ...], tuple[int, ...], int]]:
    import torch

    empty, transposed = torch.empty(0, dtype=torch.int8), torch.ones(4, 5, dtype=torch.complex64).t()[1:]
    return [(transposed, (4, 4), (1, 5), 1), (torch.tensor(True), (), (), 0), (empty, (0,), (1,), 0)]


@cache
def samples(type_: str) -> list[Sample]:
    """The samples of a type, in the schema language's spelling; the first is neither empty nor absent.

    Raises:
        KeyError: there are none for this type.
    """
    import torch

    def options(value: Any) -> TensorOptions:
        return TensorOptions(value.dtype, value.layout, value.device, None, None, None)

    numbers = [-1, 0, MOST, LEAST]
    floats = [2.5, -0.0, float("inf"), float("nan")]
    scalars = [True, False, -3, MOST, LEAST, 2**64 - 1, -0.0, 1e300, 1 - 2j, symbolic_int()]
    base: dict[str, list[Any]] = {
        "Tensor": [tensor()],
        "int": numbers,
        "SymInt": [*numbers, symbolic_int()],
        "float": floats,
        "bool": [True, False],
        "Scalar": scalars,
        "str": ["tanh", "", "naïve \0 \U0001f600"],
        "ScalarType": [torch.bfloat16, torch.bool, torch.complex128, torch.quint8],
        "Layout": [torch.sparse_csr, torch.strided],
    }
    lists: dict[str, list[Any]] = {
        "Tensor[]": [(tensor(), tensor() + 1), ()],
        "Tensor?[]": [(tensor(), None), ()],
        "int[]": [tuple(numbers), ()],
        "SymInt[]": [(symbolic_int(), *numbers), ()],
        "float[]": [tuple(floats), ()],
        "Scalar[]": [tuple(scalars), ()],
        "ScalarType[]": [(torch.float64, torch.int8), ()],
        "int[][]": [((-1, 2), (), (MOST,)), ()],
        "SymInt[][]": [((symbolic_int(), -2), (), (MOST,)), ()],
    }
    if type_ in ("TensorOptions", "TensorInfo", "TensorGeometry"):
        found = []
        for t, sizes, strides, offset in _of_tensors():
            made = {
                "TensorOptions": options(t),
                "TensorInfo": TensorInfo(sizes, options(t)),
                "TensorGeometry": TensorGeometry(sizes, strides, offset),
            }
            found.append(Sample(t, made[type_]))
        return found
    known = base | lists
    if type_.endswith("?"):
        return _kept([*known[type_[:-1]], None])
    return _kept(known[type_])
