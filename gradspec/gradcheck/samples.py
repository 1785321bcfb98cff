"""Calls of an operator to check it with: recorded from torch's own samples, else made from the schema; knows no derivative."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from attrs import frozen
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten

from gradspec.ir import Argument, Op
from gradspec.types import BaseType, ListType, OptionalType, Type

# More elements than this make differences slow, and show nothing new.
_MOST_ELEMENTS = 3000
_FIRST_CALLS = 4


@frozen(eq=False)
class Call:
    """One call of an operator: all its arguments, of which those at `places` among the flattened ones are to be moved."""

    values: tuple[Any, ...]
    spec: Any
    places: tuple[int, ...]

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        """What is differentiated."""
        return tuple(self.values[i] for i in self.places)

    def with_tensors(self, given: Sequence[torch.Tensor]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with other tensors in their places."""
        values = list(self.values)
        for place, tensor in zip(self.places, given, strict=True):
            values[place] = tensor
        args, kwargs = tree_unflatten(values, self.spec)
        return args, kwargs

    def at(self, tensors: Sequence[torch.Tensor]) -> Call:
        """The same call with other tensors."""
        values = list(self.values)
        for place, tensor in zip(self.places, tensors, strict=True):
            values[place] = tensor
        return Call(tuple(values), self.spec, self.places)

    def __str__(self) -> str:
        return ", ".join(_shown(v) for v in self.values)


def _shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        text = f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
        return text if value.numel() > 6 else f"{text} {value.tolist()}"
    return repr(value)


def make_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """A call of these arguments; tensors of floating-point and complex numbers are moved."""
    values, spec = tree_flatten((args, kwargs))
    values = [v.detach().clone() if isinstance(v, torch.Tensor) else v for v in values]
    places = [i for i, v in enumerate(values) if isinstance(v, torch.Tensor) and (v.is_floating_point() or v.is_complex())]
    return Call(tuple(values), spec, tuple(places))


def overload_of(op: Op) -> Any:
    """The operator in torch, None where it has none of that name."""
    name = op.schema.name
    try:
        packet = getattr(getattr(torch.ops, name.library or "aten"), name.base)
        return getattr(packet, name.overload or "default")
    except AttributeError:
        return None


def calls_of(op: Op, seed: int) -> Iterator[Call]:
    """Calls of the operator, small ones first."""
    overload = overload_of(op)
    found: list[Call] = []
    for dtype in (torch.float64, torch.complex128):
        recorded = list(islice(_recorded(op, overload, dtype, seed), _FIRST_CALLS))
        found += recorded or list(_made(op, overload, dtype, seed))
        found += [v for c in recorded[-1:] if (v := _with_other_numbers(op, overload, c)) is not None]
    yield from sorted(found, key=lambda c: sum(t.numel() for t in c.tensors))


def _with_other_numbers(op: Op, overload: Any, call: Call) -> Call | None:
    """The call with another value for each Scalar that it leaves at its default: a forgotten factor of 1 never shows."""
    args, kwargs = call.with_tensors(call.tensors)
    left = [a for a in op.schema.keyword if a.type == BaseType("Scalar") and kwargs.get(a.name, 1) == 1]
    if not left:
        return None
    varied = make_call(args, kwargs | {a.name: 1.75 for a in left})
    try:
        overload(*args, **kwargs | {a.name: 1.75 for a in left})
    except Exception:
        return None
    return varied


class _Recorder(TorchDispatchMode):  # type: ignore[misc]
    """Notes every call of one operator."""

    def __init__(self, overload: Any) -> None:
        super().__init__()
        self.overload = overload
        self.calls: list[Call] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note the call, and let it go on."""
        if func is self.overload:
            self.calls.append(make_call(args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def _recorded(op: Op, overload: Any, dtype: torch.dtype, seed: int) -> Iterator[Call]:
    from torch.testing._internal.common_methods_invocations import op_db

    base = op.schema.name.base
    names = {base, base.strip("_"), base.removesuffix("_backward"), base.removeprefix("native_")}
    for info in op_db:
        known = {info.name, info.name.rpartition(".")[2], info.aten_name, *[a.name for a in info.aliases]}
        if not names & known or dtype not in info.supported_dtypes("cpu"):
            continue
        torch.manual_seed(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                samples = list(islice(info.sample_inputs("cpu", dtype), 12))
            except Exception:
                continue
            for sample in samples:
                recorder = _Recorder(overload)
                try:
                    with recorder:
                        info.op(sample.input, *sample.args, **sample.kwargs)
                except Exception:
                    continue
                yield from (c for c in recorder.calls if 0 < sum(t.numel() for t in c.tensors) <= _MOST_ELEMENTS)


def _made(op: Op, overload: Any, dtype: torch.dtype, seed: int) -> Iterator[Call]:
    """Calls whose arguments come from their types alone."""
    for shape in ((2, 3), (), (3, 3), (0, 2)):
        generator = torch.Generator().manual_seed(seed)
        arguments = [(a, _value(a, a.type, shape, dtype, generator)) for a in op.schema.arguments]
        positional = tuple(v for a, v in arguments if a in op.schema.positional)
        call = make_call(positional, {a.name: v for a, v in arguments if a not in op.schema.positional})
        try:
            overload(*positional, **{a.name: v for a, v in arguments if a not in op.schema.positional})
        except Exception:
            continue
        yield call


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
