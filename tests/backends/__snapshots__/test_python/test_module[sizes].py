"""Gradients of sizes: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


# What formulas call beside operators.


def _options_of(x):
    """What new tensors like `x` are made with."""
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


def _strides_of(x):
    """The strides of `x`; none where its layout has none."""
    return x.stride() if x.layout == torch.strided else ()


def lab_mean_all_backward(grads, needs_input_grad, self_sym_numel, self_sym_sizes):
    """The gradients of `lab::mean_all`, of those inputs that need one.

        lab::mean_all(Tensor self) -> Tensor

        self: (grad / self.sym_numel()).expand_symint(self.sym_sizes())
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = (grad / self_sym_numel).expand(self_sym_sizes)
    return (grad_self,)


class MeanAllBackward0(torch.autograd.Function):
    """`lab::mean_all` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.mean_all.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.self_sym_numel = self.numel()
        ctx.self_sym_sizes = self.shape

    @staticmethod
    def backward(ctx, *grads):
        return lab_mean_all_backward(grads, ctx.needs_input_grad, ctx.self_sym_numel, ctx.self_sym_sizes)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: lab::mean_all(self_t)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.mean_all.default(self_t)
        return result_t


def lab_mean_all(self: Tensor) -> Tensor:
    """`lab::mean_all`, differentiable.

        lab::mean_all(Tensor self) -> Tensor
    """
    return MeanAllBackward0.apply(self)


def lab_sum_last_backward(grads, needs_input_grad, self_dim, self_sym_sizes):
    """The gradients of `lab::sum_last`, of those inputs that need one.

        lab::sum_last(Tensor self) -> Tensor

        self: grad.unsqueeze(self.dim() - 1).expand_symint(self.sym_sizes())
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.unsqueeze(self_dim - 1).expand(self_sym_sizes)
    return (grad_self,)


class SumLastBackward0(torch.autograd.Function):
    """`lab::sum_last` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.sum_last.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.self_dim = self.dim()
        ctx.self_sym_sizes = self.shape

    @staticmethod
    def backward(ctx, *grads):
        return lab_sum_last_backward(grads, ctx.needs_input_grad, ctx.self_dim, ctx.self_sym_sizes)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: lab::sum_last(self_t)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.sum_last.default(self_t)
        return result_t


def lab_sum_last(self: Tensor) -> Tensor:
    """`lab::sum_last`, differentiable.

        lab::sum_last(Tensor self) -> Tensor
    """
    return SumLastBackward0.apply(self)


def lab_packed_backward(grads, needs_input_grad, self_sym_sizes, self_sym_strides):
    """The gradients of `lab::packed`, of those inputs that need one.

        lab::packed(Tensor self) -> Tensor

        self: at::empty_strided_symint(self.sym_sizes(), self.sym_strides(), grad.options()).copy_(grad)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = aten.empty_strided.default(self_sym_sizes, self_sym_strides, **_options_of(grad)).copy_(
            grad
        )
    return (grad_self,)


class PackedBackward0(torch.autograd.Function):
    """`lab::packed` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.packed.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.self_sym_sizes = self.shape
        ctx.self_sym_strides = _strides_of(self)

    @staticmethod
    def backward(ctx, *grads):
        return lab_packed_backward(grads, ctx.needs_input_grad, ctx.self_sym_sizes, ctx.self_sym_strides)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: lab::packed(self_t)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.packed.default(self_t)
        return result_t


def lab_packed(self: Tensor) -> Tensor:
    """`lab::packed`, differentiable.

        lab::packed(Tensor self) -> Tensor
    """
    return PackedBackward0.apply(self)


def lab_per_column_backward(grads, needs_input_grad, self_sym_argsize_minus_1):
    """The gradients of `lab::per_column`, of those inputs that need one.

        lab::per_column(Tensor self) -> Tensor

        self: grad / self.sym_size(-1)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad / self_sym_argsize_minus_1
    return (grad_self,)


class PerColumnBackward0(torch.autograd.Function):
    """`lab::per_column` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.per_column.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.self_sym_argsize_minus_1 = self.size(-1)

    @staticmethod
    def backward(ctx, *grads):
        return lab_per_column_backward(grads, ctx.needs_input_grad, ctx.self_sym_argsize_minus_1)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: lab::per_column(self_t)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.per_column.default(self_t)
        return result_t


def lab_per_column(self: Tensor) -> Tensor:
    """`lab::per_column`, differentiable.

        lab::per_column(Tensor self) -> Tensor
    """
    return PerColumnBackward0.apply(self)


def lab_spread_like_backward(grads, needs_input_grad, self_sym_sizes):
    """The gradients of `lab::spread_like`, of those inputs that need one.

        lab::spread_like(Tensor self, Tensor other) -> Tensor

        self: at::sum_to(grad, self.sym_sizes())
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.sum_to_size(self_sym_sizes)
    return (grad_self,)


class SpreadLikeBackward0(torch.autograd.Function):
    """`lab::spread_like` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, other):
        return torch.ops.lab.spread_like.default(self, other)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, other = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_forward(other)
        ctx.self_sym_sizes = self.shape

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_spread_like_backward(grads, (ctx.needs_input_grad[0],), ctx.self_sym_sizes)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        (other,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: lab::spread_like(self_t, other)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.spread_like.default(self_t, other)
        return result_t


def lab_spread_like(self: Tensor, other: Tensor) -> Tensor:
    """`lab::spread_like`, differentiable.

        lab::spread_like(Tensor self, Tensor other) -> Tensor
    """
    return SpreadLikeBackward0.apply(self, other)
