"""Gradients of optional_arguments: emitted by gradspec, not to be edited."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

aten = torch.ops.aten


def lab_running_sum_backward(grads, needs_input_grad, axis):
    """The gradients of `lab::running_sum`, of those inputs that need one.

        lab::running_sum(Tensor self, int? axis=None) -> Tensor

        self: grad.flip(axis.value_or(0)).cumsum(axis.value_or(0)).flip(axis.value_or(0))
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.flip([0 if axis is None else axis]).cumsum(0 if axis is None else axis).flip(
            [0 if axis is None else axis]
        )
    return (grad_self,)


class RunningSumBackward0(torch.autograd.Function):
    """`lab::running_sum` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, axis):
        return torch.ops.lab.running_sum.default(self, axis)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, axis = inputs
        ctx.set_materialize_grads(False)
        ctx.axis = axis

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_running_sum_backward(grads, (ctx.needs_input_grad[0],), ctx.axis)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        axis = ctx.axis
        self_t = tangents[0]
        # result: lab::running_sum(self_t, axis)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.running_sum.default(self_t, axis)
        return result_t


def lab_running_sum(self: Tensor, axis: int | None = None) -> Tensor:
    """`lab::running_sum`, differentiable.

        lab::running_sum(Tensor self, int? axis=None) -> Tensor
    """
    return RunningSumBackward0.apply(self, axis)


def lab_head_backward(grads, needs_input_grad, n, self_sym_argsize_0, self_sym_sizes):
    """The gradients of `lab::head`, of those inputs that need one.

        lab::head(Tensor self, SymInt? n=None) -> Tensor

        self: at::slice_backward_symint(grad, self.sym_sizes(), 0, 0, n.value_or(self.sym_size(0)), 1)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = aten.slice_backward.default(
            grad, self_sym_sizes, 0, 0, self_sym_argsize_0 if n is None else n, 1
        )
    return (grad_self,)


class HeadBackward0(torch.autograd.Function):
    """`lab::head` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, n):
        return torch.ops.lab.head.default(self, n)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, n = inputs
        ctx.set_materialize_grads(False)
        ctx.n = n
        ctx.self_sym_argsize_0 = self.size(0)
        ctx.self_sym_sizes = self.shape

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_head_backward(
            grads, (ctx.needs_input_grad[0],), ctx.n, ctx.self_sym_argsize_0, ctx.self_sym_sizes
        )
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        n = ctx.n
        self_t = tangents[0]
        # result: lab::head_symint(self_t, n)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.head.default(self_t, n)
        return result_t


def lab_head(self: Tensor, n: int | None = None) -> Tensor:
    """`lab::head`, differentiable.

        lab::head(Tensor self, SymInt? n=None) -> Tensor
    """
    return HeadBackward0.apply(self, n)


def lab_drop_backward(grads, needs_input_grad, keep, p, training):
    """The gradients of `lab::drop`, of those inputs that need one.

        lab::drop(Tensor self, Tensor keep, float p, bool? training=None) -> Tensor

        self: training.value_or(true) ? grad * keep / (1 - p) : grad
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * keep / (1 - p) if (True if training is None else training) else grad
    return (grad_self,)


class DropBackward0(torch.autograd.Function):
    """`lab::drop` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, keep, p, training):
        return torch.ops.lab.drop.default(self, keep, p, training)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, keep, p, training = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(keep)
        ctx.save_for_forward(keep)
        ctx.p = p
        ctx.training = training

    @staticmethod
    def backward(ctx, *grads):
        (keep,) = ctx.saved_tensors
        (grad_self,) = lab_drop_backward(grads, (ctx.needs_input_grad[0],), keep, ctx.p, ctx.training)
        return grad_self, None, None, None

    @staticmethod
    def jvp(ctx, *tangents):
        (keep,) = ctx.saved_tensors
        training = ctx.training
        p = ctx.p
        self_t = tangents[0]
        # result: training.value_or(true) ? self_t * keep / (1 - p) : self_t
        result_t = None
        if self_t is not None:
            result_t = self_t * keep / (1 - p) if (True if training is None else training) else self_t
        return result_t


def lab_drop(self: Tensor, keep: Tensor, p: float, training: bool | None = None) -> Tensor:
    """`lab::drop`, differentiable.

        lab::drop(Tensor self, Tensor keep, float p, bool? training=None) -> Tensor
    """
    return DropBackward0.apply(self, keep, p, training)


def lab_deviation_backward(grads, needs_input_grad, dims):
    """The gradients of `lab::deviation`, of those inputs that need one.

        lab::deviation(Tensor self, int[]? dims=None) -> Tensor

        self: grad - grad.mean(dims, true)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad - grad.mean(dims, True)
    return (grad_self,)


class DeviationBackward0(torch.autograd.Function):
    """`lab::deviation` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, dims):
        return torch.ops.lab.deviation.default(self, dims)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, dims = inputs
        ctx.set_materialize_grads(False)
        ctx.dims = dims

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_deviation_backward(grads, (ctx.needs_input_grad[0],), ctx.dims)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        dims = ctx.dims
        self_t = tangents[0]
        # result: lab::deviation(self_t, dims)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.deviation.default(self_t, dims)
        return result_t


def lab_deviation(self: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """`lab::deviation`, differentiable.

        lab::deviation(Tensor self, int[]? dims=None) -> Tensor
    """
    return DeviationBackward0.apply(self, dims)
