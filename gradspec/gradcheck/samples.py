"""Calls of an operator to check it with: recorded from torch's own samples, else made; knows no derivative.

Nothing is run here: a call that the operator refuses, or that ends the process, is found out where it is checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from attrs import evolve

from gradspec.gradcheck.calls import Call, make_call
from gradspec.gradcheck.domains import domain_of, finish_of, has_special_points
from gradspec.gradcheck.made import made_calls, own_calls
from gradspec.gradcheck.recipes import recipe_calls
from gradspec.gradcheck.recorded import DTYPES, recorded_calls
from gradspec.ir import Op
from gradspec.types import BaseType


def overload_of(op: Op) -> Any:
    """The operator in torch, None where it has none of that name."""
    return _overload(op.schema.name.library or "aten", op.schema.name.base, op.schema.name.overload)


def in_place_of(op: Op) -> Any:
    """Torch's operator of the same arguments that writes to the first one, which has no entry of its own; None without one."""
    schema = op.schema
    if schema.is_inplace or op.schema.returns_view:
        return None
    found = _overload(schema.name.library or "aten", f"{schema.name.base}_", schema.name.overload)
    names = [a.name for a in schema.arguments]
    return found if found is not None and [a.name for a in found._schema.arguments] == names else None


def _overload(library: str, base: str, overload: str) -> Any:
    try:
        return getattr(getattr(getattr(torch.ops, library), base), overload or "default")
    except AttributeError:
        return None


# Where torch looks for a gradient: a formula of an operator, or what it is composed of.
_GRADIENTS = ("Autograd", "AutogradCPU", "CompositeImplicitAutograd")


def has_gradient(overload: Any) -> bool:
    """Whether torch has a kernel that differentiates an operator."""
    name = overload.name()
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in _GRADIENTS)


def is_own(op: Op) -> bool:
    """Whether the op is of a library of a person's own: torch's samples call none of these."""
    return op.schema.name.library not in ("", "aten")


def calls_of(op: Op, seed: int) -> list[Call]:
    """Calls of the operator, small ones first. Those from torch's samples come with others that are made of them."""
    overload = overload_of(op)
    if is_own(op) or overload is None:
        made = list(own_calls(op, seed))
        whole = [c for c in made if c.tensors and all(t.shape == made[0].tensors[0].shape for t in c.tensors)]
        found = sorted([*made, *[v for c in whole[:1] for v in _varied(op, c)]], key=lambda c: c.size)
        return [evolve(c, prepare=domain_of(op), finish=finish_of(op), special=has_special_points(op)) for c in found]
    recorded = recorded_calls(op.schema.name.base, overload, seed)
    if op.foreach:
        recorded = [c.at([_cut(t) for t in c.tensors]) for c in recorded]
    varied: list[Call] = []
    for dtype in DTYPES:
        ours = [c for c in recorded if any(t.dtype == dtype for t in c.tensors)]
        if ours:
            varied += _varied(op, max(ours, key=lambda c: len(c.tensors)))
    recipes = list(recipe_calls(str(op.name), seed))
    found = sorted([*recorded, *varied, *recipes] or made_calls(op, seed), key=lambda c: c.size)
    return [evolve(c, prepare=domain_of(op), finish=finish_of(op), special=has_special_points(op)) for c in found]


def _varied(op: Op, call: Call) -> Iterator[Call]:
    """The call with other numbers, gaps in memory, nothing in its tensors, and sizes of 1."""
    args, kwargs = call.with_tensors(call.tensors)
    # A forgotten factor of 1 never shows.
    left = [a for a in op.schema.keyword if a.type == BaseType("Scalar") and kwargs.get(a.name, 1) == 1]
    if left:
        yield make_call(args, kwargs | {a.name: 1.75 for a in left})
    tensors = call.tensors
    if any(t.numel() > 1 for t in tensors):
        yield evolve(call, apart=True, note="gaps in memory")
    sized = next((t for t in tensors if t.dim()), None)
    if sized is not None:
        yield call.at([_emptied(t, sized.shape[0]) for t in tensors], "emptied")
    # Beside a tensor of the same shape alone: a kernel may read what another one is too short for.
    widest = max((t.shape for t in tensors), key=lambda shape: shape.numel(), default=torch.Size())
    alike = [i for i, t in enumerate(tensors) if t.shape == widest]
    if len(alike) > 1 and widest and widest[0] > 1:
        for i in alike:
            narrow = tensors[i].narrow(0, 0, 1).clone()
            spread = narrow.expand(widest).clone()
            whole = call.at([spread if j == i else t for j, t in enumerate(tensors)])
            yield evolve(call.at([narrow if j == i else t for j, t in enumerate(tensors)], "broadcast"), like=whole)


def _cut(tensor: torch.Tensor) -> torch.Tensor:
    """The first elements of a tensor: what works on each alone needs no more, and some of many would be near a pole."""
    for d, length in enumerate(tensor.shape):
        tensor = tensor.narrow(d, 0, min(length, 2))
    return tensor.clone()


def _emptied(tensor: torch.Tensor, size: int) -> torch.Tensor:
    for d, length in enumerate(tensor.shape):
        if length == size:
            tensor = tensor.narrow(d, 0, 0)
    return tensor.clone()
