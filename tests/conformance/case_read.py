"""Reads what nodes keep, after real runs of their ops, and prints what is wrong, a line each.

Usage: case_read.py LIBRARY ID
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import torch

TWICE = "Trying to backward through the graph a second time"


def released(m: Any) -> Iterator[str]:
    """B25: before the backward pass a value, after it an error and no crash; for lists too, and for handles."""
    x, y = (torch.tensor([2.0, 3.0], requires_grad=True), torch.tensor([5.0, 7.0], requires_grad=True))
    for result, class_, values in (
        (m.gb25(x, y), m.B25.Gb25Backward0, {"self": x, "other": y}),
        (m.gb25l([x, y]), m.B25.Gb25LBackward0, {"ts": (x, y)}),
    ):
        node = result.grad_fn
        if type(node) is not class_:
            yield f"the node is a {type(node).__name__}, not a {class_.__name__}"
        result.sum().backward(retain_graph=True)
        for name, value in values.items():
            read = getattr(node, f"_saved_{name}")
            same = [a is b for a, b in zip(read, value, strict=True)] if isinstance(value, tuple) else [read is value]
            if not all(same):
                yield f"_saved_{name} is {read!r} while the graph is kept"
            getattr(node, f"_raw_saved_{name}")
        result.sum().backward()
        for name in (prefix + name for name in values for prefix in ("_saved_", "_raw_saved_")):
            try:
                yield f"{name} is {getattr(node, name)!r} after the backward pass"
            except RuntimeError as error:
                if not str(error).startswith(TWICE):
                    yield f"{name}: {error}"
    expected = (2 * y + 4 * x, 2 * x + 4 * y)
    if not all(torch.equal(a.grad, b) for a, b in zip((x, y), expected, strict=True)):
        yield f"the gradients are {x.grad} and {y.grad}"


def sizes_alone(m: Any) -> Iterator[str]:
    """B14: sizes and a count are kept, and the tensor goes."""
    x = torch.ones(3, 4, requires_grad=True)
    big = x * 2
    gone = weakref.ref(big)
    y = m.sb14(big)
    names = {name for name in dir(type(y.grad_fn)) if "_saved_" in name}
    if names != {"_saved_self_sym_numel", "_saved_self_sym_sizes"}:
        yield f"the getters are {names}"
    read = (y.grad_fn._saved_self_sym_numel, y.grad_fn._saved_self_sym_sizes)
    if read != (12, (3, 4)):
        yield f"12 elements in rows of 4 read as {read}"
    del big
    if gone() is not None:
        yield "the tensor is kept"
    y.backward()
    if not torch.equal(x.grad, torch.full((3, 4), 2 / 12)):
        yield f"the gradient is {x.grad}"


def saved_output(m: Any) -> Iterator[str]:
    """B26: an output comes back with its node, as another object."""
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = m.gb26(x)
    read = y.grad_fn._saved_result
    if type(y.grad_fn) is not m.B26.Gb26Backward0:
        yield f"the node is a {type(y.grad_fn).__name__}"
    if read.grad_fn is not y.grad_fn:
        yield f"the output's node is {read.grad_fn}"
    if read is y:
        yield "the output itself is kept, so that it would never go"
    if not torch.equal(read, y):
        yield f"the output is {read}, not {y}"


def numbers(m: Any) -> Iterator[str]:
    """B28: signed numbers, None for what is absent, tuples for lists; bools stay bools, and Scalars what they were."""
    x = torch.ones(2, requires_grad=True)
    big = 2**64 - 1
    for op, arguments, expected in (
        (m.gb28, (-1, [-1], None), (-1, (-1,), None)),
        (m.gb28, (2, [], -3), (2, (), -3)),
        (m.gb28_upstream, (-1, [-1], None), (big, (big,), None)),
        (m.gb28_upstream, (2, [3, -2], -1), (2, (3, big - 1), big)),
    ):
        node = op(x, *arguments).grad_fn
        read = (node._saved_dim, node._saved_dims, node._saved_opt)
        if repr(read) != repr(expected):
            yield f"{op.__name__}{arguments} reads as {read}, not {expected}"
    for exact, number in ((True, 2), (False, 2.5), (True, True), (False, 1 + 2j), (True, -7)):
        node = m.gb28n(x, exact, number).grad_fn
        given = (node._saved_exact, node._saved_number)
        if repr(given) != repr((exact, number)):
            yield f"gb28n{(exact, number)} reads as {given}"


def keywords(m: Any) -> Iterator[str]:
    """N02: a getter has the name of what it reads, whatever Python thinks of that name."""
    names = {name for name in dir(m.N02.KpBackward0) if name.startswith("_saved_")}
    if names != {"_saved_from", "_saved_lambda"}:
        yield f"the getters are {names}"


CHECKS: dict[str, Callable[[Any], Iterator[str]]] = {
    "B14": sizes_alone, "B25": released, "B26": saved_output, "B28": numbers, "N02": keywords,
}  # fmt: skip


def main(library: str, case_id: str) -> None:
    """Load, check, print."""
    found = spec_from_file_location("case_bindings", library)
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    for problem in CHECKS[case_id](module):
        print(" ".join(problem.split()))


if __name__ == "__main__":
    main(*sys.argv[1:])
