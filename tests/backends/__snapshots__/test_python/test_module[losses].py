"""Gradients of losses: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_pseudo_huber_backward(grads, needs_input_grad, delta, self, target):
    """The gradients of `lab::pseudo_huber`, of those inputs that need one.

        lab::pseudo_huber(Tensor self, Tensor target, float delta=1.0) -> Tensor

        self: grad * (self - target) / (1 + ((self - target) / delta).square()).sqrt()
        target: grad * (target - self) / (1 + ((self - target) / delta).square()).sqrt()
    """
    grad = grads[0]
    grad_self = grad_target = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (self - target) / (1 + ((self - target) / delta).square()).sqrt()
    if needs_input_grad[1] and grad is not None:
        grad_target = grad * (target - self) / (1 + ((self - target) / delta).square()).sqrt()
    return grad_self, grad_target


class PseudoHuberBackward0(torch.autograd.Function):
    """`lab::pseudo_huber` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, target, delta):
        return torch.ops.lab.pseudo_huber.default(self, target, delta)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, target, delta = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self, target)
        ctx.save_for_forward(self, target)
        ctx.delta = delta

    @staticmethod
    def backward(ctx, *grads):
        self, target = ctx.saved_tensors
        grad_self, grad_target = lab_pseudo_huber_backward(
            grads, (ctx.needs_input_grad[0], ctx.needs_input_grad[1]), ctx.delta, self, target
        )
        return grad_self, grad_target, None

    @staticmethod
    def jvp(ctx, *tangents):
        self_p, target_p = ctx.saved_tensors
        delta = ctx.delta
        self_t = tangents[0]
        target_t = tangents[1]
        # result: (self_t - target_t) * (self_p - target_p) / (1 + ((self_p - target_p) / delta).square()).sqrt()
        result_t = None
        if self_t is not None or target_t is not None:
            self_t = _zeros_for(self_t, self_p)
            target_t = _zeros_for(target_t, target_p)
            result_t = (
                (self_t - target_t) * (self_p - target_p)
                / (1 + ((self_p - target_p) / delta).square()).sqrt()
            )
        return result_t


def lab_pseudo_huber(self: Tensor, target: Tensor, delta: float = 1.0) -> Tensor:
    """`lab::pseudo_huber`, differentiable.

        lab::pseudo_huber(Tensor self, Tensor target, float delta=1.0) -> Tensor
    """
    return PseudoHuberBackward0.apply(self, target, delta)


def lab_pinball_backward(grads, needs_input_grad, quantile, self, target):
    """The gradients of `lab::pinball`, of those inputs that need one.

        lab::pinball(Tensor self, Tensor target, float quantile) -> Tensor

        self: at::where(self > target, grad * (1 - quantile), grad * -quantile)
        target: at::where(self > target, grad * (quantile - 1), grad * quantile)
    """
    grad = grads[0]
    grad_self = grad_target = None
    if needs_input_grad[0] and grad is not None:
        grad_self = torch.where(self > target, grad * (1 - quantile), grad * -quantile)
    if needs_input_grad[1] and grad is not None:
        grad_target = torch.where(self > target, grad * (quantile - 1), grad * quantile)
    return grad_self, grad_target


class PinballBackward0(torch.autograd.Function):
    """`lab::pinball` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, target, quantile):
        return torch.ops.lab.pinball.default(self, target, quantile)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, target, quantile = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self, target)
        ctx.quantile = quantile

    @staticmethod
    def backward(ctx, *grads):
        self, target = ctx.saved_tensors
        grad_self, grad_target = lab_pinball_backward(
            grads, (ctx.needs_input_grad[0], ctx.needs_input_grad[1]), ctx.quantile, self, target
        )
        return grad_self, grad_target, None


def lab_pinball(self: Tensor, target: Tensor, quantile: float) -> Tensor:
    """`lab::pinball`, differentiable.

        lab::pinball(Tensor self, Tensor target, float quantile) -> Tensor
    """
    return PinballBackward0.apply(self, target, quantile)


def lab_logistic_backward(grads, needs_input_grad, self, target):
    """The gradients of `lab::logistic`, of those inputs that need one.

        lab::logistic(Tensor self, Tensor target) -> Tensor

        self: -grad * target * at::sigmoid(-target * self)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = -grad * target * torch.sigmoid(-target * self)
    return (grad_self,)


class LogisticBackward0(torch.autograd.Function):
    """`lab::logistic` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, target):
        return torch.ops.lab.logistic.default(self, target)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, target = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self, target)
        ctx.save_for_forward(target, self)

    @staticmethod
    def backward(ctx, *grads):
        self, target = ctx.saved_tensors
        (grad_self,) = lab_logistic_backward(grads, (ctx.needs_input_grad[0],), self, target)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        target, self_p = ctx.saved_tensors
        self_t = tangents[0]
        # result: -self_t * target * at::sigmoid(-target * self_p)
        result_t = None
        if self_t is not None:
            result_t = -self_t * target * torch.sigmoid(-target * self_p)
        return result_t


def lab_logistic(self: Tensor, target: Tensor) -> Tensor:
    """`lab::logistic`, differentiable.

        lab::logistic(Tensor self, Tensor target) -> Tensor
    """
    return LogisticBackward0.apply(self, target)


def lab_squared_error_backward(grads, needs_input_grad, reduction, self, self_numel, target):
    """The gradients of `lab::squared_error`, of those inputs that need one.

        lab::squared_error(Tensor self, Tensor target, int reduction=Mean) -> Tensor

        self: 2 * grad * (self - target) / (reduction == at::Reduction::Mean ? self.numel() : 1)
        target: 2 * grad * (target - self) / (reduction == at::Reduction::Mean ? self.numel() : 1)
    """
    grad = grads[0]
    grad_self = grad_target = None
    if needs_input_grad[0] and grad is not None:
        grad_self = 2 * grad * (self - target) / (self_numel if reduction == 1 else 1)
    if needs_input_grad[1] and grad is not None:
        grad_target = 2 * grad * (target - self) / (self_numel if reduction == 1 else 1)
    return grad_self, grad_target


class SquaredErrorBackward0(torch.autograd.Function):
    """`lab::squared_error` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, target, reduction):
        return torch.ops.lab.squared_error.default(self, target, reduction)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, target, reduction = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self, target)
        ctx.reduction = reduction
        ctx.self_numel = self.numel()

    @staticmethod
    def backward(ctx, *grads):
        self, target = ctx.saved_tensors
        grad_self, grad_target = lab_squared_error_backward(
            grads, (ctx.needs_input_grad[0], ctx.needs_input_grad[1]), ctx.reduction, self, ctx.self_numel,
            target
        )
        return grad_self, grad_target, None


def lab_squared_error(self: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    """`lab::squared_error`, differentiable.

        lab::squared_error(Tensor self, Tensor target, int reduction=Mean) -> Tensor
    """
    return SquaredErrorBackward0.apply(self, target, reduction)
