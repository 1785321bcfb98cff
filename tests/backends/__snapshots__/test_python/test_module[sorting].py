"""Gradients of sorting: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _options_of(x):
    """What new tensors like `x` are made with."""
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


def lab_largest_backward(grads, needs_input_grad, self_sym_sizes, indices):
    """The gradients of `lab::largest`, of those inputs that need one.

        lab::largest(Tensor self, int k) -> (Tensor values, Tensor indices)

        self: at::zeros_symint(self.sym_sizes(), grad.options()).scatter(-1, indices, grad)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = torch.zeros(self_sym_sizes, **_options_of(grad)).scatter(-1, indices, grad)
    return (grad_self,)


class LargestBackward0(torch.autograd.Function):
    """`lab::largest` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, k):
        return torch.ops.lab.largest.default(self, k)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, _ = inputs
        ctx.set_materialize_grads(False)
        _, indices = output
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(indices)
        ctx.save_for_forward(indices)
        ctx.self_sym_sizes = self.shape

    @staticmethod
    def backward(ctx, *grads):
        (indices,) = ctx.saved_tensors
        (grad_self,) = lab_largest_backward(
            grads[:1], (ctx.needs_input_grad[0],), ctx.self_sym_sizes, indices
        )
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        (indices,) = ctx.saved_tensors
        self_t = tangents[0]
        # values: self_t.gather(-1, indices)
        values_t = None
        if self_t is not None:
            values_t = self_t.gather(-1, indices)
        return values_t, None


def lab_largest(self: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """`lab::largest`, differentiable.

        lab::largest(Tensor self, int k) -> (Tensor values, Tensor indices)
    """
    return LargestBackward0.apply(self, k)


def lab_spread_backward(grads, needs_input_grad, dim, self, self_info):
    """The gradients of `lab::spread`, of those inputs that need one.

        lab::spread(Tensor self, int dim) -> Tensor

        self: at::zeros_like(self).scatter(dim, self.argmax(dim, true), grad.unsqueeze(dim)) - at::zeros_like(self).scatter(dim, self.argmin(dim, true), grad.unsqueeze(dim))
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = (
            torch.zeros(**self_info).scatter(dim, self.argmax(dim, True), grad.unsqueeze(dim))
            - torch.zeros(**self_info).scatter(dim, self.argmin(dim, True), grad.unsqueeze(dim))
        )
    return (grad_self,)


class SpreadBackward0(torch.autograd.Function):
    """`lab::spread` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, dim):
        return torch.ops.lab.spread.default(self, dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, dim = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)
        ctx.dim = dim
        ctx.self_info = {"size": self.shape, **_options_of(self)}

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        (grad_self,) = lab_spread_backward(grads, (ctx.needs_input_grad[0],), ctx.dim, self, ctx.self_info)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        dim = ctx.dim
        self_t = tangents[0]
        # result: (self_t.gather(dim, std::get<1>(self_p.max(dim, true))) - self_t.gather(dim, std::get<1>(self_p.min(dim, true)))).squeeze(dim)
        result_t = None
        if self_t is not None:
            result_t = (self_t.gather(dim, self_p.max(dim, True)[1])
            - self_t.gather(dim, self_p.min(dim, True)[1])).squeeze(dim)
        return result_t


def lab_spread(self: Tensor, dim: int) -> Tensor:
    """`lab::spread`, differentiable.

        lab::spread(Tensor self, int dim) -> Tensor
    """
    return SpreadBackward0.apply(self, dim)
