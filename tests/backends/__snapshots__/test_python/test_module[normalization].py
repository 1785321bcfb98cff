"""Gradients of normalization: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


def lab_rms_scale_backward(grads, needs_input_grad, factor, scaled):
    """The gradients of `lab::rms_scale`, of those inputs that need one.

        lab::rms_scale(Tensor self, float eps=1e-6) -> (Tensor scaled, Tensor factor)

        self: factor * (grad - scaled * (grad * scaled).mean(-1, true))
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = factor * (grad - scaled * (grad * scaled).mean([-1], True))
    return (grad_self,)


class RmsScaleBackward0(torch.autograd.Function):
    """`lab::rms_scale` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, eps):
        return torch.ops.lab.rms_scale.default(self, eps)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        scaled, factor = output
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(factor, scaled)
        ctx.save_for_forward(factor, scaled)

    @staticmethod
    def backward(ctx, *grads):
        factor, scaled = ctx.saved_tensors
        (grad_self,) = lab_rms_scale_backward(grads[:1], (ctx.needs_input_grad[0],), factor, scaled)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        factor, scaled = ctx.saved_tensors
        self_t = tangents[0]
        # scaled: factor * (self_t - scaled * (self_t * scaled).mean(-1, true))
        scaled_t = None
        if self_t is not None:
            scaled_t = factor * (self_t - scaled * (self_t * scaled).mean([-1], True))
        return scaled_t, None


def lab_rms_scale(self: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    """`lab::rms_scale`, differentiable.

        lab::rms_scale(Tensor self, float eps=1e-6) -> (Tensor scaled, Tensor factor)
    """
    return RmsScaleBackward0.apply(self, eps)


def lab_shares_backward(grads, needs_input_grad, result):
    """The gradients of `lab::shares`, of those inputs that need one.

        lab::shares(Tensor self) -> Tensor

        self: result * (grad - (grad * result).sum(-1, true))
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = result * (grad - (grad * result).sum([-1], True))
    return (grad_self,)


class SharesBackward0(torch.autograd.Function):
    """`lab::shares` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.shares.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(result)
        ctx.save_for_forward(result)

    @staticmethod
    def backward(ctx, *grads):
        (result,) = ctx.saved_tensors
        return lab_shares_backward(grads, ctx.needs_input_grad, result)

    @staticmethod
    def jvp(ctx, *tangents):
        (result,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: result * (self_t - (self_t * result).sum(-1, true))
        result_t = None
        if self_t is not None:
            result_t = result * (self_t - (self_t * result).sum([-1], True))
        return result_t


def lab_shares(self: Tensor) -> Tensor:
    """`lab::shares`, differentiable.

        lab::shares(Tensor self) -> Tensor
    """
    return SharesBackward0.apply(self)


def lab_centered_backward(grads, needs_input_grad):
    """The gradients of `lab::centered`, of those inputs that need one.

        lab::centered(Tensor self) -> Tensor

        self: grad - grad.mean(-1, true)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad - grad.mean([-1], True)
    return (grad_self,)


class CenteredBackward0(torch.autograd.Function):
    """`lab::centered` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.centered.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return lab_centered_backward(grads, ctx.needs_input_grad)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: lab::centered(self_t)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.centered.default(self_t)
        return result_t


def lab_centered(self: Tensor) -> Tensor:
    """`lab::centered`, differentiable.

        lab::centered(Tensor self) -> Tensor
    """
    return CenteredBackward0.apply(self)
