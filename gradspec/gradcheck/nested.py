"""Forward mode within forward mode, which torch turns off around the `jvp` of an autograd function; knows no operator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.autograd import forward_ad


class _Primals:
    """The context of a node, whose saved tensors carry no tangents of the level at work."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._context, name)
        return tuple(_primal(v) for v in value) if name == "saved_tensors" else value


def _primal(value: Any) -> Any:
    return forward_ad.unpack_dual(value, level=0).primal if isinstance(value, torch.Tensor) else value


@contextmanager
def forward_over_forward(node: type[Any]) -> Iterator[None]:
    """Let tangents of an outer level through the formulas of a node's `jvp`.

    torch calls `jvp` with forward mode off (csrc/autograd/custom_function.cpp), as what is saved still has the tangents of the
    level that is being worked out. With it off, outer levels see constants: the second derivative would be 0.
    """
    written = vars(node)["jvp"]

    def jvp(context: Any, *tangents: Any) -> Any:
        with forward_ad._set_fwd_grad_enabled(True):
            return written.__func__(_Primals(context), *tangents)

    node.jvp = staticmethod(jvp)
    try:
        yield
    finally:
        node.jvp = written
