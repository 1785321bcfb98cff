"""What is checked of one call of one emitted function; knows no spec and no report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from attrs import frozen
from torch.utils._pytree import tree_flatten

from gradspec.gradcheck.numeric import (
    TOLERANCE,
    Function,
    Tensors,
    adjoint_error,
    jvp_error,
    jvp_of,
    randoms,
    vjp_error,
    vjp_of,
)
from gradspec.gradcheck.samples import Call


@frozen
class Outcome:
    """One check of one call: its worst error, or why it could not be made."""

    check: str
    error: float
    failed: bool
    reason: str = ""


def function_of(target: Callable[..., Any], call: Call) -> tuple[Function, Tensors]:
    """The call as a function of the tensors that are moved, to its results that can have a gradient."""

    def function(*given: torch.Tensor) -> Tensors:
        args, kwargs = call.with_tensors(given)
        torch.manual_seed(0)
        results = tree_flatten(target(*args, **kwargs))[0]
        return tuple(r for r in results if isinstance(r, torch.Tensor) and (r.is_floating_point() or r.is_complex()))

    return function, call.tensors


def check_call(
    ours: Callable[..., Any], theirs: Callable[..., Any], call: Call, *, moving: tuple[bool, ...], has_jvp: bool, seed: int
) -> Iterator[Outcome]:
    """All checks of one call. `moving`: which of its tensors have a gradient by the spec."""
    chosen = Call(call.values, call.spec, tuple(p for p, m in zip(call.places, moving, strict=True) if m))
    function, at = function_of(ours, chosen)
    reference, _ = function_of(theirs, chosen)
    if not at:
        return
    kept = _differentiable(ours, chosen)
    mine, upstream = _only(function, kept), _only(reference, kept)
    count = len(at)

    def compared(check: str, measure: Callable[[Function], float]) -> Outcome:
        """A check that torch's own op must pass too: what it cannot do is not asked of ours."""
        outcome = _measured(check, lambda: measure(mine))
        if not outcome.failed:
            return outcome
        theirs_too = _measured(check, lambda: measure(upstream))
        if theirs_too.failed or theirs_too.reason:
            return Outcome(check, 0.0, False, f"torch itself: {theirs_too.reason or theirs_too.error}")
        return outcome

    yield _measured("vjp", lambda: vjp_error(mine, at, seed))
    yield _measured("torch", lambda: _distance(mine, upstream, at, seed))
    special = special_points(chosen)
    yield _measured("torch at special points", lambda: max(_distance(mine, upstream, p, seed) for p in special))
    yield _measured("one input alone", lambda: _alone(ours, chosen, kept, seed))
    yield _measured("undefined gradients", lambda: _undefined(mine, at, seed))
    yield compared("batched", lambda f: _batched(f, at, seed))
    weights = randoms(mine(*at), seed + 2)
    yield compared("vjp of vjp", lambda f: vjp_error(vjp_of(f, count), (*at, *weights), seed))
    if has_jvp:
        yield _measured("jvp", lambda: jvp_error(mine, at, seed))
        yield _measured("vjp against jvp", lambda: adjoint_error(mine, at, seed))
        yield _measured("torch's tangent", lambda: _tangent_distance(mine, upstream, at, seed))
        directions = randoms(at, seed + 3)
        yield compared("jvp of vjp", lambda f: jvp_error(vjp_of(f, count), (*at, *weights), seed))
        # There is no jvp of a jvp: torch turns forward mode off around a function's own (csrc/autograd/custom_function.cpp).
        yield compared("vjp of jvp", lambda f: vjp_error(jvp_of(f, count), (*at, *directions), seed))


def special_points(call: Call) -> list[Tensors]:
    """Values at which functions change: 0, 1, -1, the numbers of the call itself, and ties between tensors."""
    numbers = [float(v) for v in call.values if isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < 100]
    values = torch.tensor([0.0, 1.0, *dict.fromkeys(numbers), -1.0], dtype=torch.float64)
    points = []
    for start in range(len(values)):
        for apart in (0, 1):
            made = []
            for i, tensor in enumerate(call.tensors):
                places = (torch.arange(tensor.numel()) + start + apart * i) % len(values)
                made.append(values[places].reshape(tensor.shape).to(tensor.dtype))
            points.append(tuple(made))
    return points


# What torch says where it has no such derivative itself; that is no fault of the formula.
_NOT_THERE = ("not implemented", "does not support", "must implement the jvp", "not yet implemented", "Batching rule")


