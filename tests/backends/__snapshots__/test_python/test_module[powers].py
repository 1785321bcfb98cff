"""Gradients of powers: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::exponential (Default): no `std::log`
"""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _options_of(x):
    """What new tensors like `x` are made with."""
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_power_backward(grads, needs_input_grad, n, self, self_info):
    """The gradients of `lab::power`, of those inputs that need one.

        lab::power(Tensor self, int n) -> Tensor

        self: n == 0 ? at::zeros_like(self) : grad * (n * self.pow(n - 1)).conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = torch.zeros(**self_info) if n == 0 else grad * (n * self.pow(n - 1)).conj()
    return (grad_self,)


class PowerBackward0(torch.autograd.Function):
    """`lab::power` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, n):
        return torch.ops.lab.power.default(self, n)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, n = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)
        ctx.n = n
        ctx.self_info = {"size": self.shape, **_options_of(self)}

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        (grad_self,) = lab_power_backward(grads, (ctx.needs_input_grad[0],), ctx.n, self, ctx.self_info)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        n = ctx.n
        self_t = tangents[0]
        # result: (n == 0 ? at::zeros_like(self_p) : self_t.conj() * (n * self_p.pow(n - 1)).conj()).conj()
        result_t = None
        if self_t is not None:
            result_t = (torch.zeros_like(self_p)
            if n == 0
            else self_t.conj() * (n * self_p.pow(n - 1)).conj()).conj()
        return result_t


def lab_power(self: Tensor, n: int) -> Tensor:
    """`lab::power`, differentiable.

        lab::power(Tensor self, int n) -> Tensor
    """
    return PowerBackward0.apply(self, n)


def lab_geometric_mean_backward(grads, needs_input_grad, a, b, result):
    """The gradients of `lab::geometric_mean`, of those inputs that need one.

        lab::geometric_mean(Tensor a, Tensor b) -> Tensor

        a: grad * result / (2 * a)
        b: grad * result / (2 * b)
    """
    grad = grads[0]
    grad_a = grad_b = None
    if needs_input_grad[0] and grad is not None:
        grad_a = grad * result / (2 * a)
    if needs_input_grad[1] and grad is not None:
        grad_b = grad * result / (2 * b)
    return grad_a, grad_b


class GeometricMeanBackward0(torch.autograd.Function):
    """`lab::geometric_mean` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b):
        return torch.ops.lab.geometric_mean.default(a, b)

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b = inputs
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(a, b, result)
        ctx.save_for_forward(a, b, result)

    @staticmethod
    def backward(ctx, *grads):
        a, b, result = ctx.saved_tensors
        return lab_geometric_mean_backward(grads, ctx.needs_input_grad, a, b, result)

    @staticmethod
    def jvp(ctx, *tangents):
        a_p, b_p, result = ctx.saved_tensors
        a_t = tangents[0]
        b_t = tangents[1]
        # result: result * (a_t / a_p + b_t / b_p) / 2
        result_t = None
        if a_t is not None or b_t is not None:
            a_t = _zeros_for(a_t, a_p)
            b_t = _zeros_for(b_t, b_p)
            result_t = result * (a_t / a_p + b_t / b_p) / 2
        return result_t


def lab_geometric_mean(a: Tensor, b: Tensor) -> Tensor:
    """`lab::geometric_mean`, differentiable.

        lab::geometric_mean(Tensor a, Tensor b) -> Tensor
    """
    return GeometricMeanBackward0.apply(a, b)
