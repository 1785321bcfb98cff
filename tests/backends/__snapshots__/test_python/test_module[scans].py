"""Gradients of scans: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


def lab_prefix_sum_backward(grads, needs_input_grad, dim):
    """The gradients of `lab::prefix_sum`, of those inputs that need one.

        lab::prefix_sum(Tensor self, int dim) -> Tensor

        self: grad.flip(dim).cumsum(dim).flip(dim)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.flip([dim]).cumsum(dim).flip([dim])
    return (grad_self,)


class PrefixSumBackward0(torch.autograd.Function):
    """`lab::prefix_sum` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, dim):
        return torch.ops.lab.prefix_sum.default(self, dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, dim = inputs
        ctx.set_materialize_grads(False)
        ctx.dim = dim

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_prefix_sum_backward(grads, (ctx.needs_input_grad[0],), ctx.dim)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        dim = ctx.dim
        self_t = tangents[0]
        # result: lab::prefix_sum(self_t, dim)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.prefix_sum.default(self_t, dim)
        return result_t


def lab_prefix_sum(self: Tensor, dim: int) -> Tensor:
    """`lab::prefix_sum`, differentiable.

        lab::prefix_sum(Tensor self, int dim) -> Tensor
    """
    return PrefixSumBackward0.apply(self, dim)


def lab_prefix_product_backward(grads, needs_input_grad, dim, self, result):
    """The gradients of `lab::prefix_product`, of those inputs that need one.

        lab::prefix_product(Tensor self, int dim) -> Tensor

        self: (grad * result.conj()).flip(dim).cumsum(dim).flip(dim) / self.conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = (grad * result.conj()).flip([dim]).cumsum(dim).flip([dim]) / self.conj()
    return (grad_self,)


class PrefixProductBackward0(torch.autograd.Function):
    """`lab::prefix_product` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, dim):
        return torch.ops.lab.prefix_product.default(self, dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, dim = inputs
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(self, result)
        ctx.save_for_forward(result, self)
        ctx.dim = dim

    @staticmethod
    def backward(ctx, *grads):
        self, result = ctx.saved_tensors
        (grad_self,) = lab_prefix_product_backward(grads, (ctx.needs_input_grad[0],), ctx.dim, self, result)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        result, self_p = ctx.saved_tensors
        dim = ctx.dim
        self_t = tangents[0]
        # result: result * (self_t / self_p).cumsum(dim)
        result_t = None
        if self_t is not None:
            result_t = result * (self_t / self_p).cumsum(dim)
        return result_t


def lab_prefix_product(self: Tensor, dim: int) -> Tensor:
    """`lab::prefix_product`, differentiable.

        lab::prefix_product(Tensor self, int dim) -> Tensor
    """
    return PrefixProductBackward0.apply(self, dim)


def lab_prefix_log_sum_backward(grads, needs_input_grad, dim, self, result):
    """The gradients of `lab::prefix_log_sum`, of those inputs that need one.

        lab::prefix_log_sum(Tensor self, int dim) -> Tensor

        self: (grad * (-result).exp()).flip(dim).cumsum(dim).flip(dim) * self.exp()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = (grad * (-result).exp()).flip([dim]).cumsum(dim).flip([dim]) * self.exp()
    return (grad_self,)


class PrefixLogSumBackward0(torch.autograd.Function):
    """`lab::prefix_log_sum` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, dim):
        return torch.ops.lab.prefix_log_sum.default(self, dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, dim = inputs
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(self, result)
        ctx.save_for_forward(self, result)
        ctx.dim = dim

    @staticmethod
    def backward(ctx, *grads):
        self, result = ctx.saved_tensors
        (grad_self,) = lab_prefix_log_sum_backward(grads, (ctx.needs_input_grad[0],), ctx.dim, self, result)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        self_p, result = ctx.saved_tensors
        dim = ctx.dim
        self_t = tangents[0]
        # result: (self_t * self_p.exp()).cumsum(dim) * (-result).exp()
        result_t = None
        if self_t is not None:
            result_t = (self_t * self_p.exp()).cumsum(dim) * (-result).exp()
        return result_t


def lab_prefix_log_sum(self: Tensor, dim: int) -> Tensor:
    """`lab::prefix_log_sum`, differentiable.

        lab::prefix_log_sum(Tensor self, int dim) -> Tensor
    """
    return PrefixLogSumBackward0.apply(self, dim)
