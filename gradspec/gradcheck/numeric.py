"""Derivatives of a function by differences, and what torch makes of it; knows no operator.

A function takes tensors and gives a tuple of tensors. For complex numbers the product of two values is the real part of the
one's conjugate times the other, under which torch's gradients are what differences show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch

Tensors: TypeAlias = tuple[torch.Tensor, ...]
Function: TypeAlias = Callable[..., Tensors]

STEP = 1e-5
# Differences of second order err by the square of the step, and by what rounding leaves of the numerator.
TOLERANCE = 2e-5


def randoms(like: Sequence[torch.Tensor], seed: int) -> Tensors:
    """Random values of the same shapes."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(t.shape, dtype=t.dtype, generator=generator) for t in like)


def product(a: Sequence[torch.Tensor], b: Sequence[torch.Tensor]) -> float:
    """The product of two lists of values."""
    return sum(float((x.conj() * y).sum().real) for x, y in zip(a, b, strict=True))


def difference(function: Function, at: Tensors, direction: Tensors) -> Tensors:
    """The change of a function along a direction, by central differences."""
    ahead = function(*[x + STEP * u for x, u in zip(at, direction, strict=True)])
    behind = function(*[x - STEP * u for x, u in zip(at, direction, strict=True)])
    return tuple((a - b).detach() / (2 * STEP) for a, b in zip(ahead, behind, strict=True))


def vjp_of(function: Function, count: int) -> Function:
    """The function that takes `count` inputs and a value for each result, and gives the gradients of the inputs."""

    def vjp(*values: torch.Tensor) -> Tensors:
        made: Tensors = torch.func.vjp(function, *values[:count])[1](tuple(values[count:]))
        return made

    return vjp


def jvp_of(function: Function, count: int) -> Function:
    """The function that takes `count` inputs and a direction for each, and gives the change of the results."""

    def jvp(*values: torch.Tensor) -> Tensors:
        made: Tensors = torch.func.jvp(function, tuple(values[:count]), tuple(values[count:]))[1]
        return made

    return jvp


def vjp_error(function: Function, at: Tensors, seed: int) -> float:
    """How far the gradients are from differences: relative to the larger one, over one random direction."""
    direction = randoms(at, seed)
    change = difference(function, at, direction)
    weights = randoms(change, seed + 1)
    gradients = vjp_of(function, len(at))(*at, *weights)
    return relative(product(weights, change), product(gradients, direction))


def jvp_error(function: Function, at: Tensors, seed: int) -> float:
    """How far the tangents are from differences."""
    direction = randoms(at, seed)
    change = difference(function, at, direction)
    tangents = jvp_of(function, len(at))(*at, *direction)
    return max(
        (float(((a - b).abs() / (1 + b.abs())).max()) for a, b in zip(tangents, change, strict=True) if b.numel()), default=0.0
    )


def adjoint_error(function: Function, at: Tensors, seed: int) -> float:
    """How far gradients and tangents are from being of one linear map."""
    direction = randoms(at, seed)
    tangents = jvp_of(function, len(at))(*at, *direction)
    weights = randoms(tangents, seed + 1)
    gradients = vjp_of(function, len(at))(*at, *weights)
    return relative(product(weights, tangents), product(gradients, direction))


def relative(a: float, b: float) -> float:
    """The distance of two numbers, relative to the larger one where that is above 1."""
    return abs(a - b) / max(1.0, abs(a), abs(b)) if a == a and b == b else float("inf")
