"""Gradients of views: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::halves (Default): no `join_defined`
"""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


def lab_row_backward(grads, needs_input_grad, index, self_sym_sizes):
    """The gradients of `lab::row`, of those inputs that need one.

        lab::row(Tensor(a) self, SymInt index) -> Tensor(a)

        self: at::select_backward_symint(grad, self.sym_sizes(), 0, index)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = aten.select_backward.default(grad, self_sym_sizes, 0, index)
    return (grad_self,)


class RowBackward0(torch.autograd.Function):
    """`lab::row` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, index):
        return torch.ops.lab.row.default(self, index)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, index = inputs
        ctx.set_materialize_grads(False)
        ctx.index = index
        ctx.self_sym_sizes = self.shape

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_row_backward(grads, (ctx.needs_input_grad[0],), ctx.index, ctx.self_sym_sizes)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        index = ctx.index
        self_t = tangents[0]
        # result: lab::row_symint(self_t, index)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.row.default(self_t, index)
        return result_t


def lab_row(self: Tensor, index: int) -> Tensor:
    """`lab::row`, differentiable.

        lab::row(Tensor(a) self, SymInt index) -> Tensor(a)
    """
    return RowBackward0.apply(self, index)


def lab_adjoint_backward(grads, needs_input_grad):
    """The gradients of `lab::adjoint`, of those inputs that need one.

        lab::adjoint(Tensor(a) self) -> Tensor(a)

        self: grad.transpose(0, 1).conj()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.transpose(0, 1).conj()
    return (grad_self,)


class AdjointBackward0(torch.autograd.Function):
    """`lab::adjoint` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.adjoint.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return lab_adjoint_backward(grads, ctx.needs_input_grad)

    @staticmethod
    def jvp(ctx, *tangents):
        self_t = tangents[0]
        # result: lab::adjoint(self_t)
        result_t = None
        if self_t is not None:
            result_t = torch.ops.lab.adjoint.default(self_t)
        return result_t


def lab_adjoint(self: Tensor) -> Tensor:
    """`lab::adjoint`, differentiable.

        lab::adjoint(Tensor(a) self) -> Tensor(a)
    """
    return AdjointBackward0.apply(self)
