"""Gradients of comments: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


def lab_half_backward(grads, needs_input_grad):
    """The gradients of `lab::half`, of those inputs that need one.

        lab::half(Tensor self) -> Tensor

        self: grad * 0.5
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * 0.5
    return (grad_self,)


class HalfBackward0(torch.autograd.Function):
    """`lab::half` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.half.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return lab_half_backward(grads, ctx.needs_input_grad)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: self_t * 0.5
        result_t = None
        if self_t is not None:
            result_t = self_t * 0.5
        return result_t


def lab_half(self: Tensor) -> Tensor:
    """`lab::half`, differentiable.

        lab::half(Tensor self) -> Tensor
    """
    return HalfBackward0.apply(self)
