"""Gradients of types_and_layouts: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::densify (Default): no `to_layout`
- lab::strided_sample (Default): no `scatter_into`
"""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


def lab_cast_to_backward(grads, needs_input_grad, self_scalar_type):
    """The gradients of `lab::cast_to`, of those inputs that need one.

        lab::cast_to(Tensor self, ScalarType dtype) -> Tensor

        self: grad.to(self.scalar_type())
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.to(self_scalar_type)
    return (grad_self,)


class CastToBackward0(torch.autograd.Function):
    """`lab::cast_to` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, dtype):
        return torch.ops.lab.cast_to.default(self, dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, dtype = inputs
        ctx.set_materialize_grads(False)
        if not (dtype.is_floating_point or dtype.is_complex):
            ctx.mark_non_differentiable(output)
        ctx.self_scalar_type = self.dtype
        ctx.dtype = dtype

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_cast_to_backward(grads, (ctx.needs_input_grad[0],), ctx.self_scalar_type)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        dtype = ctx.dtype
        self_t = tangents[0]
        # result: self_t.to(dtype)
        result_t = None
        if self_t is not None:
            result_t = self_t.to(dtype)
        return result_t


def lab_cast_to(self: Tensor, dtype: torch.dtype) -> Tensor:
    """`lab::cast_to`, differentiable.

        lab::cast_to(Tensor self, ScalarType dtype) -> Tensor
    """
    return CastToBackward0.apply(self, dtype)


def lab_square_in_backward(grads, needs_input_grad, self, self_scalar_type, wide):
    """The gradients of `lab::square_in`, of those inputs that need one.

        lab::square_in(Tensor self, ScalarType wide) -> Tensor

        self: (2 * grad.to(wide) * self.to(wide)).to(self.scalar_type())
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = (2 * grad.to(wide) * self.to(wide)).to(self_scalar_type)
    return (grad_self,)


class SquareInBackward0(torch.autograd.Function):
    """`lab::square_in` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, wide):
        return torch.ops.lab.square_in.default(self, wide)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, wide = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.self_scalar_type = self.dtype
        ctx.wide = wide

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        (grad_self,) = lab_square_in_backward(
            grads, (ctx.needs_input_grad[0],), self, ctx.self_scalar_type, ctx.wide
        )
        return grad_self, None


def lab_square_in(self: Tensor, wide: torch.dtype) -> Tensor:
    """`lab::square_in`, differentiable.

        lab::square_in(Tensor self, ScalarType wide) -> Tensor
    """
    return SquareInBackward0.apply(self, wide)


def lab_settled_backward(grads, needs_input_grad, self_conjugate):
    """The gradients of `lab::settled`, of those inputs that need one.

        lab::settled(Tensor self) -> Tensor

        self: self.is_conj() ? at::conj_physical(grad).conj() : grad
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = aten.conj_physical.default(grad).conj() if self_conjugate else grad
    return (grad_self,)


class SettledBackward0(torch.autograd.Function):
    """`lab::settled` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.settled.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.self_conjugate = self.is_conj()

    @staticmethod
    def backward(ctx, *grads):
        return lab_settled_backward(grads, ctx.needs_input_grad, ctx.self_conjugate)


def lab_settled(self: Tensor) -> Tensor:
    """`lab::settled`, differentiable.

        lab::settled(Tensor self) -> Tensor
    """
    return SettledBackward0.apply(self)
