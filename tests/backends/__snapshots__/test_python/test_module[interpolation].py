"""Gradients of interpolation: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_mix_backward(grads, needs_input_grad, a, b, w):
    """The gradients of `lab::mix`, of those inputs that need one.

        lab::mix(Tensor a, Tensor b, Tensor w) -> Tensor

        a: grad * (1 - w).conj()
        b: grad * w.conj()
        w: grad * (b - a).conj()
    """
    grad = grads[0]
    grad_a = grad_b = grad_w = None
    if needs_input_grad[0] and grad is not None:
        grad_a = grad * (1 - w).conj()
    if needs_input_grad[1] and grad is not None:
        grad_b = grad * w.conj()
    if needs_input_grad[2] and grad is not None:
        grad_w = grad * (b - a).conj()
    return grad_a, grad_b, grad_w


class MixBackward0(torch.autograd.Function):
    """`lab::mix` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b, w):
        return torch.ops.lab.mix.default(a, b, w)

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b, w = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, b, w)
        ctx.save_for_forward(a, b, w)

    @staticmethod
    def backward(ctx, *grads):
        a, b, w = ctx.saved_tensors
        return lab_mix_backward(grads, ctx.needs_input_grad, a, b, w)

    @staticmethod
    def jvp(ctx, *tangents):
        a_p, b_p, w_p = ctx.saved_tensors
        a_t = tangents[0]
        b_t = tangents[1]
        w_t = tangents[2]
        # result: a_t * (1 - w_p) + b_t * w_p + w_t * (b_p - a_p)
        result_t = None
        if a_t is not None or b_t is not None or w_t is not None:
            a_t = _zeros_for(a_t, a_p)
            b_t = _zeros_for(b_t, b_p)
            w_t = _zeros_for(w_t, w_p)
            result_t = a_t * (1 - w_p) + b_t * w_p + w_t * (b_p - a_p)
        return result_t


def lab_mix(a: Tensor, b: Tensor, w: Tensor) -> Tensor:
    """`lab::mix`, differentiable.

        lab::mix(Tensor a, Tensor b, Tensor w) -> Tensor
    """
    return MixBackward0.apply(a, b, w)


def lab_smooth_step_backward(grads, needs_input_grad, self):
    """The gradients of `lab::smooth_step`, of those inputs that need one.

        lab::smooth_step(Tensor self) -> Tensor

        self: grad * (6 * self * (1 - self)) * at::logical_and(self > 0, self < 1)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (6 * self * (1 - self)) * torch.logical_and(self > 0, self < 1)
    return (grad_self,)


class SmoothStepBackward0(torch.autograd.Function):
    """`lab::smooth_step` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.smooth_step.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_smooth_step_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: (self_t.conj() * (6 * self_p * (1 - self_p)) * at::logical_and(self_p > 0, self_p < 1)).conj()
        result_t = None
        if self_t is not None:
            result_t = (self_t.conj() * (6 * self_p * (1 - self_p))
            * torch.logical_and(self_p > 0, self_p < 1)).conj()
        return result_t


def lab_smooth_step(self: Tensor) -> Tensor:
    """`lab::smooth_step`, differentiable.

        lab::smooth_step(Tensor self) -> Tensor
    """
    return SmoothStepBackward0.apply(self)
