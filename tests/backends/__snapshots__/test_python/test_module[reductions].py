"""Gradients of reductions: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


def lab_energy_backward(grads, needs_input_grad, self):
    """The gradients of `lab::energy`, of those inputs that need one.

        lab::energy(Tensor self) -> Tensor

        self: 2 * grad * self
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = 2 * grad * self
    return (grad_self,)


class EnergyBackward0(torch.autograd.Function):
    """`lab::energy` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.energy.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_energy_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: 2 * at::real(self_p.conj() * self_t).sum()
        result_t = None
        if self_t is not None:
            result_t = 2 * torch.real(self_p.conj() * self_t).sum()
        return result_t


def lab_energy(self: Tensor) -> Tensor:
    """`lab::energy`, differentiable.

        lab::energy(Tensor self) -> Tensor
    """
    return EnergyBackward0.apply(self)


def lab_mean_along_backward(grads, needs_input_grad, self_sym_argsize_dim, self_sym_sizes):
    """The gradients of `lab::mean_along`, of those inputs that need one.

        lab::mean_along(Tensor self, int dim) -> Tensor

        self: grad.expand_symint(self.sym_sizes()) / self.sym_size(dim)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.expand(self_sym_sizes) / self_sym_argsize_dim
    return (grad_self,)


class MeanAlongBackward0(torch.autograd.Function):
    """`lab::mean_along` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, dim):
        return torch.ops.lab.mean_along.default(self, dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, dim = inputs
        ctx.set_materialize_grads(False)
        ctx.self_sym_argsize_dim = self.size(dim)
        ctx.self_sym_sizes = self.shape
        ctx.dim = dim

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_mean_along_backward(
            grads, (ctx.needs_input_grad[0],), ctx.self_sym_argsize_dim, ctx.self_sym_sizes
        )
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        dim = ctx.dim
        self_t = tangents[0]
        # result: lab::mean_along(self_t, dim)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.mean_along.default(self_t, dim)
        return result_t


def lab_mean_along(self: Tensor, dim: int) -> Tensor:
    """`lab::mean_along`, differentiable.

        lab::mean_along(Tensor self, int dim) -> Tensor
    """
    return MeanAlongBackward0.apply(self, dim)


def lab_log_total_backward(grads, needs_input_grad, self, result):
    """The gradients of `lab::log_total`, of those inputs that need one.

        lab::log_total(Tensor self) -> Tensor

        self: grad.unsqueeze(-1) * (self - result.unsqueeze(-1)).exp()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.unsqueeze(-1) * (self - result.unsqueeze(-1)).exp()
    return (grad_self,)


class LogTotalBackward0(torch.autograd.Function):
    """`lab::log_total` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.log_total.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(self, result)
        ctx.save_for_forward(self, result)

    @staticmethod
    def backward(ctx, *grads):
        self, result = ctx.saved_tensors
        return lab_log_total_backward(grads, ctx.needs_input_grad, self, result)

    @staticmethod
    def jvp(ctx, *tangents):
        self_p, result = ctx.saved_tensors
        self_t = tangents[0]
        # result: (self_t * (self_p - result.unsqueeze(-1)).exp()).sum(-1)
        result_t = None
        if self_t is not None:
            result_t = (self_t * (self_p - result.unsqueeze(-1)).exp()).sum([-1])
        return result_t


def lab_log_total(self: Tensor) -> Tensor:
    """`lab::log_total`, differentiable.

        lab::log_total(Tensor self) -> Tensor
    """
    return LogTotalBackward0.apply(self)


def lab_product_of_all_backward(grads, needs_input_grad, self, result):
    """The gradients of `lab::product_of_all`, of those inputs that need one.

        lab::product_of_all(Tensor self) -> Tensor

        self: grad * (result / self).conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (result / self).conj()
    return (grad_self,)


class ProductOfAllBackward0(torch.autograd.Function):
    """`lab::product_of_all` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.product_of_all.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(self, result)
        ctx.save_for_forward(result, self)

    @staticmethod
    def backward(ctx, *grads):
        self, result = ctx.saved_tensors
        return lab_product_of_all_backward(grads, ctx.needs_input_grad, self, result)

    @staticmethod
    def jvp(ctx, *tangents):
        result, self_p = ctx.saved_tensors
        self_t = tangents[0]
        # result: result * (self_t / self_p).sum()
        result_t = None
        if self_t is not None:
            result_t = result * (self_t / self_p).sum()
        return result_t


def lab_product_of_all(self: Tensor) -> Tensor:
    """`lab::product_of_all`, differentiable.

        lab::product_of_all(Tensor self) -> Tensor
    """
    return ProductOfAllBackward0.apply(self)
