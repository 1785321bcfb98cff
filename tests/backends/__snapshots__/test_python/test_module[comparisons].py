"""Gradients of comparisons: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _options_of(x):
    """What new tensors like `x` are made with."""
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


def lab_clip_backward(grads, needs_input_grad, high, low, self, self_info):
    """The gradients of `lab::clip`, of those inputs that need one.

        lab::clip(Tensor self, float low, float high) -> Tensor

        self: low > high ? at::zeros_like(self) : grad * at::logical_and(self >= low, self <= high)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = (
            torch.zeros(**self_info)
            if low > high
            else grad * torch.logical_and(self >= low, self <= high)
        )
    return (grad_self,)


class ClipBackward0(torch.autograd.Function):
    """`lab::clip` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, low, high):
        return torch.ops.lab.clip.default(self, low, high)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, low, high = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)
        ctx.high = high
        ctx.low = low
        ctx.self_info = {"size": self.shape, **_options_of(self)}

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        (grad_self,) = lab_clip_backward(
            grads, (ctx.needs_input_grad[0],), ctx.high, ctx.low, self, ctx.self_info
        )
        return grad_self, None, None

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        low = ctx.low
        high = ctx.high
        self_t = tangents[0]
        # result: (low > high ? at::zeros_like(self_p) : self_t.conj() * at::logical_and(self_p >= low, self_p <= high)).conj()
        result_t = None
        if self_t is not None:
            result_t = (torch.zeros_like(self_p)
            if low > high
            else self_t.conj() * torch.logical_and(self_p >= low, self_p <= high)).conj()
        return result_t


def lab_clip(self: Tensor, low: float, high: float) -> Tensor:
    """`lab::clip`, differentiable.

        lab::clip(Tensor self, float low, float high) -> Tensor
    """
    return ClipBackward0.apply(self, low, high)


def lab_soft_clip_backward(grads, needs_input_grad, lower, self, upper):
    """The gradients of `lab::soft_clip`, of those inputs that need one.

        lab::soft_clip(Tensor self, Tensor lower, Tensor upper) -> Tensor

        lower: grad * (self <= lower) / 2
        self: grad * (self > lower) * (self < upper)
        upper: grad * (self >= upper) / 2
    """
    grad = grads[0]
    grad_self = grad_lower = grad_upper = None
    if needs_input_grad[1] and grad is not None:
        grad_lower = grad * (self <= lower) / 2
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (self > lower) * (self < upper)
    if needs_input_grad[2] and grad is not None:
        grad_upper = grad * (self >= upper) / 2
    return grad_self, grad_lower, grad_upper


class SoftClipBackward0(torch.autograd.Function):
    """`lab::soft_clip` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, lower, upper):
        return torch.ops.lab.soft_clip.default(self, lower, upper)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, lower, upper = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(lower, self, upper)

    @staticmethod
    def backward(ctx, *grads):
        lower, self, upper = ctx.saved_tensors
        return lab_soft_clip_backward(grads, ctx.needs_input_grad, lower, self, upper)


def lab_soft_clip(self: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """`lab::soft_clip`, differentiable.

        lab::soft_clip(Tensor self, Tensor lower, Tensor upper) -> Tensor
    """
    return SoftClipBackward0.apply(self, lower, upper)


def lab_signed_backward(grads, needs_input_grad, n):
    """The gradients of `lab::signed`, of those inputs that need one.

        lab::signed(Tensor self, int n) -> Tensor

        self: grad * (n > 0 || n == 0 ? +1 : -1)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (+1 if n > 0 or n == 0 else -1)
    return (grad_self,)


class SignedBackward0(torch.autograd.Function):
    """`lab::signed` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, n):
        return torch.ops.lab.signed.default(self, n)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, n = inputs
        ctx.set_materialize_grads(False)
        ctx.n = n

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_signed_backward(grads, (ctx.needs_input_grad[0],), ctx.n)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        n = ctx.n
        self_t = tangents[0]
        # result: n != 0 && n < 0 ? -self_t : self_t
        result_t = None
        if self_t is not None:
            result_t = -self_t if n != 0 and n < 0 else self_t
        return result_t


def lab_signed(self: Tensor, n: int) -> Tensor:
    """`lab::signed`, differentiable.

        lab::signed(Tensor self, int n) -> Tensor
    """
    return SignedBackward0.apply(self, n)
