"""One call of one op: whether it can be checked, what moves in it, and its outcomes; knows no process and no report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from attrs import frozen
from torch.utils._pytree import tree_flatten, tree_unflatten

from gradspec import ir
from gradspec.gradcheck.calls import Call
from gradspec.gradcheck.checks import Kind, Subject, check_call, function_of
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
    for candidate in (given, _positive(given)):
        kind = _kind(subject.theirs, candidate)
        names = _names(op, candidate)
        moving = gradient_inputs(op)
        call = candidate.moving([n in moving for n in names])
        if kind and call.tensors and _has_gradient(subject.theirs, call):
            break
    else:
        return
    yield Checked(index, Outcome("sample", "ok"))
    moved = tuple(n for n in names if n in moving)
    try:
        for outcome in check_call(subject, call, names=moved, kind=kind, seed=seed):
            yield Checked(index, outcome, str(call) if outcome.status == "failed" else "")
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


def _kind(overload: Callable[..., Any], call: Call) -> Kind | None:
    """What numbers the op gives; None where it refuses."""
    results = []
    for seed in (1, 2):
        torch.default_generator.manual_seed(seed)
        args, kwargs = call.with_tensors([t.clone() for t in call.tensors])
        try:
            made = overload(*args, **kwargs)
        except Exception:
            return None
        results.append([r for r in tree_flatten(made)[0] if isinstance(r, torch.Tensor)])
        moved = [r for r in results[-1] if r.is_floating_point() or r.is_complex()]
        if not all(bool(r.isfinite().all()) for r in moved):
            return None
    if not all(torch.equal(a, b) for a, b in zip(*results, strict=True)):
        return "random"
    return "same" if all(t.dtype in DTYPES for t in (*moved, *call.tensors)) else "coarse"


def _has_gradient(overload: Callable[..., Any], call: Call) -> bool:
    """Whether torch gives a result with a gradient; makes it, so that a process that this ends is not ended by ours."""
    function, at = function_of(overload, call)
    given = [t.clone().requires_grad_() for t in at]
    try:
        results = [r for r in function(*given) if r.requires_grad]
    except Exception:
        return False
    if results:
        measure(lambda: len(torch.autograd.grad(results, given, [torch.ones_like(r) for r in results], allow_unused=True)))
    return bool(results)


def _names(op: ir.Op, call: Call) -> tuple[str, ...]:
    """The argument that each of the call's tensors belongs to; empty for a tensor in the place of something else."""
    # Places in the place of values, to see which argument each is of.
    args, kwargs = tree_unflatten(range(len(call.values)), call.spec)
    named = list(zip([a.name for a in op.schema.positional], args, strict=False)) + list(kwargs.items())
    types = {a.name: a.type for a in op.schema.arguments}
    owner = {p: name for name, value in named if is_tensor_like(types[name]) for p in tree_flatten(value)[0]}
    return tuple(owner.get(p, "") for p in call.places)
