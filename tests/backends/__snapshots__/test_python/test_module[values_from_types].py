"""Gradients of values_from_types: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::times_peak (Default): no method `item` of Tensor
"""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


# What formulas call beside operators.


def _options_of(x):
    """What new tensors like `x` are made with."""
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


def lab_sum_all_backward(grads, needs_input_grad, self_options, self_sym_sizes):
    """The gradients of `lab::sum_all`, of those inputs that need one.

        lab::sum_all(Tensor self) -> Tensor

        self: at::scalar_tensor(1, at::TensorOptions{}).to(self.options()) * grad.expand_symint(self.sym_sizes())
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = (
            aten.to.dtype_layout(torch.scalar_tensor(1, **{}), **self_options)
            * grad.expand(self_sym_sizes)
        )
    return (grad_self,)


class SumAllBackward0(torch.autograd.Function):
    """`lab::sum_all` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.sum_all.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.self_options = _options_of(self)
        ctx.self_sym_sizes = self.shape

    @staticmethod
    def backward(ctx, *grads):
        return lab_sum_all_backward(grads, ctx.needs_input_grad, ctx.self_options, ctx.self_sym_sizes)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: lab::sum_all(self_t)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.sum_all.default(self_t)
        return result_t


def lab_sum_all(self: Tensor) -> Tensor:
    """`lab::sum_all`, differentiable.

        lab::sum_all(Tensor self) -> Tensor
    """
    return SumAllBackward0.apply(self)


def lab_mean_pair_backward(grads, needs_input_grad):
    """The gradients of `lab::mean_pair`, of those inputs that need one.

        lab::mean_pair(Tensor a, Tensor b) -> Tensor

        a, b: std::make_tuple<Tensor, Tensor>(grad / 2, grad * at::Scalar{0.5})
    """
    grad = grads[0]
    grad_a = grad_b = None
    if any(needs_input_grad) and grad is not None:
        grad_a, grad_b = (grad / 2, grad * 0.5)
        if not needs_input_grad[0]:
            grad_a = None
        if not needs_input_grad[1]:
            grad_b = None
    return grad_a, grad_b


class MeanPairBackward0(torch.autograd.Function):
    """`lab::mean_pair` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b):
        return torch.ops.lab.mean_pair.default(a, b)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return lab_mean_pair_backward(grads, ctx.needs_input_grad)


def lab_mean_pair(a: Tensor, b: Tensor) -> Tensor:
    """`lab::mean_pair`, differentiable.

        lab::mean_pair(Tensor a, Tensor b) -> Tensor
    """
    return MeanPairBackward0.apply(a, b)
