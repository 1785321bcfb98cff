"""Derivatives of functions compared with each other, without any differences; knows no operator."""

from __future__ import annotations

import torch

from gradspec.gradcheck.numeric import Gap, in_words, randoms
from gradspec.gradcheck.transforms import Function, Tensors, Transforms


def apart(a: Tensors, b: Tensors) -> float:
    """The largest distance of two lists of values; infinite where shapes, dtypes or NaN differ."""
    worst = 0.0
    for x, y in zip(a, b, strict=True):
        if x.shape != y.shape:
            return Gap(f"of shape {list(x.shape)}, not {list(y.shape)}")
        if x.dtype != y.dtype:
            return Gap(f"of {x.dtype}, not {y.dtype}")
        if not x.numel():
            continue
        if not (x.is_floating_point() or x.is_complex()):
            x, y = x.double(), y.double()
        gap = torch.where(x == y, 0.0, (x - y).abs() / (1 + y.abs())).nan_to_num(0.0, posinf=float("inf"))
        gap = gap.masked_fill(_unlike(x, y), float("inf"))
        largest = gap.max()
        if bool(largest.isinf()):
            at = gap.argmax()
            return Gap(f"{in_words(x.flatten()[at].item())}, not {in_words(y.flatten()[at].item())}")
        worst = max(worst, float(largest))
    return worst


def _unlike(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Where one is NaN and the other is not, or one is infinite and the other is not, or is so to the other side."""
    sided = x.isinf() != y.isinf() if x.is_complex() else (x.isinf() | y.isinf()) & (x != y)
    return (x.isnan() != y.isnan()) | (sided & ~(x.isnan() | y.isnan()))


def distance(mine: Function, theirs: Function, at: Tensors, seed: int, by: Transforms) -> float:
    """How far the gradients of two functions are from each other."""
    weights = randoms(mine(*at), seed + 4)
    return apart(by.vjp(mine, len(at))(*at, *weights), by.vjp(theirs, len(at))(*at, *weights))


def tangent_distance(mine: Function, theirs: Function, at: Tensors, seed: int, by: Transforms) -> float:
    """How far the tangents of two functions are from each other."""
    directions = randoms(at, seed + 5)
    return apart(by.jvp(mine, len(at))(*at, *directions), by.jvp(theirs, len(at))(*at, *directions))


def alone_error(function: Function, at: Tensors, seed: int) -> float:
    """Each input's gradient, asked for alone, is the one that it has among all."""
    worst = 0.0
    weights = randoms(function(*at), seed + 6)

    def gradients(needed: tuple[bool, ...]) -> list[torch.Tensor]:
        given = [t.clone().requires_grad_(need) for t, need in zip(at, needed, strict=True)]
        pairs = [(r, w) for r, w in zip(function(*given), weights, strict=True) if r.requires_grad]
        moved = [g for g in given if g.requires_grad]
        if not pairs:
            return [torch.zeros_like(m) for m in moved]
        found = torch.autograd.grad([r for r, _ in pairs], moved, [w for _, w in pairs], allow_unused=True)
        return [torch.zeros_like(m) if f is None else f for f, m in zip(found, moved, strict=True)]

    together = gradients((True,) * len(at))
    for i in range(len(at)):
        (alone,) = gradients(tuple(j == i for j in range(len(at))))
        worst = max(worst, apart((alone,), (together[i],)))
    return worst


def undefined_error(function: Function, at: Tensors, seed: int) -> float:
    """The gradient of one result alone is the one with zeros for the others."""
    worst = 0.0
    for i in range(len(function(*at))):
        given = [t.clone().requires_grad_() for t in at]
        results = function(*given)
        if not results[i].requires_grad:
            continue
        weights = randoms(results, seed + 7)
        alone = torch.autograd.grad(results[i], given, weights[i], allow_unused=True, retain_graph=True)
        zeros = [w if j == i else torch.zeros_like(w) for j, w in enumerate(weights)]
        full = torch.autograd.grad(results, given, zeros, allow_unused=True)
        filled = [tuple(torch.zeros_like(t) if g is None else g for g, t in zip(gs, at, strict=True)) for gs in (alone, full)]
        worst = max(worst, apart(filled[0], filled[1]))
    return worst


def batched_error(function: Function, at: Tensors, seed: int, by: Transforms) -> float:
    """Gradients for several cotangents at once are those for each."""
    many = [randoms(function(*at), seed + 8 + i) for i in range(2)]
    stacked = tuple(torch.stack(parts) for parts in zip(*many, strict=True))
    if not by.nests:
        return _batched_engine_error(function, at, many, stacked)
    vjp = torch.func.vjp(function, *at)[1]
    together = torch.func.vmap(lambda *w: vjp(tuple(w)))(*stacked)
    return max(apart(tuple(t[i] for t in together), vjp(weights)) for i, weights in enumerate(many))


def _batched_engine_error(function: Function, at: Tensors, many: list[Tensors], stacked: Tensors) -> float:
    given = [t.clone().requires_grad_() for t in at]
    results = function(*given)

    def gradients(weights: Tensors, *, batched: bool) -> Tensors:
        found = torch.autograd.grad(
            results, given, weights, allow_unused=True, retain_graph=True, is_grads_batched=batched, materialize_grads=True
        )
        return tuple(found)

    together = gradients(stacked, batched=True)
    singles = [gradients(weights, batched=False) for weights in many]
    return max(apart(tuple(t[i] for t in together), single) for i, single in enumerate(singles))


def batched_tangents_error(function: Function, at: Tensors, seed: int, by: Transforms) -> float:
    """Tangents for several directions at once are those for each."""
    many = [randoms(at, seed + 12 + i) for i in range(2)]
    stacked = tuple(torch.stack(parts) for parts in zip(*many, strict=True))
    jvp = by.jvp(function, len(at))
    together = torch.func.vmap(lambda *u: jvp(*at, *u))(*stacked)
    return max(apart(tuple(t[i] for t in together), jvp(*at, *directions)) for i, directions in enumerate(many))
