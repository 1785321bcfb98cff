"""Gradients of inplace: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::invert_ (tangents): no form for a value from before the write
"""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_leaky__backward(grads, needs_input_grad, slope, result):
    """The gradients of `lab::leaky_`, of those inputs that need one.

        lab::leaky_(Tensor(a!) self, float slope=0.01) -> Tensor(a!)

        self: at::where(result > 0, grad, grad * slope)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = torch.where(result > 0, grad, grad * slope)
    return (grad_self,)


class LeakyBackward0(torch.autograd.Function):
    """`lab::leaky_` with its gradients and tangents."""

    @staticmethod
    def forward(self, slope):
        return torch.ops.lab.leaky_.default(self, slope)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, slope = inputs
        ctx.set_materialize_grads(False)
        result = output
        ctx.mark_dirty(self)
        ctx.save_for_backward(result)
        ctx.save_for_forward(result)
        ctx.slope = slope

    @staticmethod
    def backward(ctx, *grads):
        (result,) = ctx.saved_tensors
        (grad_self,) = lab_leaky__backward(grads, (ctx.needs_input_grad[0],), ctx.slope, result)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        (result,) = ctx.saved_tensors
        slope = ctx.slope
        self_t = tangents[0]
        # result: self_t.copy_(at::where(result > 0, original_self_t, original_self_t * slope))
        result_t = None
        if self_t is not None:
            original_self_t = self_t.clone()
            result_t = self_t.copy_(torch.where(result > 0, original_self_t, original_self_t * slope))
        return result_t


def lab_leaky_(self: Tensor, slope: float = 0.01) -> Tensor:
    """`lab::leaky_`, differentiable.

        lab::leaky_(Tensor(a!) self, float slope=0.01) -> Tensor(a!)
    """
    return LeakyBackward0.apply(self, slope)


def lab_invert__backward(grads, needs_input_grad, result):
    """The gradients of `lab::invert_`, of those inputs that need one.

        lab::invert_(Tensor(a!) self) -> Tensor(a!)

        self: -grad * (result * result).conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = -grad * (result * result).conj()
    return (grad_self,)


class InvertBackward0(torch.autograd.Function):
    """`lab::invert_` with its gradients."""

    @staticmethod
    def forward(self):
        return torch.ops.lab.invert_.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        result = output
        ctx.mark_dirty(self)
        ctx.save_for_backward(result)

    @staticmethod
    def backward(ctx, *grads):
        (result,) = ctx.saved_tensors
        return lab_invert__backward(grads, ctx.needs_input_grad, result)


def lab_invert_(self: Tensor) -> Tensor:
    """`lab::invert_`, differentiable.

        lab::invert_(Tensor(a!) self) -> Tensor(a!)
    """
    return InvertBackward0.apply(self)


def lab_accumulate__backward(grads, needs_input_grad, alpha):
    """The gradients of `lab::accumulate_`, of those inputs that need one.

        lab::accumulate_(Tensor(a!) self, Tensor other, *, float alpha=1.0) -> Tensor(a!)

        other: grad * alpha
        self: grad
    """
    grad = grads[0]
    grad_self = grad_other = None
    if needs_input_grad[1] and grad is not None:
        grad_other = grad * alpha
    if needs_input_grad[0] and grad is not None:
        grad_self = grad
    return grad_self, grad_other


class AccumulateBackward0(torch.autograd.Function):
    """`lab::accumulate_` with its gradients and tangents."""

    @staticmethod
    def forward(self, other, alpha):
        return torch.ops.lab.accumulate_.default(self, other, alpha=alpha)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, other, alpha = inputs
        ctx.set_materialize_grads(False)
        ctx.mark_dirty(self)
        ctx.save_for_forward(self, other)
        ctx.alpha = alpha

    @staticmethod
    def backward(ctx, *grads):
        grad_self, grad_other = lab_accumulate__backward(
            grads, (ctx.needs_input_grad[0], ctx.needs_input_grad[1]), ctx.alpha
        )
        return grad_self, grad_other, None

    @staticmethod
    def jvp(ctx, *tangents):
        self_p, other_p = ctx.saved_tensors
        alpha = ctx.alpha
        self_t = tangents[0]
        other_t = tangents[1]
        # result: self_t.add_(other_t, alpha)
        result_t = None
        if self_t is not None or other_t is not None:
            self_t = _zeros_for(self_t, self_p)
            other_t = _zeros_for(other_t, other_p)
            result_t = self_t.add_(other_t, alpha=alpha)
        return result_t


def lab_accumulate_(self: Tensor, other: Tensor, *, alpha: float = 1.0) -> Tensor:
    """`lab::accumulate_`, differentiable.

        lab::accumulate_(Tensor(a!) self, Tensor other, *, float alpha=1.0) -> Tensor(a!)
    """
    return AccumulateBackward0.apply(self, other, alpha)
