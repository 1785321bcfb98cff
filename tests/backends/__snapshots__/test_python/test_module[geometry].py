"""Gradients of geometry: emitted by gradspec, not to be edited."""

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


def lab_distances_backward(grads, needs_input_grad, x, y, result):
    """The gradients of `lab::distances`, of those inputs that need one.

        lab::distances(Tensor x, Tensor y) -> Tensor

        x: ((grad / result).unsqueeze(-1) * (x.unsqueeze(1) - y.unsqueeze(0))).sum(1)
        y: ((grad / result).unsqueeze(-1) * (y.unsqueeze(0) - x.unsqueeze(1))).sum(0)
    """
    grad = grads[0]
    grad_x = grad_y = None
    if needs_input_grad[0] and grad is not None:
        grad_x = ((grad / result).unsqueeze(-1) * (x.unsqueeze(1) - y.unsqueeze(0))).sum([1])
    if needs_input_grad[1] and grad is not None:
        grad_y = ((grad / result).unsqueeze(-1) * (y.unsqueeze(0) - x.unsqueeze(1))).sum([0])
    return grad_x, grad_y


class DistancesBackward0(torch.autograd.Function):
    """`lab::distances` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return torch.ops.lab.distances.default(x, y)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y = inputs
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(x, y, result)
        ctx.save_for_forward(x, y, result)

    @staticmethod
    def backward(ctx, *grads):
        x, y, result = ctx.saved_tensors
        return lab_distances_backward(grads, ctx.needs_input_grad, x, y, result)

    @staticmethod
    def jvp(ctx, *tangents):
        x_p, y_p, result = ctx.saved_tensors
        x_t = tangents[0]
        y_t = tangents[1]
        # result: ((x_p.unsqueeze(1) - y_p.unsqueeze(0)) * (x_t.unsqueeze(1) - y_t.unsqueeze(0))).sum(-1) / result
        result_t = None
        if x_t is not None or y_t is not None:
            x_t = _zeros_for(x_t, x_p)
            y_t = _zeros_for(y_t, y_p)
            result_t = (
                ((x_p.unsqueeze(1) - y_p.unsqueeze(0)) * (x_t.unsqueeze(1) - y_t.unsqueeze(0))).sum([-1])
                / result
            )
        return result_t


def lab_distances(x: Tensor, y: Tensor) -> Tensor:
    """`lab::distances`, differentiable.

        lab::distances(Tensor x, Tensor y) -> Tensor
    """
    return DistancesBackward0.apply(x, y)


def lab_to_polar_backward(grads, needs_input_grad, x, x_info, y, y_info, radius):
    """The gradients of `lab::to_polar`, of those inputs that need one.

        lab::to_polar(Tensor x, Tensor y) -> (Tensor radius, Tensor angle)

        x: (grad_radius.defined() ? grad_radius * x / radius : at::zeros_like(x)) - (grad_angle.defined() ? grad_angle * y / radius.square() : at::zeros_like(x))
        y: (grad_radius.defined() ? grad_radius * y / radius : at::zeros_like(y)) + (grad_angle.defined() ? grad_angle * x / radius.square() : at::zeros_like(y))
    """
    grad_angle = grads[1]
    grad_radius = grads[0]
    grad_x = grad_y = None
    if needs_input_grad[0] and any(g is not None for g in grads):
        grad_x = (
            (grad_radius * x / radius if grad_radius is not None else torch.zeros(**x_info))
            - (grad_angle * y / radius.square() if grad_angle is not None else torch.zeros(**x_info))
        )
    if needs_input_grad[1] and any(g is not None for g in grads):
        grad_y = (
            (grad_radius * y / radius if grad_radius is not None else torch.zeros(**y_info))
            + (grad_angle * x / radius.square() if grad_angle is not None else torch.zeros(**y_info))
        )
    return grad_x, grad_y


class ToPolarBackward0(torch.autograd.Function):
    """`lab::to_polar` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return torch.ops.lab.to_polar.default(x, y)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y = inputs
        ctx.set_materialize_grads(False)
        radius, _ = output
        ctx.save_for_backward(x, y, radius)
        ctx.save_for_forward(x, y, radius)
        ctx.x_info = {"size": x.shape, **_options_of(x)}
        ctx.y_info = {"size": y.shape, **_options_of(y)}

    @staticmethod
    def backward(ctx, *grads):
        x, y, radius = ctx.saved_tensors
        return lab_to_polar_backward(grads, ctx.needs_input_grad, x, ctx.x_info, y, ctx.y_info, radius)

    @staticmethod
    def jvp(ctx, *tangents):
        x_p, y_p, radius = ctx.saved_tensors
        x_t = tangents[0]
        y_t = tangents[1]
        # radius, angle: std::make_tuple((x_t * x_p + y_t * y_p) / radius, (y_t * x_p - x_t * y_p) / radius.square())
        radius_t = angle_t = None
        if x_t is not None or y_t is not None:
            x_t = _zeros_for(x_t, x_p)
            y_t = _zeros_for(y_t, y_p)
            radius_t, angle_t = ((x_t * x_p + y_t * y_p) / radius, (y_t * x_p - x_t * y_p) / radius.square())
        return radius_t, angle_t


def lab_to_polar(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """`lab::to_polar`, differentiable.

        lab::to_polar(Tensor x, Tensor y) -> (Tensor radius, Tensor angle)
    """
    return ToPolarBackward0.apply(x, y)
