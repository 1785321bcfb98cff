"""Gradients of activations: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


def lab_log_cosh_backward(grads, needs_input_grad, self):
    """The gradients of `lab::log_cosh`, of those inputs that need one.

        lab::log_cosh(Tensor self) -> Tensor

        self: grad * self.tanh().conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * self.tanh().conj()
    return (grad_self,)


class LogCoshBackward0(torch.autograd.Function):
    """`lab::log_cosh` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.log_cosh.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_log_cosh_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: (self_t.conj() * self_p.tanh().conj()).conj()
        result_t = None
        if self_t is not None:
            result_t = (self_t.conj() * self_p.tanh().conj()).conj()
        return result_t


def lab_log_cosh(self: Tensor) -> Tensor:
    """`lab::log_cosh`, differentiable.

        lab::log_cosh(Tensor self) -> Tensor
    """
    return LogCoshBackward0.apply(self)


def lab_swish_backward(grads, needs_input_grad, beta, self):
    """The gradients of `lab::swish`, of those inputs that need one.

        lab::swish(Tensor self, float beta=1.0) -> Tensor

        self: grad * (at::sigmoid(self * beta) * (1 + self * beta * (1 - at::sigmoid(self * beta)))).conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = (
            grad
            * (torch.sigmoid(self * beta) * (1 + self * beta * (1 - torch.sigmoid(self * beta)))).conj()
        )
    return (grad_self,)


class SwishBackward0(torch.autograd.Function):
    """`lab::swish` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, beta):
        return torch.ops.lab.swish.default(self, beta)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, beta = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)
        ctx.beta = beta

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        (grad_self,) = lab_swish_backward(grads, (ctx.needs_input_grad[0],), ctx.beta, self)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        beta = ctx.beta
        self_t = tangents[0]
        # result: (self_t.conj() * (at::sigmoid(self_p * beta) * (1 + self_p * beta * (1 - at::sigmoid(self_p * beta)))).conj()).conj()
        result_t = None
        if self_t is not None:
            result_t = (self_t.conj()
            * (torch.sigmoid(self_p * beta)
            * (1 + self_p * beta * (1 - torch.sigmoid(self_p * beta)))).conj()).conj()
        return result_t


def lab_swish(self: Tensor, beta: float = 1.0) -> Tensor:
    """`lab::swish`, differentiable.

        lab::swish(Tensor self, float beta=1.0) -> Tensor
    """
    return SwishBackward0.apply(self, beta)


def lab_squash_backward(grads, needs_input_grad, result):
    """The gradients of `lab::squash`, of those inputs that need one.

        lab::squash(Tensor self) -> Tensor

        self: grad * (1 - result * result).conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (1 - result * result).conj()
    return (grad_self,)


class SquashBackward0(torch.autograd.Function):
    """`lab::squash` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.squash.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(result)
        ctx.save_for_forward(result)

    @staticmethod
    def backward(ctx, *grads):
        (result,) = ctx.saved_tensors
        return lab_squash_backward(grads, ctx.needs_input_grad, result)

    @staticmethod
    def jvp(ctx, *tangents):
        (result,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: self_t * (1 - result * result)
        result_t = None
        if self_t is not None:
            result_t = self_t * (1 - result * result)
        return result_t


def lab_squash(self: Tensor) -> Tensor:
    """`lab::squash`, differentiable.

        lab::squash(Tensor self) -> Tensor
    """
    return SquashBackward0.apply(self)
