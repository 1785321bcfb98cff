"""Gradients of dispatch: emitted by gradspec, not to be edited.

Left out, as Python has no form for it:
- lab::lookup (AutogradCUDA): no `lookup_backward_cuda`
"""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


# What formulas call beside operators.


def _not_implemented(name, reason=""):
    """Refuse a gradient that nobody has written."""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented. {reason}".strip())


def lab_lookup_backward(grads, needs_input_grad, rows, table_sym_sizes):
    """The gradients of `lab::lookup`, of those inputs that need one.

        lab::lookup(Tensor table, Tensor rows) -> Tensor

        table: at::index_select_backward_symint(grad, table.sym_sizes(), 0, rows)
    """
    grad = grads[0]
    grad_table = None
    if needs_input_grad[0] and grad is not None:
        grad_table = aten.index_select_backward.default(grad, table_sym_sizes, 0, rows)
    return (grad_table,)


class LookupBackward0(torch.autograd.Function):
    """`lab::lookup` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(table, rows):
        return torch.ops.lab.lookup.default(table, rows)

    @staticmethod
    def setup_context(ctx, inputs, output):
        table, rows = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(rows)
        ctx.save_for_forward(rows)
        ctx.table_sym_sizes = table.shape

    @staticmethod
    def backward(ctx, *grads):
        (rows,) = ctx.saved_tensors
        (grad_table,) = lab_lookup_backward(grads, (ctx.needs_input_grad[0],), rows, ctx.table_sym_sizes)
        return grad_table, None

    @staticmethod
    def jvp(ctx, *tangents):
        (rows,) = ctx.saved_tensors
        table_t = tangents[0]
        # result: lab::lookup(table_t, rows)
        result_t = None
        if table_t is not None:
            result_t = torch.ops.lab.lookup.default(table_t, rows)
        return result_t


def lab_lookup(table: Tensor, rows: Tensor) -> Tensor:
    """`lab::lookup`, differentiable.

        lab::lookup(Tensor table, Tensor rows) -> Tensor
    """
    return LookupBackward0.apply(table, rows)


def lab_lookup_AutogradNestedTensor_backward(grads, needs_input_grad):
    """The gradients of `lab::lookup`, of those inputs that need one.

        lab::lookup(Tensor table, Tensor rows) -> Tensor

        table: not_implemented("lookup of nested tensors")
    """
    grad_table = None
    if needs_input_grad[0] and grads[0] is not None:
        grad_table = _not_implemented("lookup of nested tensors")
    return (grad_table,)


class LookupBackwardAutogradNestedTensor0(torch.autograd.Function):
    """`lab::lookup` with its gradients, under AutogradNestedTensor."""

    generate_vmap_rule = True

    @staticmethod
    def forward(table, rows):
        return torch.ops.lab.lookup.default(table, rows)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        (grad_table,) = lab_lookup_AutogradNestedTensor_backward(grads, (ctx.needs_input_grad[0],))
        return grad_table, None


def lab_lookup_AutogradNestedTensor(table: Tensor, rows: Tensor) -> Tensor:
    """`lab::lookup`, differentiable.

        lab::lookup(Tensor table, Tensor rows) -> Tensor
    """
    return LookupBackwardAutogradNestedTensor0.apply(table, rows)


def lab_magnitude_backward(grads, needs_input_grad, self):
    """The gradients of `lab::magnitude`, of those inputs that need one.

        lab::magnitude(Tensor self) -> Tensor

        self: grad * self.sgn()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * self.sgn()
    return (grad_self,)


class MagnitudeBackward0(torch.autograd.Function):
    """`lab::magnitude` with its gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.magnitude.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_magnitude_backward(grads, ctx.needs_input_grad, self)


def lab_magnitude(self: Tensor) -> Tensor:
    """`lab::magnitude`, differentiable.

        lab::magnitude(Tensor self) -> Tensor
    """
    return MagnitudeBackward0.apply(self)


def lab_magnitude_AutogradMPS_backward(grads, needs_input_grad, self):
    """The gradients of `lab::magnitude`, of those inputs that need one.

        lab::magnitude(Tensor self) -> Tensor

        self: grad * self / self.abs()
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad * self / self.abs()
    return (grad_self,)


class MagnitudeBackwardAutogradMPS0(torch.autograd.Function):
    """`lab::magnitude` with its gradients, under AutogradMPS."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.magnitude.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_magnitude_AutogradMPS_backward(grads, ctx.needs_input_grad, self)


def lab_magnitude_AutogradMPS(self: Tensor) -> Tensor:
    """`lab::magnitude`, differentiable.

        lab::magnitude(Tensor self) -> Tensor
    """
    return MagnitudeBackwardAutogradMPS0.apply(self)
