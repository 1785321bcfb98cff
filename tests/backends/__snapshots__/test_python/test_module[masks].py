"""Gradients of masks: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::affine (Default): no `affine_backward`
"""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_product_backward(grads, needs_input_grad, a, b):
    """The gradients of `lab::product`, of those inputs that need one.

        lab::product(Tensor a, Tensor b) -> Tensor

        a, b: std::tuple<Tensor, Tensor>(grad_input_mask[0] ? grad * b.conj() : Tensor(), grad_input_mask[1] ? grad * a.conj() : Tensor())
    """
    grad = grads[0]
    grad_a = grad_b = None
    if any(needs_input_grad) and grad is not None:
        grad_input_mask = [needs_input_grad[0], needs_input_grad[1]]
        grad_a, grad_b = (
            grad * b.conj() if grad_input_mask[0] else None, grad * a.conj() if grad_input_mask[1] else None
        )
    return grad_a, grad_b


class ProductBackward0(torch.autograd.Function):
    """`lab::product` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b):
        return torch.ops.lab.product.default(a, b)

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx, *grads):
        a, b = ctx.saved_tensors
        return lab_product_backward(grads, ctx.needs_input_grad, a, b)

    @staticmethod
    def jvp(ctx, *tangents):
        a_p, b_p = ctx.saved_tensors
        a_t = tangents[0]
        b_t = tangents[1]
        # result: a_t * b_p + a_p * b_t
        result_t = None
        if a_t is not None or b_t is not None:
            a_t = _zeros_for(a_t, a_p)
            b_t = _zeros_for(b_t, b_p)
            result_t = a_t * b_p + a_p * b_t
        return result_t


def lab_product(a: Tensor, b: Tensor) -> Tensor:
    """`lab::product`, differentiable.

        lab::product(Tensor a, Tensor b) -> Tensor
    """
    return ProductBackward0.apply(a, b)