def _measured(check: str, measure: Callable[[], float]) -> Outcome:
    try:
        error = measure()
    except Exception as failure:
        reason = f"{type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else ''}"
        absent = isinstance(failure, NotImplementedError) or any(text in str(failure) for text in _NOT_THERE)
        return Outcome(check, 0.0, not absent, reason)
    return Outcome(check, error, not error <= TOLERANCE)


def _differentiable(target: Callable[..., Any], call: Call) -> tuple[int, ...]:
    function, at = function_of(target, call)
    results = function(*[t.clone().requires_grad_() for t in at])
    return tuple(i for i, r in enumerate(results) if r.requires_grad)


def _only(function: Function, kept: tuple[int, ...]) -> Function:
    def chosen(*given: torch.Tensor) -> Tensors:
        results = function(*given)
        return tuple(results[i] for i in kept)

    return chosen


def _apart(a: Tensors, b: Tensors) -> float:
    """The largest distance of two lists of values; infinite where shapes or NaN differ."""
    worst = 0.0
    for x, y in zip(a, b, strict=True):
        if x.shape != y.shape or x.dtype != y.dtype or not torch.equal(x.isnan(), y.isnan()):
            return float("inf")
        gap = torch.where(x == y, 0.0, (x - y).abs() / (1 + y.abs())).nan_to_num(0.0, posinf=float("inf"))
        worst = max(worst, float(gap.max()) if gap.numel() else 0.0)
    return worst


def _distance(mine: Function, theirs: Function, at: Tensors, seed: int) -> float:
    weights = randoms(mine(*at), seed + 4)
    return _apart(vjp_of(mine, len(at))(*at, *weights), vjp_of(theirs, len(at))(*at, *weights))


def _tangent_distance(mine: Function, theirs: Function, at: Tensors, seed: int) -> float:
    directions = randoms(at, seed + 5)
    return _apart(jvp_of(mine, len(at))(*at, *directions), jvp_of(theirs, len(at))(*at, *directions))


def _alone(target: Callable[..., Any], call: Call, kept: tuple[int, ...], seed: int) -> float:
    """Each input's gradient, asked for alone, is the one that it has among all."""
    function, at = function_of(target, call)
    worst = 0.0
    weights = randoms(_only(function, kept)(*at), seed + 6)

    def gradients(needed: tuple[bool, ...]) -> list[torch.Tensor]:
        given = [t.clone().requires_grad_(need) for t, need in zip(at, needed, strict=True)]
        results = _only(function, kept)(*given)
        pairs = [(r, w) for r, w in zip(results, weights, strict=True) if r.requires_grad]
        moved = [g for g in given if g.requires_grad]
        found = torch.autograd.grad([r for r, _ in pairs], moved, [w for _, w in pairs], allow_unused=True)
        return [torch.zeros_like(m) if f is None else f for f, m in zip(found, moved, strict=True)]

    together = gradients((True,) * len(at))
    for i in range(len(at)):
        (alone,) = gradients(tuple(j == i for j in range(len(at))))
        worst = max(worst, _apart((alone,), (together[i],)))
    return worst


def _undefined(mine: Function, at: Tensors, seed: int) -> float:
    """The gradient of one result alone is the one with zeros for the others."""
    worst = 0.0
    for i in range(len(mine(*at))):
        given = [t.clone().requires_grad_() for t in at]
        results = mine(*given)
        if not results[i].requires_grad:
            continue
        weights = randoms(results, seed + 7)
        alone = torch.autograd.grad(results[i], given, weights[i], allow_unused=True, retain_graph=True)
        zeros = [w if j == i else torch.zeros_like(w) for j, w in enumerate(weights)]
        full = torch.autograd.grad(results, given, zeros, allow_unused=True)
        defined = [(a, b) for a, b in zip(alone, full, strict=True) if a is not None and b is not None]
        worst = max(worst, _apart(tuple(a for a, _ in defined), tuple(b for _, b in defined)))
    return worst


def _batched(mine: Function, at: Tensors, seed: int) -> float:
    """Gradients for several cotangents at once are those for each."""
    many = [randoms(mine(*at), seed + 8 + i) for i in range(2)]
    stacked = tuple(torch.stack(parts) for parts in zip(*many, strict=True))
    vjp = torch.func.vjp(mine, *at)[1]
    together = torch.func.vmap(lambda *w: vjp(tuple(w)))(*stacked)
    return max(_apart(tuple(t[i] for t in together), vjp(weights)) for i, weights in enumerate(many))
