"""Gradients of convolution: emitted by gradspec, not to be edited."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

aten = torch.ops.aten


def lab_filter_backward(grads, needs_input_grad, bias_sym_sizes_opt, input, padding, taps):
    """The gradients of `lab::filter`, of those inputs that need one.

        lab::filter(Tensor input, Tensor taps, Tensor? bias=None, SymInt[1] padding=0) -> Tensor

        input, taps, bias: grad.defined() ? at::convolution_backward_symint(grad, input, taps, bias->sym_sizes(), {1}, padding, {1}, false, std::vector<c10::SymInt>(padding.size(), 0), 1, grad_input_mask) : std::tuple<Tensor, Tensor, Tensor>()
    """
    grad = grads[0]
    grad_input = grad_taps = grad_bias = None
    if any(needs_input_grad) and grad is not None:
        grad_input_mask = [needs_input_grad[0], needs_input_grad[1], needs_input_grad[2]]
        grad_input, grad_taps, grad_bias = aten.convolution_backward.default(
            grad, input, taps, bias_sym_sizes_opt, [1], padding, [1], False, [0] * len(padding), 1,
            grad_input_mask
        )
    return grad_input, grad_taps, grad_bias


class FilterBackward0(torch.autograd.Function):
    """`lab::filter` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, taps, bias, padding):
        return torch.ops.lab.filter.default(input, taps, bias, padding)

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, taps, bias, padding = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(input, taps)
        ctx.bias_sym_sizes_opt = None if bias is None else bias.shape
        ctx.padding = padding

    @staticmethod
    def backward(ctx, *grads):
        input, taps = ctx.saved_tensors
        grad_input, grad_taps, grad_bias = lab_filter_backward(
            grads, (ctx.needs_input_grad[0], ctx.needs_input_grad[1], ctx.needs_input_grad[2]),
            ctx.bias_sym_sizes_opt, input, ctx.padding, taps
        )
        return grad_input, grad_taps, grad_bias, None


def lab_filter(
    input: Tensor, taps: Tensor, bias: Tensor | None = None, padding: Sequence[int] = (0,)
) -> Tensor:
    """`lab::filter`, differentiable.

        lab::filter(Tensor input, Tensor taps, Tensor? bias=None, SymInt[1] padding=0) -> Tensor
    """
    return FilterBackward0.apply(input, taps, bias, padding)


def lab_smooth_backward(grads, needs_input_grad):
    """The gradients of `lab::smooth`, of those inputs that need one.

        lab::smooth(Tensor self) -> Tensor

        self: (at::constant_pad_nd(grad, {0, 1}) + at::constant_pad_nd(grad, {1, 0})) / 2
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = (
            (aten.constant_pad_nd.default(grad, [0, 1]) + aten.constant_pad_nd.default(grad, [1, 0]))
            / 2
        )
    return (grad_self,)


class SmoothBackward0(torch.autograd.Function):
    """`lab::smooth` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.smooth.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return lab_smooth_backward(grads, ctx.needs_input_grad)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: (self_t.slice(-1, 1) + self_t.slice(-1, 0, -1)) / 2
        result_t = None
        if self_t is not None:
            result_t = (aten.slice.Tensor(self_t, -1, 1) + aten.slice.Tensor(self_t, -1, 0, -1)) / 2
        return result_t


def lab_smooth(self: Tensor) -> Tensor:
    """`lab::smooth`, differentiable.

        lab::smooth(Tensor self) -> Tensor
    """
    return SmoothBackward0.apply(self)
