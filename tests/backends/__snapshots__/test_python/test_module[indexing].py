"""Gradients of indexing: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


# What formulas call beside operators.


def _options_of(x):
    """What new tensors like `x` are made with."""
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_read_backward(grads, needs_input_grad, dim, index, self_info):
    """The gradients of `lab::read`, of those inputs that need one.

        lab::read(Tensor self, int dim, Tensor index) -> Tensor

        self: at::zeros_like(self).scatter_add(dim, index, grad)
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = torch.zeros(**self_info).scatter_add(dim, index, grad)
    return (grad_self,)


class ReadBackward0(torch.autograd.Function):
    """`lab::read` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, dim, index):
        return torch.ops.lab.read.default(self, dim, index)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, dim, index = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(index)
        ctx.save_for_forward(index)
        ctx.dim = dim
        ctx.self_info = {"size": self.shape, **_options_of(self)}

    @staticmethod
    def backward(ctx, *grads):
        (index,) = ctx.saved_tensors
        (grad_self,) = lab_read_backward(grads, (ctx.needs_input_grad[0],), ctx.dim, index, ctx.self_info)
        return grad_self, None, None

    @staticmethod
    def jvp(ctx, *tangents):
        (index,) = ctx.saved_tensors
        dim = ctx.dim
        self_t = tangents[0]
        # result: self_t.gather(dim, index)
        result_t = None
        if self_t is not None:
            result_t = self_t.gather(dim, index)
        return result_t


def lab_read(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """`lab::read`, differentiable.

        lab::read(Tensor self, int dim, Tensor index) -> Tensor
    """
    return ReadBackward0.apply(self, dim, index)


def lab_write_backward(grads, needs_input_grad, dim, index):
    """The gradients of `lab::write`, of those inputs that need one.

        lab::write(Tensor self, int dim, Tensor index, Tensor source) -> Tensor

        self: grad.scatter(dim, index, 0)
        source: grad.gather(dim, index)
    """
    grad = grads[0]
    grad_self = grad_source = None
    if needs_input_grad[0] and grad is not None:
        grad_self = grad.scatter(dim, index, 0)
    if needs_input_grad[1] and grad is not None:
        grad_source = grad.gather(dim, index)
    return grad_self, grad_source


class WriteBackward0(torch.autograd.Function):
    """`lab::write` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, dim, index, source):
        return torch.ops.lab.write.default(self, dim, index, source)

    @staticmethod
    def setup_context(ctx, inputs, output):
        self, dim, index, source = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(index)
        ctx.save_for_forward(self, source, index)
        ctx.dim = dim

    @staticmethod
    def backward(ctx, *grads):
        (index,) = ctx.saved_tensors
        grad_self, grad_source = lab_write_backward(
            grads, (ctx.needs_input_grad[0], ctx.needs_input_grad[3]), ctx.dim, index
        )
        return grad_self, None, None, grad_source

    @staticmethod
    def jvp(ctx, *tangents):
        self_p, source_p, index = ctx.saved_tensors
        dim = ctx.dim
        self_t = tangents[0]
        source_t = tangents[3]
        # result: self_t.scatter(dim, index, source_t)
        result_t = None
        if self_t is not None or source_t is not None:
            self_t = _zeros_for(self_t, self_p)
            source_t = _zeros_for(source_t, source_p)
            result_t = self_t.scatter(dim, index, source_t)
        return result_t


def lab_write(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """`lab::write`, differentiable.

        lab::write(Tensor self, int dim, Tensor index, Tensor source) -> Tensor
    """
    return WriteBackward0.apply(self, dim, index, source)


def lab_split_off_backward(grads, needs_input_grad, result1):
    """The gradients of `lab::split_off`, of those inputs that need one.

        lab::split_off(Tensor self, SymInt n) -> (Tensor, SymInt)

        self: at::constant_pad_nd_symint(grad, {0, result1})
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = aten.constant_pad_nd.default(grad, [0, result1])
    return (grad_self,)


class SplitOffBackward0(torch.autograd.Function):
    """`lab::split_off` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, n):
        return torch.ops.lab.split_off.default(self, n)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, n = inputs
        ctx.set_materialize_grads(False)
        _, result1 = output
        ctx.result1 = result1
        ctx.n = n

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_split_off_backward(grads[:1], (ctx.needs_input_grad[0],), ctx.result1)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        n = ctx.n
        self_t = tangents[0]
        # result0: self_t.narrow_symint(0, 0, n)
        result0_t = None
        if self_t is not None:
            result0_t = self_t.narrow(0, 0, n)
        return result0_t, None


def lab_split_off(self: Tensor, n: int) -> tuple[Tensor, int]:
    """`lab::split_off`, differentiable.

        lab::split_off(Tensor self, SymInt n) -> (Tensor, SymInt)
    """
    return SplitOffBackward0.apply(self, n)
