"""Gradients of optional_values: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::magnitude_power (Default): no method `to` of Scalar
"""

from __future__ import annotations

import torch
from torch import Tensor


def lab_weigh_backward(grads, needs_input_grad, self, weight):
    """The gradients of `lab::weigh`, of those inputs that need one.

        lab::weigh(Tensor self, Tensor? weight=None) -> Tensor

        self: weight.defined() ? grad * weight.conj() : grad
        weight: grad * self.conj()
    """
    grad = grads[0]
    grad_self = grad_weight = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * weight.conj() if weight is not None else grad
    if needs_input_grad[1] and grad is not None:
        grad_weight = grad * self.conj()
    return grad_self, grad_weight


class WeighBackward0(torch.autograd.Function):
    """`lab::weigh` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, weight):
        return torch.ops.lab.weigh.default(self, weight)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, weight = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self, weight)

    @staticmethod
    def backward(ctx, *grads):
        self, weight = ctx.saved_tensors
        return lab_weigh_backward(grads, ctx.needs_input_grad, self, weight)


def lab_weigh(self: Tensor, weight: Tensor | None = None) -> Tensor:
    """`lab::weigh`, differentiable.

        lab::weigh(Tensor self, Tensor? weight=None) -> Tensor
    """
    return WeighBackward0.apply(self, weight)


def lab_cap_backward(grads, needs_input_grad, limit, self):
    """The gradients of `lab::cap`, of those inputs that need one.

        lab::cap(Tensor self, Scalar? limit=None) -> Tensor

        self: limit.has_value() ? grad * (self <= *limit) : grad
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (self <= limit) if limit is not None else grad
    return (grad_self,)


class CapBackward0(torch.autograd.Function):
    """`lab::cap` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, limit):
        return torch.ops.lab.cap.default(self, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, limit = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.limit = limit

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        (grad_self,) = lab_cap_backward(grads, (ctx.needs_input_grad[0],), ctx.limit, self)
        return grad_self, None


def lab_cap(self: Tensor, limit: complex | None = None) -> Tensor:
    """`lab::cap`, differentiable.

        lab::cap(Tensor self, Scalar? limit=None) -> Tensor
    """
    return CapBackward0.apply(self, limit)


def lab_scale_backward(grads, needs_input_grad, factor):
    """The gradients of `lab::scale`, of those inputs that need one.

        lab::scale(Tensor self, float? factor=None) -> Tensor

        self: grad * factor.value_or(1.0)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (1.0 if factor is None else factor)
    return (grad_self,)


class ScaleBackward0(torch.autograd.Function):
    """`lab::scale` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, factor):
        return torch.ops.lab.scale.default(self, factor)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, factor = inputs
        ctx.set_materialize_grads(False)
        ctx.factor = factor

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_scale_backward(grads, (ctx.needs_input_grad[0],), ctx.factor)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        factor = ctx.factor
        self_t = tangents[0]
        # result: self_t * factor.value_or(1.0)
        result_t = None
        if self_t is not None:
            result_t = self_t * (1.0 if factor is None else factor)
        return result_t


def lab_scale(self: Tensor, factor: float | None = None) -> Tensor:
    """`lab::scale`, differentiable.

        lab::scale(Tensor self, float? factor=None) -> Tensor
    """
    return ScaleBackward0.apply(self, factor)
