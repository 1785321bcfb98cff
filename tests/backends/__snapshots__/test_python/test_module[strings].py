"""Gradients of strings: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


# What formulas call beside operators.


def _options_of(x):
    """What new tensors like `x` are made with."""
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


def _not_implemented(name, reason=""):
    """Refuse a gradient that nobody has written."""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented. {reason}".strip())


def lab_reduce_by_backward(grads, needs_input_grad, mode, self_numel, self_sym_sizes):
    """The gradients of `lab::reduce_by`, of those inputs that need one.

        lab::reduce_by(Tensor self, str mode='mean') -> Tensor

        self: (mode == "mean" ? grad / self.numel() : grad).expand_symint(self.sym_sizes())
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = (grad / self_numel if mode == "mean" else grad).expand(self_sym_sizes)
    return (grad_self,)


class ReduceByBackward0(torch.autograd.Function):
    """`lab::reduce_by` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, mode):
        return torch.ops.lab.reduce_by.default(self, mode)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, mode = inputs
        ctx.set_materialize_grads(False)
        ctx.mode = mode
        ctx.self_numel = self.numel()
        ctx.self_sym_sizes = self.shape

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_reduce_by_backward(
            grads, (ctx.needs_input_grad[0],), ctx.mode, ctx.self_numel, ctx.self_sym_sizes
        )
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        mode = ctx.mode
        self_t = tangents[0]
        # result: mode == "mean" ? self_t.mean() : self_t.sum()
        result_t = None
        if self_t is not None:
            result_t = self_t.mean() if mode == "mean" else self_t.sum()
        return result_t


def lab_reduce_by(self: Tensor, mode: str = 'mean') -> Tensor:
    """`lab::reduce_by`, differentiable.

        lab::reduce_by(Tensor self, str mode='mean') -> Tensor
    """
    return ReduceByBackward0.apply(self, mode)


def lab_divide_backward(grads, needs_input_grad, a, b, b_info, rounding_mode):
    """The gradients of `lab::divide`, of those inputs that need one.

        lab::divide(Tensor a, Tensor b, *, str? rounding_mode=None) -> Tensor

        a: at::div(grad, b.conj(), rounding_mode) * (rounding_mode.has_value() ? 0 : 1)
        b: rounding_mode.has_value() ? at::zeros_like(b) : -grad * (a / (b * b)).conj()
    """
    grad = grads[0]
    grad_a = grad_b = None
    if needs_input_grad[0] and grad is not None:
        grad_a = (
            aten.div.Tensor_mode(grad, b.conj(), rounding_mode=rounding_mode)
            * (0 if rounding_mode is not None else 1)
        )
    if needs_input_grad[1] and grad is not None:
        grad_b = torch.zeros(**b_info) if rounding_mode is not None else -grad * (a / (b * b)).conj()
    return grad_a, grad_b


class DivideBackward0(torch.autograd.Function):
    """`lab::divide` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b, rounding_mode):
        return torch.ops.lab.divide.default(a, b, rounding_mode=rounding_mode)

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b, rounding_mode = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, b)
        ctx.b_info = {"size": b.shape, **_options_of(b)}
        ctx.rounding_mode = rounding_mode

    @staticmethod
    def backward(ctx, *grads):
        a, b = ctx.saved_tensors
        grad_a, grad_b = lab_divide_backward(
            grads, (ctx.needs_input_grad[0], ctx.needs_input_grad[1]), a, b, ctx.b_info, ctx.rounding_mode
        )
        return grad_a, grad_b, None


def lab_divide(a: Tensor, b: Tensor, *, rounding_mode: str | None = None) -> Tensor:
    """`lab::divide`, differentiable.

        lab::divide(Tensor a, Tensor b, *, str? rounding_mode=None) -> Tensor
    """
    return DivideBackward0.apply(a, b, rounding_mode)


def lab_measure_backward(grads, needs_input_grad):
    """The gradients of `lab::measure`, of those inputs that need one.

        lab::measure(Tensor self) -> Tensor

        self: not_implemented("measure", "say \\"when\\", or \\\\ nothing")
    """
    grad_self = None
    if needs_input_grad[0] and grads[0] is not None:
        grad_self = _not_implemented("measure", 'say "when", or \\ nothing')
    return (grad_self,)


class MeasureBackward0(torch.autograd.Function):
    """`lab::measure` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.measure.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return lab_measure_backward(grads, ctx.needs_input_grad)


def lab_measure(self: Tensor) -> Tensor:
    """`lab::measure`, differentiable.

        lab::measure(Tensor self) -> Tensor
    """
    return MeasureBackward0.apply(self)
