"""Gradients of attention: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::masked_attend (Default): no `attend_backward`
"""

from __future__ import annotations

import torch
from torch import Tensor


def lab_attend_backward(grads, needs_input_grad, key, query, scale, value, output_, weights):
    """The gradients of `lab::attend`, of those inputs that need one.

        lab::attend(Tensor query, Tensor key, Tensor value, float scale) -> (Tensor output, Tensor weights)

        key: (weights * (grad.matmul(value.mT()) - (grad * output).sum(-1, true))).mT().matmul(query) * scale
        query: (weights * (grad.matmul(value.mT()) - (grad * output).sum(-1, true))).matmul(key) * scale
        value: weights.mT().matmul(grad)
    """
    grad = grads[0]
    grad_query = grad_key = grad_value = None
    if needs_input_grad[1] and grad is not None:
        grad_key = (
            (weights * (grad.matmul(value.mT) - (grad * output_).sum([-1], True))).mT.matmul(query)
            * scale
        )
    if needs_input_grad[0] and grad is not None:
        grad_query = (
            (weights * (grad.matmul(value.mT) - (grad * output_).sum([-1], True))).matmul(key)
            * scale
        )
    if needs_input_grad[2] and grad is not None:
        grad_value = weights.mT.matmul(grad)
    return grad_query, grad_key, grad_value


class AttendBackward0(torch.autograd.Function):
    """`lab::attend` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(query, key, value, scale):
        return torch.ops.lab.attend.default(query, key, value, scale)

    @staticmethod
    def setup_context(ctx, inputs, output):
        query, key, value, scale = inputs
        ctx.set_materialize_grads(False)
        output_, weights = output
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(key, query, value, output_, weights)
        ctx.scale = scale

    @staticmethod
    def backward(ctx, *grads):
        key, query, value, output_, weights = ctx.saved_tensors
        grad_query, grad_key, grad_value = lab_attend_backward(
            grads[:1], (ctx.needs_input_grad[0], ctx.needs_input_grad[1], ctx.needs_input_grad[2]), key,
            query, ctx.scale, value, output_, weights
        )
        return grad_query, grad_key, grad_value, None


def lab_attend(query: Tensor, key: Tensor, value: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """`lab::attend`, differentiable.

        lab::attend(Tensor query, Tensor key, Tensor value, float scale) -> (Tensor output, Tensor weights)
    """
    return AttendBackward0.apply(query, key, value, scale)
