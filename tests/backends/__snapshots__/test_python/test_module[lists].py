"""Gradients of lists: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::mean_of (tangents): no form for the tangents of a list
- lab::join_flat (Default): no `lab::split_like`
- lab::join_flat_symbolic (Default): no `split_like_symint`
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

aten = torch.ops.aten


# What formulas call beside operators.


def _options_of(x):
    """What new tensors like `x` are made with."""
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


def lab_mean_of_backward(grads, needs_input_grad, tensors):
    """The gradients of `lab::mean_of`, of those inputs that need one.

        lab::mean_of(Tensor[] tensors) -> Tensor

        tensors: std::vector<Tensor>(tensors.size(), grad / static_cast<int64_t>(tensors.size()))
    """
    grad = grads[0]
    grad_tensors = None
    if needs_input_grad[0] and grad is not None:
        grad_tensors = [grad / int(len(tensors))] * len(tensors)
    return (grad_tensors,)


class MeanOfBackward0(torch.autograd.Function):
    """`lab::mean_of` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*tensors):
        return torch.ops.lab.mean_of.default(tensors)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (*tensors,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx, *grads):
        (*tensors,) = ctx.saved_tensors
        (grad_tensors,) = lab_mean_of_backward(grads, (any(ctx.needs_input_grad[0:]),), tensors)
        return *(grad_tensors or [None] * (len(ctx.needs_input_grad) - 0)),


def lab_mean_of(tensors: Sequence[Tensor]) -> Tensor:
    """`lab::mean_of`, differentiable.

        lab::mean_of(Tensor[] tensors) -> Tensor
    """
    return MeanOfBackward0.apply(*tensors)


def lab_pick_backward(grads, needs_input_grad, indices, self_options, self_sym_sizes):
    """The gradients of `lab::pick`, of those inputs that need one.

        lab::pick(Tensor self, Tensor?[] indices) -> Tensor

        self: at::index_put(at::zeros_symint(self.sym_sizes(), self.options()), indices, grad, true)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = aten.index_put.default(torch.zeros(self_sym_sizes, **self_options), indices, grad, True)
    return (grad_self,)


class PickBackward0(torch.autograd.Function):
    """`lab::pick` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, *indices):
        return torch.ops.lab.pick.default(self, indices)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, *indices = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*indices)
        ctx.save_for_forward(*indices)
        ctx.self_options = _options_of(self)
        ctx.self_sym_sizes = self.shape

    @staticmethod
    def backward(ctx, *grads):
        (*indices,) = ctx.saved_tensors
        (grad_self,) = lab_pick_backward(
            grads, (ctx.needs_input_grad[0],), indices, ctx.self_options, ctx.self_sym_sizes
        )
        return grad_self, *([None] * (len(ctx.needs_input_grad) - 1))

    @staticmethod
    def jvp(ctx, *tangents):
        (*indices,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: lab::pick(self_t, indices)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.pick.default(self_t, indices)
        return result_t


def lab_pick(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """`lab::pick`, differentiable.

        lab::pick(Tensor self, Tensor?[] indices) -> Tensor
    """
    return PickBackward0.apply(self, *indices)
