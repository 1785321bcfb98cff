"""Gradients of matrices: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


def lab_inverse_backward(grads, needs_input_grad, result):
    """The gradients of `lab::inverse`, of those inputs that need one.

        lab::inverse(Tensor self) -> Tensor

        self: -result.mH().matmul(grad).matmul(result.mH())
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = -result.mH.matmul(grad).matmul(result.mH)
    return (grad_self,)


class InverseBackward0(torch.autograd.Function):
    """`lab::inverse` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.inverse.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(result)
        ctx.save_for_forward(result)

    @staticmethod
    def backward(ctx, *grads):
        (result,) = ctx.saved_tensors
        return lab_inverse_backward(grads, ctx.needs_input_grad, result)

    @staticmethod
    def jvp(ctx, *tangents):
        (result,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: -result.matmul(self_t).matmul(result)
        result_t = None
        if self_t is not None:
            result_t = -result.matmul(self_t).matmul(result)
        return result_t


def lab_inverse(self: Tensor) -> Tensor:
    """`lab::inverse`, differentiable.

        lab::inverse(Tensor self) -> Tensor
    """
    return InverseBackward0.apply(self)


def lab_log_determinant_backward(grads, needs_input_grad, self):
    """The gradients of `lab::log_determinant`, of those inputs that need one.

        lab::log_determinant(Tensor self) -> Tensor

        self: grad * self.inverse().mH()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * self.inverse().mH
    return (grad_self,)


class LogDeterminantBackward0(torch.autograd.Function):
    """`lab::log_determinant` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.log_determinant.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_log_determinant_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: self_p.inverse().matmul(self_t).trace()
        result_t = None
        if self_t is not None:
            result_t = self_p.inverse().matmul(self_t).trace()
        return result_t


def lab_log_determinant(self: Tensor) -> Tensor:
    """`lab::log_determinant`, differentiable.

        lab::log_determinant(Tensor self) -> Tensor
    """
    return LogDeterminantBackward0.apply(self)


def lab_trace_of_square_backward(grads, needs_input_grad, self):
    """The gradients of `lab::trace_of_square`, of those inputs that need one.

        lab::trace_of_square(Tensor self) -> Tensor

        self: 2 * grad * self.mH()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = 2 * grad * self.mH
    return (grad_self,)


class TraceOfSquareBackward0(torch.autograd.Function):
    """`lab::trace_of_square` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.trace_of_square.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_trace_of_square_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: 2 * self_p.matmul(self_t).trace()
        result_t = None
        if self_t is not None:
            result_t = 2 * self_p.matmul(self_t).trace()
        return result_t


def lab_trace_of_square(self: Tensor) -> Tensor:
    """`lab::trace_of_square`, differentiable.

        lab::trace_of_square(Tensor self) -> Tensor
    """
    return TraceOfSquareBackward0.apply(self)


def lab_strictly_upper_backward(grads, needs_input_grad):
    """The gradients of `lab::strictly_upper`, of those inputs that need one.

        lab::strictly_upper(Tensor self) -> Tensor

        self: grad.triu(1)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.triu(1)
    return (grad_self,)


class StrictlyUpperBackward0(torch.autograd.Function):
    """`lab::strictly_upper` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.strictly_upper.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return lab_strictly_upper_backward(grads, ctx.needs_input_grad)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: self_t.triu(1)
        result_t = None
        if self_t is not None:
            result_t = self_t.triu(1)
        return result_t


def lab_strictly_upper(self: Tensor) -> Tensor:
    """`lab::strictly_upper`, differentiable.

        lab::strictly_upper(Tensor self) -> Tensor
    """
    return StrictlyUpperBackward0.apply(self)
