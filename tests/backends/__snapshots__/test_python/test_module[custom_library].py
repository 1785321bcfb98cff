"""Gradients of custom_library: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- geo::turn (Default): no `geo::rotation_backward`
- geo::great_circle (Default): no `great_circle_backward`
"""

from __future__ import annotations

import torch
from torch import Tensor


def maps_zoom_backward(grads, needs_input_grad, factor):
    """The gradients of `maps::zoom`, of those inputs that need one.

        maps::zoom(Tensor self, Scalar factor) -> Tensor

        self: grad * factor.conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * factor.conjugate()
    return (grad_self,)


class ZoomBackward0(torch.autograd.Function):
    """`maps::zoom` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, factor):
        return torch.ops.maps.zoom.default(self, factor)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, factor = inputs
        ctx.set_materialize_grads(False)
        ctx.factor = factor

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = maps_zoom_backward(grads, (ctx.needs_input_grad[0],), ctx.factor)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        factor = ctx.factor
        self_t = tangents[0]
        # result: self_t * factor
        result_t = None
        if self_t is not None:
            result_t = self_t * factor
        return result_t


def maps_zoom(self: Tensor, factor: complex) -> Tensor:
    """`maps::zoom`, differentiable.

        maps::zoom(Tensor self, Scalar factor) -> Tensor
    """
    return ZoomBackward0.apply(self, factor)
