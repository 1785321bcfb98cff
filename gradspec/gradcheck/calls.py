"""One call of an operator, whose tensors can be put in and out; knows no operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from attrs import evolve, field, frozen
from torch.utils._pytree import tree_flatten, tree_unflatten

# Make other values of all of a call's, and of all its results, as functions that can be differentiated.
Prepare: TypeAlias = Callable[[list[Any]], list[Any]]
Finish: TypeAlias = Callable[[list[Any]], list[Any]]


@frozen(eq=False)
class Call:
    """One call of an operator: all its arguments, of which those at `places` among the flattened ones are to be moved.

    `note` says what is special about it. `apart`: its tensors do not lie in memory without gaps. `like`: a call that gives
    the same results, unless the operator reads what is not there. `prepare`: what keeps its values in the operator's domain.
    `finish`: what makes results of its results that are determined. `special`: the operator is defined at zeros and ones.
    """

    values: tuple[Any, ...]
    spec: Any
    places: tuple[int, ...]
    note: str = field(default="", kw_only=True)
    apart: bool = field(default=False, kw_only=True)
    like: Call | None = field(default=None, kw_only=True)
    prepare: Prepare | None = field(default=None, kw_only=True)
    finish: Finish | None = field(default=None, kw_only=True)
    special: bool = field(default=True, kw_only=True)

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        """What is differentiated."""
        return tuple(self.values[i] for i in self.places)

    @property
    def size(self) -> int:
        """How many numbers are moved."""
        return sum(t.numel() for t in self.tensors)

    def with_tensors(self, given: Sequence[torch.Tensor]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with other tensors in their places; other tensors are copied, as operators may write to them."""
        values = [v.clone() if isinstance(v, torch.Tensor) else v for v in self.values]
        for place, tensor in zip(self.places, given, strict=True):
            values[place] = with_gaps(tensor) if self.apart else tensor
        if self.prepare is not None:
            values = self.prepare(values)
        args, kwargs = tree_unflatten(values, self.spec)
        return args, kwargs

    def at(self, tensors: Sequence[torch.Tensor], note: str | None = None) -> Call:
        """The same call with other tensors."""
        values = list(self.values)
        for place, tensor in zip(self.places, tensors, strict=True):
            values[place] = tensor
        return evolve(self, values=tuple(values), note=self.note if note is None else note)

    def moving(self, flags: Sequence[bool]) -> Call:
        """The same call with some of its tensors moved."""
        return evolve(self, places=tuple(p for p, moved in zip(self.places, flags, strict=True) if moved))

    def __str__(self) -> str:
        shown = ", ".join(_shown(v) for v in self.values)
        return f"{shown} ({self.note})" if self.note else shown


def with_gaps(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers with others between them; a function of the tensor for every kind of derivative."""
    return torch.stack([tensor, tensor.detach()], -1).select(-1, 0) if tensor.dim() else tensor


def _shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        text = f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
        if value.numel() <= 6:
            return f"{text} {value.tolist()}"
        few = list(dict.fromkeys(value.flatten().tolist()))
        return text if len(few) > 4 else f"{text} of {', '.join(map(str, few))}"
    return repr(value)


def make_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """A call of these arguments; tensors of floating-point and complex numbers are moved."""
    values, spec = tree_flatten((args, kwargs))
    values = [v.detach().clone() if isinstance(v, torch.Tensor) else v for v in values]
    places = [i for i, v in enumerate(values) if isinstance(v, torch.Tensor) and (v.is_floating_point() or v.is_complex())]
    return Call(tuple(values), spec, tuple(places))
