"""Gradients of polynomials: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


def lab_cubic_backward(grads, needs_input_grad, self):
    """The gradients of `lab::cubic`, of those inputs that need one.

        lab::cubic(Tensor self) -> Tensor

        self: grad * (4.5 * self * self - 2 * 0x10 * self + 1'000).conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (4.5 * self * self - 2 * 0x10 * self + 1000).conj()
    return (grad_self,)


class CubicBackward0(torch.autograd.Function):
    """`lab::cubic` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.cubic.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_cubic_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: (self_t.conj() * (4.5 * self_p * self_p - 2 * 0x10 * self_p + 1'000).conj()).conj()
        result_t = None
        if self_t is not None:
            result_t = (self_t.conj() * (4.5 * self_p * self_p - 2 * 0x10 * self_p + 1000).conj()).conj()
        return result_t


def lab_cubic(self: Tensor) -> Tensor:
    """`lab::cubic`, differentiable.

        lab::cubic(Tensor self) -> Tensor
    """
    return CubicBackward0.apply(self)


def lab_short_sine_backward(grads, needs_input_grad, self):
    """The gradients of `lab::short_sine`, of those inputs that need one.

        lab::short_sine(Tensor self) -> Tensor

        self: grad * (1 - self.pow(2) / 2 + self.pow(4) / 24.0).conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (1 - self.pow(2) / 2 + self.pow(4) / 24.0).conj()
    return (grad_self,)


class ShortSineBackward0(torch.autograd.Function):
    """`lab::short_sine` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.short_sine.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_short_sine_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: self_t * (1e0 - .5 * self_p.pow(2) + self_p.pow(4) / 24L)
        result_t = None
        if self_t is not None:
            result_t = self_t * (1e0 - 0.5 * self_p.pow(2) + self_p.pow(4) / 24)
        return result_t


def lab_short_sine(self: Tensor) -> Tensor:
    """`lab::short_sine`, differentiable.

        lab::short_sine(Tensor self) -> Tensor
    """
    return ShortSineBackward0.apply(self)
