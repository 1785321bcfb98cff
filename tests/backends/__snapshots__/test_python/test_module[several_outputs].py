"""Gradients of several_outputs: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_plus_minus_backward(grads, needs_input_grad):
    """The gradients of `lab::plus_minus`, of those inputs that need one.

        lab::plus_minus(Tensor a, Tensor b) -> (Tensor, Tensor)

        a: grads[0].defined() && grads[1].defined() ? grads[0] + grads[1] : grads[0].defined() ? grads[0] : grads[1]
        b: !grads[1].defined() ? grads[0] : !grads[0].defined() ? -grads[1] : grads[0] - grads[1]
    """
    grad_a = grad_b = None
    if needs_input_grad[0] and any(g is not None for g in grads):
        grad_a = (
            grads[0] + grads[1]
            if grads[0] is not None and grads[1] is not None
            else grads[0] if grads[0] is not None else grads[1]
        )
    if needs_input_grad[1] and any(g is not None for g in grads):
        grad_b = grads[0] if grads[1] is None else -grads[1] if grads[0] is None else grads[0] - grads[1]
    return grad_a, grad_b


class PlusMinusBackward0(torch.autograd.Function):
    """`lab::plus_minus` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b):
        return torch.ops.lab.plus_minus.default(a, b)

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx, *grads):
        return lab_plus_minus_backward(grads, ctx.needs_input_grad)

    @staticmethod
    def jvp(ctx, *tangents):
        a_p, b_p = ctx.saved_tensors
        a_t = tangents[0]
        b_t = tangents[1]
        # result0: a_t + b_t
        result0_t = None
        if a_t is not None or b_t is not None:
            a_t = _zeros_for(a_t, a_p)
            b_t = _zeros_for(b_t, b_p)
            result0_t = a_t + b_t
        # result1: a_t - b_t
        result1_t = None
        if a_t is not None or b_t is not None:
            a_t = _zeros_for(a_t, a_p)
            b_t = _zeros_for(b_t, b_p)
            result1_t = a_t - b_t
        return result0_t, result1_t


def lab_plus_minus(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """`lab::plus_minus`, differentiable.

        lab::plus_minus(Tensor a, Tensor b) -> (Tensor, Tensor)
    """
    return PlusMinusBackward0.apply(a, b)


def lab_relu_with_mask_backward(grads, needs_input_grad, result1):
    """The gradients of `lab::relu_with_mask`, of those inputs that need one.

        lab::relu_with_mask(Tensor self) -> (Tensor, Tensor)

        self: grad * result1
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * result1
    return (grad_self,)


class ReluWithMaskBackward0(torch.autograd.Function):
    """`lab::relu_with_mask` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.relu_with_mask.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        _, result1 = output
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(result1)
        ctx.save_for_forward(result1)

    @staticmethod
    def backward(ctx, *grads):
        (result1,) = ctx.saved_tensors
        return lab_relu_with_mask_backward(grads[:1], ctx.needs_input_grad, result1)

    @staticmethod
    def jvp(ctx, *tangents):
        (result1,) = ctx.saved_tensors
        self_t = tangents[0]
        # result0: self_t * result1
        result0_t = None
        if self_t is not None:
            result0_t = self_t * result1
        return result0_t, None


def lab_relu_with_mask(self: Tensor) -> tuple[Tensor, Tensor]:
    """`lab::relu_with_mask`, differentiable.

        lab::relu_with_mask(Tensor self) -> (Tensor, Tensor)
    """
    return ReluWithMaskBackward0.apply(self)
