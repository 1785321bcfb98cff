"""Derivatives of a function by differences, against what torch makes of it; knows no operator.

For complex numbers the product of two values is the real part of the
one's conjugate times the other, under which torch's gradients are what differences show.
"""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from math import isfinite
from typing import Any

import torch

from gradspec.gradcheck.transforms import FUNC, Function, Tensors, Transforms

STEP = 1e-5
# Differences of second order err by the square of the step, and by what rounding leaves of the numerator.
TOLERANCE = 2e-5


class Gap(float):
    """A distance without a number, infinite as such, which says what is apart."""

    why: str

    def __new__(cls, why: str) -> Gap:
        """An infinite distance, for this reason."""
        made = super().__new__(cls, "inf")
        made.why = why
        return made


def randoms(like: Sequence[torch.Tensor], seed: int) -> Tensors:
    """Random values of the same shapes."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(t.shape, dtype=t.dtype, generator=generator) for t in like)


def nudged(at: Sequence[torch.Tensor], seed: int) -> Tensors:
    """The values, each moved a little."""
    return tuple(x + u / 16 for x, u in zip(at, randoms(at, seed + 20), strict=True))


def product(a: Sequence[torch.Tensor], b: Sequence[torch.Tensor]) -> float:
    """The product of two lists of values."""
    return sum(float((x.conj() * y).sum().real) for x, y in zip(a, b, strict=True))


def difference(function: Function, at: Tensors, direction: Tensors) -> Tensors:
    """The change of a function along a direction, by central differences."""
    ahead = function(*[x + STEP * u for x, u in zip(at, direction, strict=True)])
    behind = function(*[x - STEP * u for x, u in zip(at, direction, strict=True)])
    return tuple((a - b).detach() / (2 * STEP) for a, b in zip(ahead, behind, strict=True))


def vjp_error(function: Function, at: Tensors, seed: int, by: Transforms = FUNC) -> float:
    """How far the gradients are from differences: relative to the larger one, over one random direction."""
    direction = randoms(at, seed)
    change = difference(function, at, direction)
    weights = randoms(change, seed + 1)
    gradients = by.vjp(function, len(at))(*at, *weights)
    return relative(product(weights, change), product(gradients, direction))


def jvp_error(function: Function, at: Tensors, seed: int, by: Transforms = FUNC) -> float:
    """How far the tangents are from differences."""
    direction = randoms(at, seed)
    change = difference(function, at, direction)
    tangents = by.jvp(function, len(at))(*at, *direction)
    worst = 0.0
    for a, b in zip(tangents, change, strict=True):
        if b.numel():
            gaps = ((a - b).abs() / (1 + b.abs())).flatten()
            if not bool(gaps.isfinite().all()):
                place = int((~gaps.isfinite()).nonzero()[0])
                return Gap(f"{in_words(a.flatten()[place].item())}, not {in_words(b.flatten()[place].item())}")
            worst = max(worst, float(gaps.max()))
    return worst


def adjoint_error(function: Function, at: Tensors, seed: int, by: Transforms = FUNC) -> float:
    """How far gradients and tangents are from being of one linear map."""
    direction = randoms(at, seed)
    tangents = by.jvp(function, len(at))(*at, *direction)
    weights = randoms(tangents, seed + 1)
    gradients = by.vjp(function, len(at))(*at, *weights)
    return relative(product(weights, tangents), product(gradients, direction))


def in_words(value: Any) -> str:
    """A number, rounded, for people."""
    if value != value:
        return "NaN"
    if not cmath.isfinite(value):
        return "infinite" if isinstance(value, complex) or value > 0 else "-infinite"
    return f"{value + 0:.4g}"


def relative(a: float, b: float) -> float:
    """The distance of two numbers, relative to the larger one where that is above 1."""
    if not (isfinite(a) and isfinite(b)):
        return Gap(f"{in_words(a)}, not {in_words(b)}")
    return abs(a - b) / max(1.0, abs(a), abs(b))
