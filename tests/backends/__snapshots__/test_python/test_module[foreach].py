"""Gradients of foreach: emitted by gradspec, not to be edited."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


# What formulas call beside operators.


def _regroup(values, lengths):
    """A flat sequence cut into lists of these lengths."""
    groups, start = [], 0
    for length in lengths:
        groups.append(list(values[start : start + length]))
        start += length
    return groups


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab__foreach_axpy_backward(grads, needs_input_grad, alpha):
    """The gradients of `lab::_foreach_axpy`, of those inputs that need one.

        lab::_foreach_axpy(Tensor[] self, Tensor[] other, Scalar alpha) -> Tensor[]

        other: grads[i] * alpha.conj()
        self: grads[i]
    """
    grad_self = grad_other = None
    if needs_input_grad[1] and any(g is not None for g in grads):
        grad_other = [None if grads[i] is None else grads[i] * alpha.conjugate() for i in range(len(grads))]
    if needs_input_grad[0] and any(g is not None for g in grads):
        grad_self = [None if grads[i] is None else grads[i] for i in range(len(grads))]
    return grad_self, grad_other


class ForeachAxpyBackward0(torch.autograd.Function):
    """`lab::_foreach_axpy` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(alpha, lengths, *tensors):
        self, other = _regroup(tensors, lengths)
        return tuple(torch.ops.lab._foreach_axpy.default(self, other, alpha))

    @staticmethod
    def setup_context(ctx, inputs, output):
        alpha, lengths, *tensors = inputs
        self, other = _regroup(tensors, lengths)
        ctx.argument_lengths = lengths
        ctx.set_materialize_grads(False)
        ctx.save_for_forward(*self, *other)
        ctx.lengths = [len(self), len(other)]
        ctx.alpha = alpha

    @staticmethod
    def backward(ctx, *grads):
        needs_self, needs_other = _regroup(ctx.needs_input_grad[2:], ctx.argument_lengths)
        grad_self, grad_other = lab__foreach_axpy_backward(
            grads, (any(needs_self), any(needs_other)), ctx.alpha
        )
        return None, None, *(grad_self or [None] * len(needs_self)), *(grad_other or [None] * len(needs_other))

    @staticmethod
    def jvp(ctx, *tangents):
        tensors = ctx.saved_tensors
        self, other = _regroup(tensors, ctx.lengths)
        alpha = ctx.alpha
        self_t, other_t = _regroup(tangents[2:], ctx.argument_lengths)
        # result, each: self_t + other_t * alpha
        result_t = [
            self_t
            + other_t * alpha
            for i, (self_t, other_t) in enumerate(zip([_zeros_for(t, p) for t, p in zip(self_t, self)], [_zeros_for(t, p) for t, p in zip(other_t, other)]))
        ]
        return tuple(result_t)


def lab__foreach_axpy(self: Sequence[Tensor], other: Sequence[Tensor], alpha: complex) -> list[Tensor]:
    """`lab::_foreach_axpy`, differentiable.

        lab::_foreach_axpy(Tensor[] self, Tensor[] other, Scalar alpha) -> Tensor[]
    """
    return list(ForeachAxpyBackward0.apply(alpha, [len(self), len(other)], *self, *other))


def lab__foreach_scale_ScalarList_backward(grads, needs_input_grad, factors):
    """The gradients of `lab::_foreach_scale.ScalarList`, of those inputs that need one.

        lab::_foreach_scale.ScalarList(Tensor[] self, Scalar[] factors) -> Tensor[]

        self: grads[i] * factors[i].conj()
    """
    grad_self = None
    if needs_input_grad[0] and any(g is not None for g in grads):
        grad_self = [
            None if grads[i] is None else grads[i] * factors[i].conjugate() for i in range(len(grads))
        ]
    return (grad_self,)


class ForeachScaleBackward0(torch.autograd.Function):
    """`lab::_foreach_scale.ScalarList` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(factors, *self):
        return tuple(torch.ops.lab._foreach_scale.ScalarList(self, factors))

    @staticmethod
    def setup_context(ctx, inputs, output):
        factors, *_ = inputs
        ctx.set_materialize_grads(False)
        ctx.factors = factors

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab__foreach_scale_ScalarList_backward(
            grads, (any(ctx.needs_input_grad[1:]),), ctx.factors
        )
        return None, *(grad_self or [None] * (len(ctx.needs_input_grad) - 1))

    @staticmethod
    def jvp(ctx, *tangents):
        factors = ctx.factors
        self_t = tangents[1:]
        # result, each: self_t * factors[i]
        result_t = [None if self_t is None else self_t * factors[i] for i, self_t in enumerate(self_t)]
        return tuple(result_t)


def lab__foreach_scale_ScalarList(self: Sequence[Tensor], factors: Sequence[complex]) -> list[Tensor]:
    """`lab::_foreach_scale.ScalarList`, differentiable.

        lab::_foreach_scale.ScalarList(Tensor[] self, Scalar[] factors) -> Tensor[]
    """
    return list(ForeachScaleBackward0.apply(factors, *self))


def lab__foreach_grow_backward(grads, needs_input_grad, result):
    """The gradients of `lab::_foreach_grow`, of those inputs that need one.

        lab::_foreach_grow(Tensor[] self) -> Tensor[]

        self: grads[i] * result[i].conj()
    """
    grad_self = None
    if needs_input_grad[0] and any(g is not None for g in grads):
        grad_self = [None if grads[i] is None else grads[i] * result[i].conj() for i in range(len(grads))]
    return (grad_self,)


class ForeachGrowBackward0(torch.autograd.Function):
    """`lab::_foreach_grow` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*self):
        return tuple(torch.ops.lab._foreach_grow.default(self))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        result = output
        ctx.save_for_backward(*result)
        ctx.save_for_forward(*result)

    @staticmethod
    def backward(ctx, *grads):
        (*result,) = ctx.saved_tensors
        (grad_self,) = lab__foreach_grow_backward(grads, (any(ctx.needs_input_grad[0:]),), result)
        return *(grad_self or [None] * (len(ctx.needs_input_grad) - 0)),

    @staticmethod
    def jvp(ctx, *tangents):
        (*result,) = ctx.saved_tensors
        self_t = tangents[0:]
        # result, each: self_t * result[i]
        result_t = [None if self_t is None else self_t * result[i] for i, self_t in enumerate(self_t)]
        return tuple(result_t)


def lab__foreach_grow(self: Sequence[Tensor]) -> list[Tensor]:
    """`lab::_foreach_grow`, differentiable.

        lab::_foreach_grow(Tensor[] self) -> Tensor[]
    """
    return list(ForeachGrowBackward0.apply(*self))
