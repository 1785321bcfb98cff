"""`cpp-node-calls: N/M`: each node of torch that its samples reach, against ours with what torch's own node keeps.

Both are called with the same gradients: all of them, and where there are several each by itself, with the others undefined. What
comes out must be equal, and undefined on both sides or on none. A call that torch refuses says nothing of ours. Where torch's
gradient is wrong, deliberate.toml says so.

Usage: cpp_node_calls.py [OP]
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from attrs import frozen
from cpp_library import nodes_module
from deliberate import settle
from header import shipped_nodes
from node_calls import reached_nodes, shown
from opinfo import same

# How many samples' calls of one node are compared, and how many nodes have to be reached.
CALLS = 24
LEAST = 350


@frozen
class Outcome:
    """What a call gave, or why it gave nothing."""

    gradients: tuple[Any, ...]
    error: Exception | None


def call(node: Any, gradients: list[Any]) -> Outcome:
    """One call of a node; what is drawn at random is the same each time."""
    torch.manual_seed(5)
    try:
        found = node(*gradients)
    except Exception as error:
        return Outcome((), error)
    return Outcome(found if isinstance(found, tuple) else (found,), None)


def gradients_of(node: Any) -> Iterator[list[Any]]:
    """Gradients for the outputs of a node: for all, and for each alone."""
    generator = torch.Generator().manual_seed(3)
    outputs = node._input_metadata
    every = [torch.randn(tuple(m.shape), dtype=m.dtype, generator=generator) for m in outputs]
    if len(every) > 1:
        every = [None if is_absent(m) else grad for m, grad in zip(outputs, every, strict=True)]
    yield every
    if len(every) > 1:
        for i, alone in enumerate(every):
            if alone is not None:
                yield [grad if i == j else None for j, grad in enumerate(every)]


def is_absent(output: Any) -> bool:
    """Whether there was no such output. What the engine notes of it is what it notes of a lone float; no sample has these."""
    return tuple(output.shape) == () and output.dtype == torch.float32


def difference(ours: Outcome, theirs: Outcome) -> str:
    """What differs of what torch gave, empty where nothing does."""
    if ours.error is not None:
        return f"refused: {first_line(ours.error)}"
    for i, (a, b) in enumerate(zip(ours.gradients, theirs.gradients, strict=True)):
        if not same(a, b):
            return f"gradient {i}: ours {shown(a)}, torch's {shown(b)}"
    return ""


def first_line(error: Exception) -> str:
    """An error in short."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def main(only: str) -> None:
    """Compare every node that the samples reach."""
    module = nodes_module()
    known = frozenset(shipped_nodes())
    equal: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    wrong: dict[str, dict[str, str]] = defaultdict(dict)
    seen: Counter[str] = Counter()
    for sample, node in reached_nodes(only):
        name = node.name()
        if name not in known or seen[name] >= CALLS:
            continue
        seen[name] += 1
        ours = module.make(node)
        for gradients in gradients_of(node):
            theirs = call(node, gradients)
            if theirs.error is not None:
                refused[name] += 1
                continue
            said = difference(call(ours, gradients), theirs)
            if said:
                undefined = " with gradients left undefined" if None in gradients else ""
                wrong[name].setdefault(f"{sample.title}{undefined}", said)
            else:
                equal[name] += 1
    for name, places in sorted(wrong.items()):
        for title, said in islice(places.items(), 2):
            print(f"differs: {name} in {title}: {said}")
    compared = set(equal) | set(wrong)
    for name in sorted(set(refused) - compared):
        print(f"torch refuses every call: {name}")
    print(f"{sum(equal.values())} calls are equal, torch refuses {sum(refused.values())}")
    unmeant = settle("cpp-node-calls", ((name, "gradients") for name in wrong)) if not only else len(wrong)
    print(f"cpp-node-calls: {len(compared - set(wrong))}/{len(compared)}")
    raise SystemExit(1 if unmeant or (not only and len(compared) < LEAST) else 0)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
