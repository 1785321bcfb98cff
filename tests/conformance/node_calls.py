"""One node at a time: upstream's node for random gradients, against our pure function on what upstream saved."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import torch
from deliberate import settle
from emitted_python import Node, nodes
from opinfo import Sample, same, samples

# How many calls of one node are compared: the first of each op and dtype, up to so many.
CALLS = 24


class NoValue(Exception):
    """A saved value has no getter, and cannot be had in another way."""


def reached(outputs: tuple[torch.Tensor, ...]) -> Iterator[Any]:
    """The nodes behind results, each once."""
    todo = [o.grad_fn for o in outputs if o.grad_fn is not None]
    seen = set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        todo += [n for n, _ in node.next_functions if n is not None]


def edges_by_input(node: Any, record: dict[str, Any]) -> dict[str, list[tuple[Any, int]]]:
    """The edges of each differentiable input, in order; lists have as many as they have elements."""
    moving = [i for i in record["inputs"] if i["state"] == "differentiable"]
    lists = [i for i in moving if i["type"].endswith("]")]
    edges = list(node.next_functions)
    each = (len(edges) - len(moving) + len(lists)) // len(lists) if lists else 0
    found = {}
    for info in moving:
        count = each if info in lists else 1
        found[info["name"]], edges = edges[:count], edges[count:]
    return found


def saved_value(node: Any, value: dict[str, Any], edges: dict[str, list[tuple[Any, int]]]) -> Any:
    """What upstream saved, as our function takes it."""
    name, type_ = value["name"], value["type"]
    try:
        found = getattr(node, f"_saved_{name}")
    except AttributeError:
        return from_edges(name, type_, edges)
    return signed(found, type_)


def signed(found: Any, type_: str) -> Any:
    """Getters read signed integers as unsigned ones."""
    if isinstance(found, tuple | list) and "int" in type_.lower():
        return [signed(f, type_) for f in found]
    if isinstance(found, int) and not isinstance(found, bool) and found >= 2**63:
        return found - 2**64
    return found


def from_edges(name: str, type_: str, edges: dict[str, list[tuple[Any, int]]]) -> Any:
    """A property of an input, from what the engine knows of it; None where no gradient of it is wanted."""
    for owner, its in edges.items():
        if not name.startswith(f"{owner}_"):
            continue
        if all(n is None for n, _ in its):
            if type_ in ("TensorInfo", "TensorOptions"):
                # Formulas of other inputs may read these.
                break
            return None
        metadata = [n._input_metadata[i] if n is not None else None for n, i in its]
        first = next(m for m in metadata if m is not None)
        options = {"dtype": first.dtype, "layout": torch.strided, "device": first.device}
        match type_:
            case "ScalarType":
                return first.dtype
            case "ScalarType[]" if None not in metadata:
                return [m.dtype for m in metadata if m is not None]
            case "SymInt[][]" | "int[][]" if None not in metadata:
                return [m.shape for m in metadata if m is not None]
            case "TensorOptions":
                return options
            case "TensorInfo":
                return {"size": first.shape, **options}
            case "Layout":
                return torch.strided
    raise NoValue(f"no getter for {name} ({type_})")


def compare(node: Any, ours: Node) -> str:
    """What differs in one call, empty where nothing does."""
    record = ours.record
    edges = edges_by_input(node, record)
    saved = [saved_value(node, value, edges) for value in record["saved"]]
    generator = torch.Generator().manual_seed(3)
    grads = [torch.randn(tuple(m.shape), dtype=m.dtype, generator=generator) for m in node._input_metadata]
    flags = [o["differentiable"] for o in record["outputs"]]
    # Some nodes have metadata for their differentiable outputs alone.
    given = grads if len(flags) == 1 or len(grads) == sum(flags) else [g for g, f in zip(grads, flags, strict=False) if f]
    needs = tuple(any(n is not None for n, _ in its) for its in edges.values())
    error = theirs = None
    torch.manual_seed(5)
    try:
        theirs = node(*grads)
    except Exception as failure:
        error = failure
    torch.manual_seed(5)
    try:
        mine = ours.backward(given, needs, *saved)
    except Exception as failure:
        return "" if error is not None else f"{type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else ''}"
    # What upstream refuses to compute says nothing of ours.
    if error is not None:
        return ""
    theirs = theirs if isinstance(theirs, tuple) else (theirs,)
    flat: list[Any] = []
    for part, its, wanted in zip(mine, edges.values(), needs, strict=True):
        part = part if isinstance(part, list | tuple) else [part] * (1 if part is not None else len(its))
        flat += [p if wanted else None for p in part]
    for i, (a, b) in enumerate(zip(flat, theirs, strict=True)):
        if i < len(flat) and not same(a, b):
            return f"gradient {i}: ours {shown(a)}, upstream's {shown(b)}"
    return ""


def shown(value: object) -> str:
    """A result in short."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)} {value.detach().flatten()[:3].tolist()}"
    return str(value)


def graphs(sample: Sample) -> Iterator[tuple[torch.Tensor, ...]]:
    """The results of a sample, and those of its gradient."""
    tensors = tuple(t.clone().requires_grad_() for t in sample.tensors)
    outputs = sample.run(*tensors)
    if not outputs:
        return
    yield outputs
    try:
        grads = [torch.randn(o.shape, dtype=o.dtype).requires_grad_() for o in outputs]
        second = torch.autograd.grad(outputs, tensors, grads, create_graph=True, allow_unused=True)
        yield tuple(g for g in second if g is not None and g.requires_grad)
    except RuntimeError:
        return


def reached_nodes(only: str) -> Iterator[tuple[Sample, Any]]:
    """Each node that the samples reach, with its sample."""
    for sample in samples(only=only):
        try:
            found = [node for outputs in graphs(sample) for node in reached(outputs)]
        except Exception:
            continue
        for node in found:
            yield sample, node


def main(only: str) -> None:
    """Compare every node that the samples reach."""
    ours = nodes()
    calls: Counter[str] = Counter()
    wrong: dict[str, dict[str, str]] = defaultdict(dict)
    unread: dict[str, str] = {}
    for sample, node in reached_nodes(only):
        name = node.name()
        known = ours.get(name)
        if known is None or known.function is None or calls[name] >= CALLS:
            continue
        try:
            difference = compare(node, known)
        except NoValue as missing:
            unread.setdefault(name, str(missing))
            continue
        calls[name] += 1
        if difference:
            wrong[name].setdefault(sample.title, difference)
    for name, reason in sorted(unread.items()):
        if not calls[name]:
            print(f"not comparable: {name}: {reason}")
    for name, places in sorted(wrong.items()):
        title, difference = next(iter(places.items()))
        print(f"differs: {name} in {title}: {difference}")
    print(f"{sum(calls.values())} calls")
    unlisted = 0 if only else settle("node-calls", [(name, "gradients") for name in wrong])
    print(f"node-calls: {len(calls) - len(wrong)}/{len(calls)}")
    raise SystemExit(1 if unlisted or not calls else 0)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
