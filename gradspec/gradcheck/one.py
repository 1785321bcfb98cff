"""One call of one op: whether it can be checked, what moves in it, and its outcomes; knows no process and no report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from attrs import evolve, frozen
from torch.utils._pytree import tree_flatten, tree_unflatten

from gradspec import ir
from gradspec.gradcheck.calls import Call
from gradspec.gradcheck.checks import Kind, Subject, check_call
from gradspec.gradcheck.outcomes import Outcome, measure
from gradspec.gradcheck.recorded import DTYPES
from gradspec.types import is_tensor_like


@frozen
class Checked:
    """An outcome, and the call that it is of. One of the check `sample` says that the call can be checked."""

    index: int
    outcome: Outcome
    call: str = ""


def check_one(op: ir.Op, subject: Subject, given: Call, index: int, seed: int) -> Iterator[Checked]:
    """The outcomes of one call; none where torch's own operator, or its gradient, refuses it."""
    names = _names(op, given)
    moving = gradient_inputs(op)
    moved = tuple(n for n in names if n in moving)
    for candidate in (given,) if given.note else (given, _positive(given)):
        call = candidate.moving([n in moving for n in names])
        asked = subject if _has_gradient(subject, call) else evolve(subject, theirs=None, in_place=None)
        kind = _kind(asked, call) if moved else None
        if kind is not None:
            break
    else:
        if subject.kernel is None or subject.own:
            refused = measure(lambda: bool(_run(subject.ours, given)))
            yield Checked(index, Outcome("call", "absent", reason=refused.raised))
        return
    yield Checked(index, Outcome("sample", "ok"))
    try:
        for outcome in check_call(asked, call, names=moved, kind=kind, seed=seed):
            yield Checked(index, outcome, outcome.at or str(call) if outcome.status == "failed" else "")
    except Exception as error:
        lines = f"{type(error).__name__}: {error}".splitlines()
        yield Checked(index, Outcome("call", "failed", reason=lines[0]), str(call))


def gradient_inputs(op: ir.Op) -> frozenset[str]:
    """The inputs whose gradient somebody has written."""
    unwritten = {n for d in op.derivatives if _is_refusal(d.written) for n in d.inputs}
    return frozenset(i.name for i in op.differentiable_inputs if i.name not in unwritten)


def _is_refusal(formula: ir.Expr) -> bool:
    return isinstance(formula, ir.Call) and formula.function.startswith("not_implemented")


def _positive(call: Call) -> Call:
    """The call at positive values, for functions that are defined there alone."""
    return call.at([t if t.is_complex() else t.abs() + 0.25 for t in call.tensors])


# What operators raise that are registered with no formula of a gradient.
_NO_FORMULA = ("no autograd formula was registered", "is not implemented")


def _has_gradient(subject: Subject, call: Call) -> bool:
    """Whether torch has a gradient of its own; one of a person's own operators may have none, which shows where it is made."""
    target = subject.theirs
    if target is None or not subject.own:
        return target is not None

    def gradients() -> float:
        given = [t.clone().requires_grad_() for t in call.tensors]
        results = _results(target, call.at(given), 1) or []
        return len(torch.autograd.grad(results, given, [torch.ones_like(r) for r in results], allow_unused=True))

    return not any(text in measure(gradients).raised for text in _NO_FORMULA)


def _kind(subject: Subject, call: Call) -> Kind | None:
    """What numbers the op gives; None where it refuses, gives no plain tensor, or nothing that it gives has a gradient.

    Torch's gradient is made as well: if that ends the process, then it is not ours that does. Where it raises, ours is asked all
    the same, but for a call that was made of another one.
    """
    overload = subject.theirs or subject.kernel or subject.ours
    first, second = (_results(overload, call, seed, subject.theirs is None) for seed in (1, 2))
    if not first or not second:
        return None
    if call.like is not None:
        same = _results(overload, evolve(call.like, places=call.places), 1, subject.theirs is None)
        if same is None or not all(a.shape == b.shape and torch.allclose(a, b) for a, b in zip(first, same, strict=True)):
            return None
    if subject.theirs is not None:
        given = [t.clone().requires_grad_() for t in call.tensors]
        results = _results(overload, call.at(given), 1) or []
        made = measure(lambda: len(torch.autograd.grad(results, given, [torch.ones_like(r) for r in results], allow_unused=True)))
        if made.raised and call.note:
            return None
    if not all(torch.equal(a, b) for a, b in zip(first, second, strict=True)):
        return "random"
    return "same" if all(t.dtype in DTYPES for t in (*first, *call.tensors)) else "coarse"


def _results(overload: Callable[..., Any], call: Call, seed: int, every: bool = False) -> list[torch.Tensor] | None:
    """What the op gives that has a gradient, or could have one; None where it refuses, or there is no number."""
    torch.default_generator.manual_seed(seed)
    try:
        made = _run(overload, call)
        made = made if call.finish is None else call.finish(made)
        moved = [r for r in made if isinstance(r, torch.Tensor) and (r.requires_grad or (every and _is_continuous(r)))]
        plain = all(r.layout == torch.strided and not r.is_nested and bool(r.isfinite().all()) for r in moved)
    except Exception:
        return None
    return moved if plain else None


def _run(overload: Callable[..., Any], call: Call) -> list[Any]:
    args, kwargs = call.with_tensors([t if t.requires_grad else t.clone().requires_grad_() for t in call.tensors])
    return list(tree_flatten(overload(*args, **kwargs))[0])


def _is_continuous(tensor: torch.Tensor) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _names(op: ir.Op, call: Call) -> tuple[str, ...]:
    """The argument that each of the call's tensors belongs to; empty for a tensor in the place of something else."""
    # Places in the place of values, to see which argument each is of.
    args, kwargs = tree_unflatten(range(len(call.values)), call.spec)
    named = list(zip([a.name for a in op.schema.positional], args, strict=False)) + list(kwargs.items())
    types = {a.name: a.type for a in op.schema.arguments}
    owner = {p: name for name, value in named if is_tensor_like(types[name]) for p in tree_flatten(value)[0]}
    return tuple(owner.get(p, "") for p in call.places)
