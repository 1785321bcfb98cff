"""Gradients of templates: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::blend (Default): no `blend_backward`
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def lab_turned_sum_backward(grads, needs_input_grad):
    """The gradients of `lab::turned_sum`, of those inputs that need one.

        lab::turned_sum(Tensor x, Tensor y) -> Tensor

        x: at::flip(grad, at::IntArrayRef({-2, -1}))
        y: at::flip(grad, std::vector<int64_t>{-2, -1})
    """
    grad = grads[0]
    grad_x = grad_y = None
    if needs_input_grad[0] and grad is not None:
        grad_x = torch.flip(grad, [-2, -1])
    if needs_input_grad[1] and grad is not None:
        grad_y = torch.flip(grad, [-2, -1])
    return grad_x, grad_y


class TurnedSumBackward0(torch.autograd.Function):
    """`lab::turned_sum` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return torch.ops.lab.turned_sum.default(x, y)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return lab_turned_sum_backward(grads, ctx.needs_input_grad)


def lab_turned_sum(x: Tensor, y: Tensor) -> Tensor:
    """`lab::turned_sum`, differentiable.

        lab::turned_sum(Tensor x, Tensor y) -> Tensor
    """
    return TurnedSumBackward0.apply(x, y)


def lab_reorder_backward(grads, needs_input_grad, order):
    """The gradients of `lab::reorder`, of those inputs that need one.

        lab::reorder(Tensor self, int[3] order) -> Tensor

        self: grad.permute(std::array<int64_t, 3>{order[0] == 0 ? 0 : order[1] == 0 ? 1 : 2, order[0] == 1 ? 0 : order[1] == 1 ? 1 : 2, order[0] == 2 ? 0 : order[1] == 2 ? 1 : 2})
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.permute(
            [
                0 if order[0] == 0 else 1 if order[1] == 0 else 2,
                0 if order[0] == 1 else 1 if order[1] == 1 else 2,
                0 if order[0] == 2 else 1 if order[1] == 2 else 2
            ]
        )
    return (grad_self,)


class ReorderBackward0(torch.autograd.Function):
    """`lab::reorder` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, order):
        return torch.ops.lab.reorder.default(self, order)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, order = inputs
        ctx.set_materialize_grads(False)
        ctx.order = order

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_reorder_backward(grads, (ctx.needs_input_grad[0],), ctx.order)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        order = ctx.order
        self_t = tangents[0]
        # result: lab::reorder(self_t, order)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.reorder.default(self_t, order)
        return result_t


def lab_reorder(self: Tensor, order: Sequence[int]) -> Tensor:
    """`lab::reorder`, differentiable.

        lab::reorder(Tensor self, int[3] order) -> Tensor
    """
    return ReorderBackward0.apply(self, order)
