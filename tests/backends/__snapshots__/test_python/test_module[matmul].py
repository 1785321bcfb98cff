"""Gradients of matmul: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor


# What formulas call beside operators.


def _zeros_for(tangent, primal):
    """The tangent, or zeros where there is none."""
    return torch.zeros_like(primal) if tangent is None else tangent


def lab_product_of_matrices_backward(grads, needs_input_grad, a, b):
    """The gradients of `lab::product_of_matrices`, of those inputs that need one.

        lab::product_of_matrices(Tensor a, Tensor b) -> Tensor

        a: grad.matmul(b.mH())
        b: a.mH().matmul(grad)
    """
    grad = grads[0]
    grad_a = grad_b = None
    if needs_input_grad[0] and grad is not None:
        grad_a = grad.matmul(b.mH)
    if needs_input_grad[1] and grad is not None:
        grad_b = a.mH.matmul(grad)
    return grad_a, grad_b


class ProductOfMatricesBackward0(torch.autograd.Function):
    """`lab::product_of_matrices` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b):
        return torch.ops.lab.product_of_matrices.default(a, b)

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx, *grads):
        a, b = ctx.saved_tensors
        return lab_product_of_matrices_backward(grads, ctx.needs_input_grad, a, b)

    @staticmethod
    def jvp(ctx, *tangents):
        a_p, b_p = ctx.saved_tensors
        a_t = tangents[0]
        b_t = tangents[1]
        # result: a_t.matmul(b_p) + a_p.matmul(b_t)
        result_t = None
        if a_t is not None or b_t is not None:
            a_t = _zeros_for(a_t, a_p)
            b_t = _zeros_for(b_t, b_p)
            result_t = a_t.matmul(b_p) + a_p.matmul(b_t)
        return result_t


def lab_product_of_matrices(a: Tensor, b: Tensor) -> Tensor:
    """`lab::product_of_matrices`, differentiable.

        lab::product_of_matrices(Tensor a, Tensor b) -> Tensor
    """
    return ProductOfMatricesBackward0.apply(a, b)


def lab_bilinear_form_backward(grads, needs_input_grad, m, x, y):
    """The gradients of `lab::bilinear_form`, of those inputs that need one.

        lab::bilinear_form(Tensor x, Tensor m, Tensor y) -> Tensor

        m: grad * at::outer(x, y).conj()
        x: grad * m.mv(y).conj()
        y: grad * m.t().mv(x).conj()
    """
    grad = grads[0]
    grad_x = grad_m = grad_y = None
    if needs_input_grad[1] and grad is not None:
        grad_m = grad * torch.outer(x, y).conj()
    if needs_input_grad[0] and grad is not None:
        grad_x = grad * m.mv(y).conj()
    if needs_input_grad[2] and grad is not None:
        grad_y = grad * m.t().mv(x).conj()
    return grad_x, grad_m, grad_y


