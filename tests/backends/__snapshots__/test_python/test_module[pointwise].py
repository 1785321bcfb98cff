"""Gradients of pointwise: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_fused_mul_add_backward(grads, needs_input_grad, a, b):
    """The gradients of `lab::fused_mul_add`, of those inputs that need one.

        lab::fused_mul_add(Tensor a, Tensor b, Tensor c) -> Tensor

        a: grad * b.conj()
        b: grad * a.conj()
        c: grad
    """
    grad = grads[0]
    grad_a = grad_b = grad_c = None
    if needs_input_grad[0] and grad is not None:
        grad_a = grad * b.conj()
    if needs_input_grad[1] and grad is not None:
        grad_b = grad * a.conj()
    if needs_input_grad[2] and grad is not None:
        grad_c = grad
    return grad_a, grad_b, grad_c


class FusedMulAddBackward0(torch.autograd.Function):
    """`lab::fused_mul_add` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b, c):
        return torch.ops.lab.fused_mul_add.default(a, b, c)

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b, c = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b, c)

    @staticmethod
    def backward(ctx, *grads):
        a, b = ctx.saved_tensors
        return lab_fused_mul_add_backward(grads, ctx.needs_input_grad, a, b)

    @staticmethod
    def jvp(ctx, *tangents):
        a_p, b_p, c_p = ctx.saved_tensors
        a_t = tangents[0]
        b_t = tangents[1]
        c_t = tangents[2]
        # result: a_t * b_p + a_p * b_t + c_t
        result_t = None
        if a_t is not None or b_t is not None or c_t is not None:
            a_t = _zeros_for(a_t, a_p)
            b_t = _zeros_for(b_t, b_p)
            c_t = _zeros_for(c_t, c_p)
            result_t = a_t * b_p + a_p * b_t + c_t
        return result_t


def lab_fused_mul_add(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """`lab::fused_mul_add`, differentiable.

        lab::fused_mul_add(Tensor a, Tensor b, Tensor c) -> Tensor
    """
    return FusedMulAddBackward0.apply(a, b, c)


def lab_squared_difference_backward(grads, needs_input_grad, x, y):
    """The gradients of `lab::squared_difference`, of those inputs that need one.

        lab::squared_difference(Tensor x, Tensor y) -> Tensor

        x: grad * (2 * (x - y)).conj()
        y: -grad * (2 * (x - y)).conj()
    """
    grad = grads[0]
    grad_x = grad_y = None
    if needs_input_grad[0] and grad is not None:
        grad_x = grad * (2 * (x - y)).conj()
    if needs_input_grad[1] and grad is not None:
        grad_y = -grad * (2 * (x - y)).conj()
    return grad_x, grad_y


class SquaredDifferenceBackward0(torch.autograd.Function):
    """`lab::squared_difference` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return torch.ops.lab.squared_difference.default(x, y)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)

    @staticmethod
    def backward(ctx, *grads):
        x, y = ctx.saved_tensors
        return lab_squared_difference_backward(grads, ctx.needs_input_grad, x, y)

    @staticmethod
    def jvp(ctx, *tangents):
        x_p, y_p = ctx.saved_tensors
        x_t = tangents[0]
        y_t = tangents[1]
        # result: 2 * (x_p - y_p) * (x_t - y_t)
        result_t = None
        if x_t is not None or y_t is not None:
            x_t = _zeros_for(x_t, x_p)
            y_t = _zeros_for(y_t, y_p)
            result_t = 2 * (x_p - y_p) * (x_t - y_t)
        return result_t


def lab_squared_difference(x: Tensor, y: Tensor) -> Tensor:
    """`lab::squared_difference`, differentiable.

        lab::squared_difference(Tensor x, Tensor y) -> Tensor
    """
    return SquaredDifferenceBackward0.apply(x, y)


def lab_soft_sign_backward(grads, needs_input_grad, self):
    """The gradients of `lab::soft_sign`, of those inputs that need one.

        lab::soft_sign(Tensor self) -> Tensor

        self: grad / (1 + self.abs()).square()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad / (1 + self.abs()).square()
    return (grad_self,)


class SoftSignBackward0(torch.autograd.Function):
    """`lab::soft_sign` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.soft_sign.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_soft_sign_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: (self_t.conj() / (1 + self_p.abs()).square()).conj()
        result_t = None
        if self_t is not None:
            result_t = (self_t.conj() / (1 + self_p.abs()).square()).conj()
        return result_t


def lab_soft_sign(self: Tensor) -> Tensor:
    """`lab::soft_sign`, differentiable.

        lab::soft_sign(Tensor self) -> Tensor
    """
    return SoftSignBackward0.apply(self)
