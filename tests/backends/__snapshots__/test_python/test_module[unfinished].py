"""Gradients of unfinished: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::recurrence (Default): no `recurrence_backward`
"""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


# What formulas call beside operators.


def _not_implemented(name, reason=""):
    """Refuse a gradient that nobody has written."""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented. {reason}".strip())


def lab_zeta_backward(grads, needs_input_grad, q, x):
    """The gradients of `lab::zeta`, of those inputs that need one.

        lab::zeta(Tensor x, Tensor q) -> Tensor

        q: grad * -x * at::special_zeta(x + 1, q)
        x: not_implemented("zeta: x")
    """
    grad = grads[0]
    grad_x = grad_q = None
    if needs_input_grad[1] and grad is not None:
        grad_q = grad * -x * aten.special_zeta.default(x + 1, q)
    if needs_input_grad[0] and grad is not None:
        grad_x = _not_implemented("zeta: x")
    return grad_x, grad_q


class ZetaBackward0(torch.autograd.Function):
    """`lab::zeta` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, q):
        return torch.ops.lab.zeta.default(x, q)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, q = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(q, x)

    @staticmethod
    def backward(ctx, *grads):
        q, x = ctx.saved_tensors
        return lab_zeta_backward(grads, ctx.needs_input_grad, q, x)


def lab_zeta(x: Tensor, q: Tensor) -> Tensor:
    """`lab::zeta`, differentiable.

        lab::zeta(Tensor x, Tensor q) -> Tensor
    """
    return ZetaBackward0.apply(x, q)