class BilinearFormBackward0(torch.autograd.Function):
    """`lab::bilinear_form` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, m, y):
        return torch.ops.lab.bilinear_form.default(x, m, y)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, m, y = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(m, x, y)
        ctx.save_for_forward(x, m, y)

    @staticmethod
    def backward(ctx, *grads):
        m, x, y = ctx.saved_tensors
        return lab_bilinear_form_backward(grads, ctx.needs_input_grad, m, x, y)

    @staticmethod
    def jvp(ctx, *tangents):
        x_p, m_p, y_p = ctx.saved_tensors
        x_t = tangents[0]
        m_t = tangents[1]
        y_t = tangents[2]
        # result: x_t.dot(m_p.mv(y_p)) + x_p.dot(m_t.mv(y_p)) + x_p.dot(m_p.mv(y_t))
        result_t = None
        if x_t is not None or m_t is not None or y_t is not None:
            x_t = _zeros_for(x_t, x_p)
            m_t = _zeros_for(m_t, m_p)
            y_t = _zeros_for(y_t, y_p)
            result_t = x_t.dot(m_p.mv(y_p)) + x_p.dot(m_t.mv(y_p)) + x_p.dot(m_p.mv(y_t))
        return result_t


def lab_bilinear_form(x: Tensor, m: Tensor, y: Tensor) -> Tensor:
    """`lab::bilinear_form`, differentiable.

        lab::bilinear_form(Tensor x, Tensor m, Tensor y) -> Tensor
    """
    return BilinearFormBackward0.apply(x, m, y)


def lab_add_product_backward(grads, needs_input_grad, a, alpha, b, beta):
    """The gradients of `lab::add_product`, of those inputs that need one.

        lab::add_product(Tensor c, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1) -> Tensor

        a: grad.matmul(b.mH()) * alpha.conj()
        b: a.mH().matmul(grad) * alpha.conj()
        c: grad * beta.conj()
    """
    grad = grads[0]
    grad_c = grad_a = grad_b = None
    if needs_input_grad[1] and grad is not None:
        grad_a = grad.matmul(b.mH) * alpha.conjugate()
    if needs_input_grad[2] and grad is not None:
        grad_b = a.mH.matmul(grad) * alpha.conjugate()
    if needs_input_grad[0] and grad is not None:
        grad_c = grad * beta.conjugate()
    return grad_c, grad_a, grad_b


class AddProductBackward0(torch.autograd.Function):
    """`lab::add_product` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(c, a, b, beta, alpha):
        return torch.ops.lab.add_product.default(c, a, b, beta=beta, alpha=alpha)

    @staticmethod
    def setup_context(ctx, inputs, output):
        c, a, b, beta, alpha = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(c, a, b)
        ctx.alpha = alpha
        ctx.beta = beta

    @staticmethod
    def backward(ctx, *grads):
        a, b = ctx.saved_tensors
        grad_c, grad_a, grad_b = lab_add_product_backward(
            grads, (ctx.needs_input_grad[0], ctx.needs_input_grad[1], ctx.needs_input_grad[2]), a, ctx.alpha,
            b, ctx.beta
        )
        return grad_c, grad_a, grad_b, None, None

    @staticmethod
    def jvp(ctx, *tangents):
        c_p, a_p, b_p = ctx.saved_tensors
        beta = ctx.beta
        alpha = ctx.alpha
        c_t = tangents[0]
        a_t = tangents[1]
        b_t = tangents[2]
        # result: c_t * beta + (a_t.matmul(b_p) + a_p.matmul(b_t)) * alpha
        result_t = None
        if c_t is not None or a_t is not None or b_t is not None:
            c_t = _zeros_for(c_t, c_p)
            a_t = _zeros_for(a_t, a_p)
            b_t = _zeros_for(b_t, b_p)
            result_t = c_t * beta + (a_t.matmul(b_p) + a_p.matmul(b_t)) * alpha
        return result_t


def lab_add_product(c: Tensor, a: Tensor, b: Tensor, *, beta: complex = 1, alpha: complex = 1) -> Tensor:
    """`lab::add_product`, differentiable.

        lab::add_product(Tensor c, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1) -> Tensor
    """
    return AddProductBackward0.apply(c, a, b, beta, alpha)


def lab_route_backward(grads, needs_input_grad, dispatch, tokens):
    """The gradients of `lab::route`, of those inputs that need one.

        lab::route(Tensor tokens, Tensor dispatch) -> Tensor

        dispatch: grad.matmul(tokens.mH()).mT()
        tokens: dispatch.conj().matmul(grad)
    """
    grad = grads[0]
    grad_tokens = grad_dispatch = None
    if needs_input_grad[1] and grad is not None:
        grad_dispatch = grad.matmul(tokens.mH).mT
    if needs_input_grad[0] and grad is not None:
        grad_tokens = dispatch.conj().matmul(grad)
    return grad_tokens, grad_dispatch


class RouteBackward0(torch.autograd.Function):
    """`lab::route` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tokens, dispatch):
        return torch.ops.lab.route.default(tokens, dispatch)

    @staticmethod
    def setup_context(ctx, inputs, output):
        tokens, dispatch = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(dispatch, tokens)
        ctx.save_for_forward(tokens, dispatch)

    @staticmethod
    def backward(ctx, *grads):
        dispatch, tokens = ctx.saved_tensors
        return lab_route_backward(grads, ctx.needs_input_grad, dispatch, tokens)

    @staticmethod
    def jvp(ctx, *tangents):
        tokens_p, dispatch_p = ctx.saved_tensors
        tokens_t = tangents[0]
        dispatch_t = tangents[1]
        # result: dispatch_p.mT().matmul(tokens_t) + dispatch_t.mT().matmul(tokens_p)
        result_t = None
        if tokens_t is not None or dispatch_t is not None:
            tokens_t = _zeros_for(tokens_t, tokens_p)
            dispatch_t = _zeros_for(dispatch_t, dispatch_p)
            result_t = dispatch_p.mT.matmul(tokens_t) + dispatch_t.mT.matmul(tokens_p)
        return result_t


def lab_route(tokens: Tensor, dispatch: Tensor) -> Tensor:
    """`lab::route`, differentiable.

        lab::route(Tensor tokens, Tensor dispatch) -> Tensor
    """
    return RouteBackward0.apply(tokens, dispatch)
