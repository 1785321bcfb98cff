"""Gradients of bits: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _truncated_remainder(a, b):
    """What `_truncated_quotient` leaves: its sign is that of `a`."""
    rest = abs(a) % abs(b)
    return rest if a >= 0 else -rest


def lab_keep_either_backward(grads, needs_input_grad, a, b):
    """The gradients of `lab::keep_either`, of those inputs that need one.

        lab::keep_either(Tensor self, Tensor a, Tensor b) -> Tensor

        self: grad * (a | b)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (a | b)
    return (grad_self,)


class KeepEitherBackward0(torch.autograd.Function):
    """`lab::keep_either` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, a, b):
        return torch.ops.lab.keep_either.default(self, a, b)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, a, b = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx, *grads):
        a, b = ctx.saved_tensors
        (grad_self,) = lab_keep_either_backward(grads, (ctx.needs_input_grad[0],), a, b)
        return grad_self, None, None

    @staticmethod
    def jvp(ctx, *tangents):
        a, b = ctx.saved_tensors
        self_t = tangents[0]
        # result: self_t * (a | b)
        result_t = None
        if self_t is not None:
            result_t = self_t * (a | b)
        return result_t


def lab_keep_either(self: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """`lab::keep_either`, differentiable.

        lab::keep_either(Tensor self, Tensor a, Tensor b) -> Tensor
    """
    return KeepEitherBackward0.apply(self, a, b)


def lab_keep_one_backward(grads, needs_input_grad, a, b):
    """The gradients of `lab::keep_one`, of those inputs that need one.

        lab::keep_one(Tensor self, Tensor a, Tensor b) -> Tensor

        self: at::where(a ^ b, grad, -grad) * ~(~a & ~b)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = torch.where(a ^ b, grad, -grad) * ~(~a & ~b)
    return (grad_self,)


class KeepOneBackward0(torch.autograd.Function):
    """`lab::keep_one` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, a, b):
        return torch.ops.lab.keep_one.default(self, a, b)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, a, b = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx, *grads):
        a, b = ctx.saved_tensors
        (grad_self,) = lab_keep_one_backward(grads, (ctx.needs_input_grad[0],), a, b)
        return grad_self, None, None

    @staticmethod
    def jvp(ctx, *tangents):
        a, b = ctx.saved_tensors
        self_t = tangents[0]
        # result: at::where(a ^ b, self_t, -self_t) * ~(~a & ~b)
        result_t = None
        if self_t is not None:
            result_t = torch.where(a ^ b, self_t, -self_t) * ~(~a & ~b)
        return result_t


def lab_keep_one(self: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """`lab::keep_one`, differentiable.

        lab::keep_one(Tensor self, Tensor a, Tensor b) -> Tensor
    """
    return KeepOneBackward0.apply(self, a, b)


def lab_gain_backward(grads, needs_input_grad, level):
    """The gradients of `lab::gain`, of those inputs that need one.

        lab::gain(Tensor self, int level) -> Tensor

        self: grad * (1 << level >> (level & 1))
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (1 << level >> (level & 1))
    return (grad_self,)


class GainBackward0(torch.autograd.Function):
    """`lab::gain` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, level):
        return torch.ops.lab.gain.default(self, level)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, level = inputs
        ctx.set_materialize_grads(False)
        ctx.level = level

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_gain_backward(grads, (ctx.needs_input_grad[0],), ctx.level)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        level = ctx.level
        self_t = tangents[0]
        # result: self_t * (level % 2 == 1 ? 1 << level >> 1 : 1 << level)
        result_t = None
        if self_t is not None:
            result_t = self_t * (1 << level >> 1 if _truncated_remainder(level, 2) == 1 else 1 << level)
        return result_t


def lab_gain(self: Tensor, level: int) -> Tensor:
    """`lab::gain`, differentiable.

        lab::gain(Tensor self, int level) -> Tensor
    """
    return GainBackward0.apply(self, level)
