"""Points at which functions change, and derivatives there against differences alone; knows no operator.

At such a point a function may have a kink, a jump, or a derivative without bound: what differences from both sides say tells
which. Where they agree, a derivative is what they show; at a kink any finite one is taken.
"""

from __future__ import annotations

import torch

from gradspec.gradcheck.calls import Call
from gradspec.gradcheck.numeric import Gap, in_words, product, randoms, relative
from gradspec.gradcheck.transforms import Function, Tensors, Transforms

# Two steps, whose differences are alike where there is a derivative on that side.
_STEPS = (1e-4, 1e-6)
# How far differences may be apart that are alike.
_ALIKE = 1e-3


def _numbers(call: Call) -> list[float]:
    """0, 1, -1 and the numbers of the call."""
    numbers = [float(v) for v in call.values if isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < 100]
    return list(dict.fromkeys([0.0, 1.0, *numbers, -1.0]))


def special_points(call: Call) -> list[Tensors]:
    """Values at which functions change: 0, 1, -1, the numbers of the call itself, and ties between tensors."""
    values = torch.tensor(_numbers(call), dtype=torch.float64)
    points = []
    for start in range(len(values)):
        for apart in (0, 1):
            made = []
            for i, tensor in enumerate(call.tensors):
                places = (torch.arange(tensor.numel()) + start + apart * i) % len(values)
                made.append(values[places].reshape(tensor.shape).to(tensor.dtype))
            points.append(tuple(made))
    return points


def uniform_points(call: Call) -> list[Tensors]:
    """Each of these values in one tensor at a time, so that a kink at another value does not hide it."""
    return [
        tuple(torch.full_like(t, value) if j == i else t for j, t in enumerate(call.tensors))
        for i in range(len(call.tensors))
        for value in _numbers(call)
    ]


def _slopes(function: Function, at: Tensors, direction: Tensors, weights: Tensors) -> tuple[float, float] | None:
    """The change of the results' product with `weights` on either side of a point; None where there is no bound to it."""
    here = [r.detach() for r in function(*at)]
    sides = []
    for sign in (1.0, -1.0):
        found = []
        for step in _STEPS:
            there = function(*[x + sign * step * u for x, u in zip(at, direction, strict=True)])
            found.append(product(weights, [(t.detach() - h) / (sign * step) for t, h in zip(there, here, strict=True)]))
        if not relative(found[0], found[1]) <= 10 * _ALIKE:
            return None
        sides.append(found[1])
    return sides[0], sides[1]


def is_smooth(function: Function, at: Tensors, seed: int) -> bool:
    """Whether differences from both sides are alike."""
    direction = randoms(at, seed)
    slopes = _slopes(function, at, direction, randoms(function(*at), seed + 1))
    return slopes is not None and relative(*slopes) <= _ALIKE


def vjp_at(function: Function, at: Tensors, seed: int, by: Transforms) -> float | None:
    """How far the gradients at a point are from differences; None where these show nothing."""
    direction, weights = randoms(at, seed), randoms(function(*at), seed + 1)
    slopes = _slopes(function, at, direction, weights)
    if slopes is None:
        return None
    gradients = by.vjp(function, len(at))(*at, *weights)
    for x, gradient in zip(at, gradients, strict=True):
        if not bool(gradient.isfinite().all()):
            place = tuple((~gradient.isfinite()).nonzero()[0].tolist())
            return Gap(f"{in_words(gradient[place].item())} where the input is {x[place].item()}, and differences are finite")
    return _agreement(product(gradients, direction), slopes)


def jvp_at(function: Function, at: Tensors, seed: int, by: Transforms) -> float | None:
    """How far the tangents at a point are from differences; None where these show nothing."""
    direction, weights = randoms(at, seed), randoms(function(*at), seed + 1)
    slopes = _slopes(function, at, direction, weights)
    if slopes is None:
        return None
    tangents = by.jvp(function, len(at))(*at, *direction)
    for tangent in tangents:
        if not bool(tangent.isfinite().all()):
            bad = tangent[~tangent.isfinite()][0]
            return Gap(f"{in_words(bad.item())}, and differences are finite")
    return _agreement(product(weights, tangents), slopes)


def _agreement(derivative: float, slopes: tuple[float, float]) -> float:
    if relative(*slopes) > _ALIKE:
        return 0.0
    error = relative(derivative, sum(slopes) / 2)
    # Differences of one side err by the step: what is less than they can tell is none.
    return error if error > _ALIKE else 0.0
