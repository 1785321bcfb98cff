"""Gradients of trigonometry: emitted by gradspec, not to be edited."""

from __future__ import annotations

import math

import torch
from torch import Tensor


# What formulas call beside operators.


def _options_of(x):
    """What new tensors like `x` are made with."""
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


def lab_sin_cos_backward(grads, needs_input_grad, cosine, sine, sine_options):
    """The gradients of `lab::sin_cos`, of those inputs that need one.

        lab::sin_cos(Tensor self) -> (Tensor sine, Tensor cosine)

        self: (grad_sine.defined() ? grad_sine * cosine.conj() : at::zeros({}, sine.options())) - (grad_cosine.defined() ? grad_cosine * sine.conj() : at::zeros({}, sine.options()))
    """
    grad_cosine = grads[1]
    grad_sine = grads[0]
    grad_self = None
    if needs_input_grad[0] and any(g is not None for g in grads):
        grad_self = (
            (grad_sine * cosine.conj() if grad_sine is not None else torch.zeros([], **sine_options))
            - (grad_cosine * sine.conj() if grad_cosine is not None else torch.zeros([], **sine_options))
        )
    return (grad_self,)


class SinCosBackward0(torch.autograd.Function):
    """`lab::sin_cos` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.sin_cos.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        sine, cosine = output
        ctx.save_for_backward(cosine, sine)
        ctx.save_for_forward(sine, cosine)
        ctx.sine_options = _options_of(sine)

    @staticmethod
    def backward(ctx, *grads):
        cosine, sine = ctx.saved_tensors
        return lab_sin_cos_backward(grads, ctx.needs_input_grad, cosine, sine, ctx.sine_options)

    @staticmethod
    def jvp(ctx, *tangents):
        sine, cosine = ctx.saved_tensors
        self_t = tangents[0]
        # cosine: -(self_t * sine)
        cosine_t = None
        if self_t is not None:
            cosine_t = -(self_t * sine)
        # sine: self_t * cosine
        sine_t = None
        if self_t is not None:
            sine_t = self_t * cosine
        return sine_t, cosine_t


def lab_sin_cos(self: Tensor) -> tuple[Tensor, Tensor]:
    """`lab::sin_cos`, differentiable.

        lab::sin_cos(Tensor self) -> (Tensor sine, Tensor cosine)
    """
    return SinCosBackward0.apply(self)


def lab_tangent_of_degrees_backward(grads, needs_input_grad, result):
    """The gradients of `lab::tangent_of_degrees`, of those inputs that need one.

        lab::tangent_of_degrees(Tensor self) -> Tensor

        self: grad * (1 + result.square()) * (M_PI / 180)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * (1 + result.square()) * (math.pi / 180)
    return (grad_self,)


class TangentOfDegreesBackward0(torch.autograd.Function):
    """`lab::tangent_of_degrees` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.tangent_of_degrees.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(result)
        ctx.save_for_forward(result)

    @staticmethod
    def backward(ctx, *grads):
        (result,) = ctx.saved_tensors
        return lab_tangent_of_degrees_backward(grads, ctx.needs_input_grad, result)

    @staticmethod
    def jvp(ctx, *tangents):
        (result,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: (self_t.conj() * (1 + result.square()) * (M_PI / 180)).conj()
        result_t = None
        if self_t is not None:
            result_t = (self_t.conj() * (1 + result.square()) * (math.pi / 180)).conj()
        return result_t


def lab_tangent_of_degrees(self: Tensor) -> Tensor:
    """`lab::tangent_of_degrees`, differentiable.

        lab::tangent_of_degrees(Tensor self) -> Tensor
    """
    return TangentOfDegreesBackward0.apply(self)
