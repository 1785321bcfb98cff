"""OpInfo's samples with their ops rerouted to emitted functions: results, gradients, second order and tangents as upstream's."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
from attrs import frozen
from deliberate import settle
from emitted_python import nodes
from node_calls import reached
from opinfo import Sample, cotangent, same, samples
from reroute import CALLED, can_reroute, rerouted

PARTS = ("output", "gradient", "second order", "tangent")


@frozen(eq=False)
class Results:
    """All that one sample computes; None for a part that it has not, an exception for one that failed."""

    parts: dict[str, list[Any] | Exception | None]
    reached: frozenset[str]


def measure(sample: Sample) -> Results:
    """Run a sample and its derivatives."""
    parts: dict[str, list[Any] | Exception | None] = dict.fromkeys(PARTS)
    names: set[str] = set()
    try:
        tensors = tuple(t.clone().requires_grad_() for t in sample.tensors)
        outputs = sample.run(*tensors)
        parts["output"] = [o.detach() for o in outputs]
        names |= {n.name() for n in reached(outputs)}
        if outputs:
            weights = [cotangent(o, i).requires_grad_() for i, o in enumerate(outputs)]
            grads = torch.autograd.grad(outputs, tensors, weights, create_graph=True, allow_unused=True)
            parts["gradient"] = [g if g is None else g.detach() for g in grads]
            parts["second order"] = second_order(grads, (*tensors, *weights), names)
    except Exception as error:
        parts["gradient" if parts["output"] is not None else "output"] = error
    try:
        parts["tangent"] = tangents(sample)
    except Exception as error:
        parts["tangent"] = error
    return Results(parts, frozenset(names))


def second_order(grads: tuple[Any, ...], to: tuple[Any, ...], names: set[str]) -> list[Any] | Exception | None:
    """The gradients of gradients."""
    moving = tuple(g for g in grads if g is not None and g.requires_grad)
    if not moving:
        return None
    names |= {n.name() for n in reached(moving)}
    try:
        found = torch.autograd.grad(moving, to, [cotangent(g, 9 + i) for i, g in enumerate(moving)], allow_unused=True)
    except Exception as error:
        return error
    dense = [g.to_dense() if g is not None and g.layout != torch.strided else g for g in found]
    # A gradient that nobody has and one of zeros are the same to who asks, as is one that rounding leaves.
    return [g if g is None or bool((g.abs() > 1e-12).any()) else None for g in dense]


def tangents(sample: Sample) -> list[Any]:
    """The tangents of the results."""
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(t.clone(), cotangent(t, 20 + i)) for i, t in enumerate(sample.tensors)]
        outputs = sample.run(*[d.requires_grad_() for d in duals])
        return [forward_ad.unpack_dual(o).tangent for o in outputs]


def difference(mine: Results, theirs: Results) -> tuple[str, str]:
    """The first part that differs, and how: ("", "") where none does."""
    for part in PARTS:
        a, b = mine.parts[part], theirs.parts[part]
        if isinstance(b, Exception) or b is None:
            continue
        if isinstance(a, Exception):
            return part, f"{type(a).__name__}: {str(a).splitlines()[0] if str(a) else ''}"
        if a is None or len(a) != len(b):
            return part, "missing"
        for x, y in zip(a, b, strict=True):
            if not same(x, y, 1e-7):
                return part, "numeric difference"
    return "", ""


def main(only: str) -> None:
    """Compare, and attribute what differs to the one node that makes it so."""
    known = nodes()
    recorded = [(sample, measure(sample)) for sample in samples(only=only)]
    reachable: Counter[str] = Counter()
    missed: dict[str, dict[str, str]] = defaultdict(dict)
    called: set[str] = set()
    for sample, theirs in recorded:
        names = [n for n in theirs.reached if n in known and known[n].function is not None]
        mine = [n for n in names if can_reroute(known[n])]
        reachable.update(names)
        CALLED.clear()
        torch.manual_seed(0)
        with rerouted(mine):
            part, how = difference(measure(sample), theirs)
        called |= set(CALLED)
        if not part:
            continue
        for name in mine:
            with rerouted([name]):
                part, how = difference(measure(sample), theirs)
            if part:
                missed[name].setdefault(f"{part}: {how}", sample.title)
    for name in reachable:
        if name not in called:
            missed[name].setdefault("was not called", "")
    reasons: dict[str, list[str]] = defaultdict(list)
    for name, places in missed.items():
        for reason, title in places.items():
            reasons[reason].append(f"{name} ({title})" if title else name)
    for reason, titles in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(titles):>4}  {reason}: {', '.join(sorted(titles)[:6])}")
    numeric = {(name, reason.partition(":")[0]) for name, places in missed.items() for reason in places if "numeric" in reason}
    print(f"{len(recorded)} samples; numeric differences: {len(numeric)}")
    unlisted = 0 if only else settle("python-opinfo", numeric)
    print(f"python-opinfo: {len(reachable) - len(missed)}/{len(reachable)}")
    raise SystemExit(1 if unlisted or not reachable else 0)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
