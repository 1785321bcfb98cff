"""A function's vjp and jvp as functions, in torch's two ways; knows no operator and no differences.

A function takes tensors and gives a tuple of tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from attrs import frozen
from torch.autograd import forward_ad

Tensors: TypeAlias = tuple[torch.Tensor, ...]
Function: TypeAlias = Callable[..., Tensors]


@frozen
class Transforms:
    """One way to differentiate: each takes a function, and how many inputs it has.

    `vjp` gives the function that takes inputs and a value for each result, and gives the gradients of the inputs; `jvp` the one
    that takes inputs and a direction for each, and gives the change of the results. `nests`: a jvp can be had of a jvp.
    """

    vjp: Callable[[Function, int], Function]
    jvp: Callable[[Function, int], Function]
    nests: bool


def _vjp(function: Function, count: int) -> Function:
    def vjp(*values: torch.Tensor) -> Tensors:
        made: Tensors = torch.func.vjp(function, *values[:count])[1](tuple(values[count:]))
        return made

    return vjp


def _jvp(function: Function, count: int) -> Function:
    def jvp(*values: torch.Tensor) -> Tensors:
        made: Tensors = torch.func.jvp(function, tuple(values[:count]), tuple(values[count:]))[1]
        return made

    return jvp


def _engine_vjp(function: Function, count: int) -> Function:
    def vjp(*values: torch.Tensor) -> Tensors:
        at = [x if x.requires_grad else x.view_as(x).requires_grad_() for x in values[:count]]
        pairs = [(r, w) for r, w in zip(function(*at), values[count:], strict=True) if r.requires_grad]
        if not pairs:
            return tuple(torch.zeros_like(x) for x in at)
        found = torch.autograd.grad([r for r, _ in pairs], at, [w for _, w in pairs], allow_unused=True, create_graph=True)
        return tuple(torch.zeros_like(x) if g is None else g for g, x in zip(found, at, strict=True))

    return vjp


def _engine_jvp(function: Function, count: int) -> Function:
    def jvp(*values: torch.Tensor) -> Tensors:
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, u) for x, u in zip(values[:count], values[count:], strict=True)]
            parts = [forward_ad.unpack_dual(r) for r in function(*duals)]
            return tuple(torch.zeros_like(p.primal) if p.tangent is None else p.tangent for p in parts)

    return jvp


def lacks_tangents(function: Function, at: Tensors) -> bool:
    """Whether a function loses the tangents of its inputs without a word, as operators without forward mode may."""
    try:
        with forward_ad.dual_level():
            results = function(*[forward_ad.make_dual(x, torch.ones_like(x)) for x in at])
            return all(forward_ad.unpack_dual(r).tangent is None for r in results)
    except Exception:
        return False


# What can be nested and batched, which an autograd function that saves in its forward cannot be.
FUNC = Transforms(_vjp, _jvp, nests=True)
# The engine of torch by itself.
ENGINE = Transforms(_engine_vjp, _engine_jvp, nests=False)
