"""Gradients of random: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_jitter_backward(grads, needs_input_grad, result1):
    """The gradients of `lab::jitter`, of those inputs that need one.

        lab::jitter(Tensor self, float strength, *, Generator? generator=None) -> (Tensor, Tensor)

        self: grad * result1
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * result1
    return (grad_self,)


class JitterBackward0(torch.autograd.Function):
    """`lab::jitter` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, strength, generator):
        return torch.ops.lab.jitter.default(self, strength, generator=generator)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        _, result1 = output
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(result1)
        ctx.save_for_forward(result1)

    @staticmethod
    def backward(ctx, *grads):
        (result1,) = ctx.saved_tensors
        (grad_self,) = lab_jitter_backward(grads[:1], (ctx.needs_input_grad[0],), result1)
        return grad_self, None, None

    @staticmethod
    def jvp(ctx, *tangents):
        (result1,) = ctx.saved_tensors
        self_t = tangents[0]
        # result0: self_t * result1
        result0_t = None
        if self_t is not None:
            result0_t = self_t * result1
        return result0_t, None


def lab_jitter(
    self: Tensor, strength: float, *, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """`lab::jitter`, differentiable.

        lab::jitter(Tensor self, float strength, *, Generator? generator=None) -> (Tensor, Tensor)
    """
    return JitterBackward0.apply(self, strength, generator)


def lab_draw_backward(grads, needs_input_grad, noise):
    """The gradients of `lab::draw`, of those inputs that need one.

        lab::draw(Tensor mean, Tensor spread, *, Generator? generator=None) -> (Tensor sample, Tensor noise)

        mean: grad
        spread: grad * noise
    """
    grad = grads[0]
    grad_mean = grad_spread = None
    if needs_input_grad[0] and grad is not None:
        grad_mean = grad
    if needs_input_grad[1] and grad is not None:
        grad_spread = grad * noise
    return grad_mean, grad_spread


class DrawBackward0(torch.autograd.Function):
    """`lab::draw` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(mean, spread, generator):
        return torch.ops.lab.draw.default(mean, spread, generator=generator)

    @staticmethod
    def setup_context(ctx, inputs, output):
        mean, spread, _ = inputs
        ctx.set_materialize_grads(False)
        _, noise = output
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(noise)
        ctx.save_for_forward(mean, spread, noise)

    @staticmethod
    def backward(ctx, *grads):
        (noise,) = ctx.saved_tensors
        grad_mean, grad_spread = lab_draw_backward(
            grads[:1], (ctx.needs_input_grad[0], ctx.needs_input_grad[1]), noise
        )
        return grad_mean, grad_spread, None

    @staticmethod
    def jvp(ctx, *tangents):
        mean_p, spread_p, noise = ctx.saved_tensors
        mean_t = tangents[0]
        spread_t = tangents[1]
        # sample: mean_t + spread_t * noise
        sample_t = None
        if mean_t is not None or spread_t is not None:
            mean_t = _zeros_for(mean_t, mean_p)
            spread_t = _zeros_for(spread_t, spread_p)
            sample_t = mean_t + spread_t * noise
        return sample_t, None


def lab_draw(
    mean: Tensor, spread: Tensor, *, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """`lab::draw`, differentiable.

        lab::draw(Tensor mean, Tensor spread, *, Generator? generator=None) -> (Tensor sample, Tensor noise)
    """
    return DrawBackward0.apply(mean, spread, generator)
