"""What is checked of one call of one emitted function; knows no spec and no report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import torch
from attrs import evolve, frozen
from torch.utils._pytree import tree_flatten

from gradspec.gradcheck.calls import Call
from gradspec.gradcheck.compare import (
    alone_error,
    apart,
    batched_error,
    batched_tangents_error,
    distance,
    tangent_distance,
    undefined_error,
)
from gradspec.gradcheck.numeric import adjoint_error, jvp_error, nudged, randoms, vjp_error
from gradspec.gradcheck.outcomes import Outcome, by_differences, compared, judged, measure
from gradspec.gradcheck.special import is_smooth, jvp_at, special_points, uniform_points, vjp_at
from gradspec.gradcheck.transforms import ENGINE, FUNC, Function, Tensors, Transforms, lacks_tangents

# What numbers an operator gives: the `same` each time, `random` ones, for which a seed is set, or ones too `coarse` to show small
# steps. Differences are asked of the first alone.
Kind: TypeAlias = Literal["same", "random", "coarse"]


@frozen
class Subject:
    """What is checked: our function with its node, and what there is to compare it with.

    `kernel`: torch's operator of that name. `theirs`: the same, if it has gradients of torch's own. `in_place`: the one that
    writes to its first argument. `writes`: they do themselves, to a copy. `said`: ours computes what the spec says of the op.
    `own`: the operator is of a library that is not torch's.
    """

    ours: Callable[..., Any]
    kernel: Callable[..., Any] | None
    node: type[Any]
    theirs: Callable[..., Any] | None = None
    in_place: Callable[..., Any] | None = None
    writes: bool = False
    said: bool = False
    own: bool = False

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
    if subject.said and subject.kernel is not None and kind != "random":
        yield _forwards(subject.ours, subject.kernel, call)
    failed = False
    for outcome in _check(subject, call, kind=kind, seed=seed):
        failed |= outcome.status == "failed"
        yield outcome
        if outcome.status == "failed" and len(set(names)) == 1:
            yield evolve(outcome, inputs=names[:1])
    if not failed or len(set(names)) < 2:
        return
    for name in dict.fromkeys(names):
        alone = call.moving([n == name for n in names])
        for outcome in _check(subject, alone, kind=kind, seed=seed):
            if outcome.status == "failed":
                yield evolve(outcome, inputs=(name,))


def _check(subject: Subject, call: Call, *, kind: Kind, seed: int) -> Iterator[Outcome]:
    function, at = function_of(subject.ours, call)
    kept = _differentiable(subject, call)
    if not kept:
        return
    mine = _only(function, kept)
    upstream = _only(function_of(subject.theirs, call)[0], kept) if subject.theirs is not None else None
    # torch.func keeps the shape of what an autograd function writes to.
    reshaped = subject.writes and [r.shape for r in function(*at)] != [at[0].shape]
    count, by = len(at), ENGINE if reshaped else subject.by

    def judge(check: str, error: Callable[[Function, Tensors], float], nudge: bool = False) -> Outcome:
        own = measure(lambda: error(mine, at))
        outcome = judged(check, own, lambda: measure(lambda: error(upstream, at)) if upstream is not None else None)
        unsure = outcome.as_torch or (upstream is None and own.wrong and not is_smooth(mine, at, seed))
        if nudge and unsure:
            # Where a function has a kink, differences show nothing: the gradient is what torch says it is.
            beside = measure(lambda: error(mine, nudged(at, seed)))
            if not beside.raised and not beside.wrong:
                return Outcome(check, "ok", beside.error)
        return outcome

    def compare(
        check: str,
        theirs: Function,
        error: Callable[[Function, Function], float],
        numbers: Callable[[Function, Tensors], float] | None = None,
    ) -> Outcome:
        """`numbers` says of one of them how far it is from differences, in case they are not the same."""
        both = measure(lambda: error(mine, theirs))
        outcome = compared(
            check, both, lambda: measure(lambda: error(mine, mine)), lambda: measure(lambda: error(theirs, theirs))
        )
        if both.wrong and numbers is not None and kind == "same":
            own, other = measure(lambda: numbers(mine, at)), measure(lambda: numbers(theirs, at))
            return evolve(outcome, as_torch=other.wrong and not own.wrong and not own.raised)
        return outcome

    def numeric(check: str, error: Callable[[Function, Tensors], float]) -> Iterator[Outcome]:
        if kind == "same":
            yield judge(check, error, nudge=True)

    weights = randoms(mine(*at), seed + 2)
    yield from numeric("vjp", lambda f, x: vjp_error(f, x, seed, by))
    # What a person registers with an operator knows the engine alone, as a rule.
    torchs = ENGINE if subject.own else by
    if upstream is not None:
        theirs = upstream
        first = compare("torch", theirs, lambda a, b: distance(a, b, at, seed, torchs), lambda f, x: vjp_error(f, x, seed, by))
        yield first
        special = [p for p in special_points(call) if call.special and _takes(theirs, p, seed, torchs)]
        # Where torch is wrong in general, it is so here: differences cannot tell, as there may be a kink.
        yield from (
            evolve(o, as_torch=o.as_torch or (o.status == "failed" and first.as_torch))
            for o in _at_each(
                call,
                special,
                lambda p: compare("torch at special points", theirs, lambda a, b: distance(a, b, p, seed, torchs)),
            )
        )
    elif call.special and kind == "same":
        special = [*uniform_points(call), *special_points(call)]
        yield from _at_each(call, special, lambda p: by_differences("special points", lambda: vjp_at(mine, p, seed, by)))
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
    if upstream is not None and not (subject.own and lacks_tangents(upstream, at)):
        yield compare(
            "torch's tangent",
            upstream,
            lambda a, b: tangent_distance(a, b, at, seed, torchs),
            lambda f, x: jvp_error(f, x, seed, by),
        )
    elif call.special and kind == "same":
        special = [*uniform_points(call), *special_points(call)]
        yield from _at_each(call, special, lambda p: by_differences("special points, tangent", lambda: jvp_at(mine, p, seed, by)))
    if subject.vmaps:
        yield judge("batched tangents", lambda f, x: batched_tangents_error(f, x, seed, by))
    directions = randoms(at, seed + 3)
    yield from numeric("jvp of vjp", lambda f, x: jvp_error(by.vjp(f, count), (*x, *weights), seed, by))
    yield from numeric("vjp of jvp", lambda f, x: vjp_error(by.jvp(f, count), (*x, *directions), seed, by))
    if by.nests:
        yield from numeric("jvp of jvp", lambda f, x: jvp_error(by.jvp(f, count), (*x, *directions), seed, by))
    if writing is not None:
        yield from _in_place("in place, tangent", lambda: tangent_distance(mine, writing, at, seed, by))


def _forwards(ours: Callable[..., Any], kernel: Callable[..., Any], call: Call) -> Outcome:
    """What the spec says that the op computes, against torch's operator; where that refuses, nothing is compared."""

    def results(target: Callable[..., Any], at: Tensors) -> Tensors:
        args, kwargs = call.with_tensors([t.clone() for t in at])
        made = tree_flatten(target(*args, **kwargs))[0]
        return tuple(r for r in made if isinstance(r, torch.Tensor))

    def at_point(point: Tensors) -> Outcome:
        try:
            expected = results(kernel, point)
        except Exception as error:
            return Outcome("forward", "absent", reason=f"torch itself: {type(error).__name__}")
        return judged("forward", measure(lambda: apart(results(ours, point), expected)), lambda: None)

    points = [call.tensors, *(special_points(call) if call.special else ())]
    return next(iter(_at_each(call, points, at_point)))


def _at_each(call: Call, points: Sequence[Tensors], check: Callable[[Tensors], Outcome]) -> Iterator[Outcome]:
    """One check at several points, as one outcome: the first failure with its point, else the largest error."""
    found: Outcome | None = None
    for point in points:
        outcome = check(point)
        if outcome.status == "failed":
            yield evolve(outcome, at=str(call.at(point)))
            return
        if found is None or (outcome.status == "ok" and (found.status != "ok" or outcome.error > found.error)):
            found = outcome
    if found is not None:
        yield found


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
    plain, _ = function_of(subject.theirs or subject.ours, call)
    try:
        results, expected = function(*at), plain(*at)
    except Exception:
        return None
    same = [(r.shape, r.dtype) for r in results] == [(e.shape, e.dtype) for e in expected]
    return _only(function, kept) if same else None


def _takes(function: Function, at: Tensors, seed: int, by: Transforms) -> bool:
    """Whether a function has gradients at a point."""
    return not measure(lambda: distance(function, function, at, seed, by)).raised


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
