"""Gradients of complex_numbers: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_modulus_backward(grads, needs_input_grad, self):
    """The gradients of `lab::modulus`, of those inputs that need one.

        lab::modulus(Tensor self) -> Tensor

        self: grad * self.sgn()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * self.sgn()
    return (grad_self,)


class ModulusBackward0(torch.autograd.Function):
    """`lab::modulus` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.modulus.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_modulus_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: at::real(self_t * self_p.sgn().conj())
        result_t = None
        if self_t is not None:
            result_t = torch.real(self_t * self_p.sgn().conj())
        return result_t


def lab_modulus(self: Tensor) -> Tensor:
    """`lab::modulus`, differentiable.

        lab::modulus(Tensor self) -> Tensor
    """
    return ModulusBackward0.apply(self)


def lab_squared_modulus_backward(grads, needs_input_grad, self):
    """The gradients of `lab::squared_modulus`, of those inputs that need one.

        lab::squared_modulus(Tensor self) -> Tensor

        self: 2 * grad * self
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = 2 * grad * self
    return (grad_self,)


class SquaredModulusBackward0(torch.autograd.Function):
    """`lab::squared_modulus` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.squared_modulus.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_squared_modulus_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: 2 * at::real(self_t * self_p.conj())
        result_t = None
        if self_t is not None:
            result_t = 2 * torch.real(self_t * self_p.conj())
        return result_t


def lab_squared_modulus(self: Tensor) -> Tensor:
    """`lab::squared_modulus`, differentiable.

        lab::squared_modulus(Tensor self) -> Tensor
    """
    return SquaredModulusBackward0.apply(self)


def lab_compose_backward(grads, needs_input_grad):
    """The gradients of `lab::compose`, of those inputs that need one.

        lab::compose(Tensor re, Tensor im) -> Tensor

        im: at::imag(grad)
        re: at::real(grad)
    """
    grad = grads[0]
    grad_re = grad_im = None
    if needs_input_grad[1] and grad is not None:
        grad_im = torch.imag(grad)
    if needs_input_grad[0] and grad is not None:
        grad_re = torch.real(grad)
    return grad_re, grad_im


class ComposeBackward0(torch.autograd.Function):
    """`lab::compose` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(re, im):
        return torch.ops.lab.compose.default(re, im)

    @staticmethod
    def setup_context(ctx, inputs, output):
        re, im = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_forward(re, im)

    @staticmethod
    def backward(ctx, *grads):
        return lab_compose_backward(grads, ctx.needs_input_grad)

    @staticmethod
    def jvp(ctx, *tangents):
        re_p, im_p = ctx.saved_tensors
        re_t = tangents[0]
        im_t = tangents[1]
        # result: at::complex(re_t, im_t)
        result_t = None
        if re_t is not None or im_t is not None:
            re_t = _zeros_for(re_t, re_p)
            im_t = _zeros_for(im_t, im_p)
            result_t = torch.complex(re_t, im_t)
        return result_t


def lab_compose(re: Tensor, im: Tensor) -> Tensor:
    """`lab::compose`, differentiable.

        lab::compose(Tensor re, Tensor im) -> Tensor
    """
    return ComposeBackward0.apply(re, im)


def lab_mirrored_backward(grads, needs_input_grad):
    """The gradients of `lab::mirrored`, of those inputs that need one.

        lab::mirrored(Tensor self) -> Tensor

        self: grad.conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.conj()
    return (grad_self,)


class MirroredBackward0(torch.autograd.Function):
    """`lab::mirrored` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.mirrored.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return lab_mirrored_backward(grads, ctx.needs_input_grad)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: self_t.conj()
        result_t = None
        if self_t is not None:
            result_t = self_t.conj()
        return result_t


def lab_mirrored(self: Tensor) -> Tensor:
    """`lab::mirrored`, differentiable.

        lab::mirrored(Tensor self) -> Tensor
    """
    return MirroredBackward0.apply(self)
