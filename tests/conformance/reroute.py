"""Ops of the dispatcher rerouted to emitted functions, and back; knows no sample."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from emitted_python import Node, emitted_module, nodes

# Kernels that end the process when they are called from Python with what a node hands them.
CRASHES = frozenset({"SparseMmReduceImplBackward0"})

# How often each emitted function was called since the count was cleared.
CALLED: Counter[str] = Counter()


@cache
def typed_functions() -> dict[str, Callable[..., Any]]:
    """The typed function of each node, by class name."""
    module = emitted_module()
    found = {}
    for value in vars(module).values():
        code = getattr(value, "__code__", None)
        if code is not None and code.co_filename == module.__file__:
            for name in code.co_names:
                if name in nodes() and "apply" in code.co_names:
                    found[name] = value
    return found


@cache
def _below_autograd(name: str) -> None:
    """Let a class's forward call the kernel below autograd: above it, it would meet itself."""
    function: Any = nodes()[name].function
    inner = function.forward
    # As upstream's own kernels do: only a view or a write may be seen by the key that tracks them.
    tracked = "(a" in nodes()[name].record["schema"]
    below = torch._C._AutoDispatchBelowAutograd if tracked else torch._C._AutoDispatchBelowADInplaceOrView

    def forward(*args: Any) -> Any:
        CALLED[name] += 1
        with below():
            return inner(*args)

    function.forward = staticmethod(forward)


def can_reroute(node: Node) -> bool:
    """Whether the node's op has an emitted function that stands for it on the CPU."""
    if node.function is None or node.name in CRASHES:
        return False
    return node.record["dispatch"] == "Default" and node.name in typed_functions()


@contextmanager
def rerouted(names: Iterable[str]) -> Iterator[None]:
    """Within it, the ops of these nodes run our functions at AutogradCPU."""
    library = torch.library.Library("aten", "IMPL")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in sorted(names):
                _below_autograd(name)
                library.impl(nodes()[name].record["op"], typed_functions()[name], "AutogradCPU")
        yield
    finally:
        library._destroy()
