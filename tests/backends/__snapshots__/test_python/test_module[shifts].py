"""Gradients of shifts: emitted by gradspec, not to be edited."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

aten = torch.ops.aten


def lab_rotate_backward(grads, needs_input_grad, dims, shifts):
    """The gradients of `lab::rotate`, of those inputs that need one.

        lab::rotate(Tensor self, SymInt[] shifts, int[] dims) -> Tensor

        self: grad.roll_symint(fmap(shifts, [](c10::SymInt shift) { return -shift; }), dims)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.roll([-shift for shift in shifts], dims)
    return (grad_self,)


class RotateBackward0(torch.autograd.Function):
    """`lab::rotate` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, shifts, dims):
        return torch.ops.lab.rotate.default(self, shifts, dims)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, shifts, dims = inputs
        ctx.set_materialize_grads(False)
        ctx.dims = dims
        ctx.shifts = shifts

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_rotate_backward(grads, (ctx.needs_input_grad[0],), ctx.dims, ctx.shifts)
        return grad_self, None, None

    @staticmethod
    def jvp(ctx, *tangents):
        shifts = ctx.shifts
        dims = ctx.dims
        self_t = tangents[0]
        # result: lab::rotate_symint(self_t, shifts, dims)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.rotate.default(self_t, shifts, dims)
        return result_t


def lab_rotate(self: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    """`lab::rotate`, differentiable.

        lab::rotate(Tensor self, SymInt[] shifts, int[] dims) -> Tensor
    """
    return RotateBackward0.apply(self, shifts, dims)


def lab_difference_backward(grads, needs_input_grad):
    """The gradients of `lab::difference`, of those inputs that need one.

        lab::difference(Tensor self) -> Tensor

        self: at::constant_pad_nd(grad, {1, 0}) - at::constant_pad_nd(grad, {0, 1})
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = aten.constant_pad_nd.default(grad, [1, 0]) - aten.constant_pad_nd.default(grad, [0, 1])
    return (grad_self,)


class DifferenceBackward0(torch.autograd.Function):
    """`lab::difference` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.difference.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return lab_difference_backward(grads, ctx.needs_input_grad)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: self_t.diff()
        result_t = None
        if self_t is not None:
            result_t = self_t.diff()
        return result_t


def lab_difference(self: Tensor) -> Tensor:
    """`lab::difference`, differentiable.

        lab::difference(Tensor self) -> Tensor
    """
    return DifferenceBackward0.apply(self)
