"""What is checked of one call of one emitted function; knows no spec and no report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, Literal, TypeAlias

import torch
from attrs import evolve, frozen
from torch.utils._pytree import tree_flatten

from gradspec.gradcheck.calls import Call
from gradspec.gradcheck.compare import (
    alone_error,
    batched_error,
    batched_tangents_error,
    distance,
    tangent_distance,
    undefined_error,
)
from gradspec.gradcheck.nested import forward_over_forward
from gradspec.gradcheck.numeric import adjoint_error, jvp_error, nudged, randoms, vjp_error
from gradspec.gradcheck.outcomes import Outcome, compared, judged, measure
from gradspec.gradcheck.transforms import ENGINE, FUNC, Function, Tensors, Transforms

# What numbers an operator gives: the `same` each time, `random` ones, for which a seed is set, or ones too `coarse` to show small
# steps. Differences are asked of the first alone.
Kind: TypeAlias = Literal["same", "random", "coarse"]


@frozen
class Subject:
    """What is checked: our function with its node, torch's operator, and the one that writes to its first argument, if any.

    `writes`: they do themselves, to a copy.
    """

    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    node: type[Any]
    in_place: Callable[..., Any] | None = None
    writes: bool = False

    @property
    def has_jvp(self) -> bool:
        """Whether Python has all tangents of the op."""
        return "jvp" in vars(self.node)

    @property
    def by(self) -> Transforms:
        """How it can be differentiated: what saves in its forward, as it overwrites an argument, knows the engine alone."""
        return FUNC if "setup_context" in vars(self.node) else ENGINE

    @property
    def vmaps(self) -> bool:
        """Whether it can be called with batches: torch makes no rule for what overwrites an argument."""
        return bool(self.node.generate_vmap_rule)


def function_of(target: Callable[..., Any], call: Call) -> tuple[Function, Tensors]:
    """The call as a function of the tensors that are moved, to its results that can have a gradient."""

    def function(*given: torch.Tensor) -> Tensors:
        args, kwargs = call.with_tensors(given)
        torch.default_generator.manual_seed(0)
        results = tree_flatten(target(*args, **kwargs))[0]
        if call.finish is not None:
            results = call.finish(results)
        return tuple(r for r in results if isinstance(r, torch.Tensor) and (r.is_floating_point() or r.is_complex()))

    return function, call.tensors


def check_call(subject: Subject, call: Call, *, names: tuple[str, ...], kind: Kind, seed: int) -> Iterator[Outcome]:
    """All checks of one call, whose moved tensors belong to the inputs `names`; what fails says which of them are at fault."""
    failed = False
    for outcome in _check(subject, call, kind=kind, seed=seed):
        failed |= outcome.status == "failed"
        yield outcome
    if not failed or len(set(names)) < 2:
        return
    for name in dict.fromkeys(names):
        alone = call.moving([n == name for n in names])
        for outcome in _check(subject, alone, kind=kind, seed=seed):
            if outcome.status == "failed":
                yield evolve(outcome, inputs=(name,))


def _check(subject: Subject, call: Call, *, kind: Kind, seed: int) -> Iterator[Outcome]:
    function, at = function_of(subject.ours, call)
    reference, _ = function_of(subject.theirs, call)
    kept = _differentiable(subject, call)
    if not kept:
        return
    mine, upstream = _only(function, kept), _only(reference, kept)
    # torch.func keeps the shape of what an autograd function writes to.
    reshaped = subject.writes and [r.shape for r in function(*at)] != [at[0].shape]
    count, by = len(at), ENGINE if reshaped else subject.by

    def judge(check: str, error: Callable[[Function, Tensors], float], nudge: bool = False) -> Outcome:
        outcome = judged(check, measure(lambda: error(mine, at)), lambda: measure(lambda: error(upstream, at)))
        if nudge and outcome.as_torch:
            # Where a function has a kink, differences show nothing: the gradient is what torch says it is.
            beside = measure(lambda: error(mine, nudged(at, seed)))
            if not beside.raised and not beside.wrong:
                return Outcome(check, "ok", beside.error)
        return outcome

    def compare(
        check: str, error: Callable[[Function, Function], float], numbers: Callable[[Function, Tensors], float] | None = None
    ) -> Outcome:
        """`numbers` says of one of them how far it is from differences, in case they are not the same."""
        both = measure(lambda: error(mine, upstream))
        outcome = compared(
            check, both, lambda: measure(lambda: error(mine, mine)), lambda: measure(lambda: error(upstream, upstream))
        )
        if both.wrong and numbers is not None and kind == "same":
            ours, theirs = measure(lambda: numbers(mine, at)), measure(lambda: numbers(upstream, at))
            return evolve(outcome, as_torch=theirs.wrong and not ours.wrong and not ours.raised)
        return outcome

    def numeric(check: str, error: Callable[[Function, Tensors], float]) -> Iterator[Outcome]:
        if kind == "same":
            yield judge(check, error, nudge=True)

    weights = randoms(mine(*at), seed + 2)
    yield from numeric("vjp", lambda f, x: vjp_error(f, x, seed, by))
    first = compare("torch", lambda a, b: distance(a, b, at, seed, by), lambda f, x: vjp_error(f, x, seed, by))
    yield first
    special = [p for p in special_points(call) if call.special and _takes(upstream, p, seed, by)]
    if special:
        outcome = compare("torch at special points", lambda a, b: max(distance(a, b, p, seed, by) for p in special))
        # Where torch is wrong in general, it is so here: differences cannot tell, as there may be a kink.
        yield evolve(outcome, as_torch=outcome.as_torch or (outcome.status == "failed" and first.as_torch))
    yield judge("one input alone", lambda f, x: alone_error(f, x, seed))
    yield judge("undefined gradients", lambda f, x: undefined_error(f, x, seed))
    yield judge("batched", lambda f, x: batched_error(f, x, seed, by))
    yield from numeric("vjp of vjp", lambda f, x: vjp_error(by.vjp(f, count), (*x, *weights), seed, by))
    writing = _writing(subject, call, kept)
    if writing is not None:
        yield from _in_place("in place", lambda: distance(mine, writing, at, seed, by))
    if not subject.has_jvp:
        return
    yield from numeric("jvp", lambda f, x: jvp_error(f, x, seed, by))
    yield judge("vjp against jvp", lambda f, x: adjoint_error(f, x, seed, by))
    yield compare("torch's tangent", lambda a, b: tangent_distance(a, b, at, seed, by), lambda f, x: jvp_error(f, x, seed, by))
    if subject.vmaps:
        yield judge("batched tangents", lambda f, x: batched_tangents_error(f, x, seed, by))
    directions = randoms(at, seed + 3)
    yield from numeric("jvp of vjp", lambda f, x: jvp_error(by.vjp(f, count), (*x, *weights), seed, by))
    yield from numeric("vjp of jvp", lambda f, x: vjp_error(by.jvp(f, count), (*x, *directions), seed, by))

    def jvp_of_jvp(f: Function, x: Tensors) -> float:
        with forward_over_forward(subject.node) if f is mine else nullcontext():
            return jvp_error(by.jvp(f, count), (*x, *directions), seed, by)

    if by.nests:
        yield from numeric("jvp of jvp", jvp_of_jvp)
    if writing is not None:
        yield from _in_place("in place, tangent", lambda: tangent_distance(mine, writing, at, seed, by))


def _in_place(check: str, error: Callable[[], float]) -> Iterator[Outcome]:
    """A comparison with what torch may refuse, as the place has a size of its own."""
    measured = measure(error)
    if not measured.raised:
        yield Outcome(check, "failed" if measured.wrong else "ok", measured.error)


def _writing(subject: Subject, call: Call, kept: tuple[int, ...]) -> Function | None:
    """Torch's operator that writes to its first argument, where it takes this call."""
    if subject.in_place is None:
        return None
    function, at = function_of(subject.in_place, call)
    plain, _ = function_of(subject.theirs, call)
    try:
        results, expected = function(*at), plain(*at)
    except Exception:
        return None
    same = [(r.shape, r.dtype) for r in results] == [(e.shape, e.dtype) for e in expected]
    return _only(function, kept) if same else None


def _takes(function: Function, at: Tensors, seed: int, by: Transforms) -> bool:
    """Whether a function has gradients at a point."""
    return not measure(lambda: distance(function, function, at, seed, by)).raised


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


def _differentiable(subject: Subject, call: Call) -> tuple[int, ...]:
    """Which results have a gradient, by our function."""
    function, at = function_of(subject.ours, call)
    results = function(*[t.clone().requires_grad_() for t in at]) if at else ()
    return tuple(i for i, r in enumerate(results) if r.requires_grad)


def _only(function: Function, kept: tuple[int, ...]) -> Function:
    def chosen(*given: torch.Tensor) -> Tensors:
        results = function(*given)
        return tuple(results[i] for i in kept)

    return chosen
