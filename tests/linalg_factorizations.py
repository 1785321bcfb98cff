"""The rules of factorizations, for the tests of the prelude's linear algebra."""

# Matrices have capital names, as in mathematics.
# ruff: noqa: N803, N806

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch
from linalg_rules import Rule, Tensors, call, hermitian, rand, rule
from torch import Tensor, func, linalg

FACTORIZATIONS: list[Rule] = []

# -------------------------------------------------------------------------------------------------------------------- LU


def lu(A: Tensor) -> Tensors:
    return tuple(linalg.lu(A)[1:])


def lu_backward(g: Tensors, x: Tensors) -> Tensors:
    P, L, U = linalg.lu(x[0])
    return (call("linalg_lu_backward", L_grad=g[0], U_grad=g[1], P=P.detach(), L=L, U=U, pivot=True),)


def lu_jvp(x: Tensors, dx: Tensors) -> Any:
    P, L, U = linalg.lu(x[0])
    return call("linalg_lu_jvp", dA=dx[0], P=P.detach(), L=L, U=U, pivot=True)


def lu_factor_backward(g: Tensors, x: Tensors) -> Tensors:
    LU, pivots = linalg.lu_factor(x[0])
    return (call("lu_factor_ex_backward", grad=g[0], LU=LU, pivs=pivots, pivot=True),)


def lu_factor_jvp(x: Tensors, dx: Tensors) -> Tensors:
    LU, pivots = linalg.lu_factor(x[0])
    return (call("lu_factor_ex_jvp", dX=dx[0], LU=LU, pivs=pivots, pivot=True),)


def lu_unpack(LU: Tensor) -> Tensors:
    pivots = torch.ones(*LU.shape[:-2], min(LU.shape[-2:]), dtype=torch.int32)
    return tuple(torch.lu_unpack(LU, pivots, unpack_pivots=False)[1:])


def lu_unpack_backward(g: Tensors, x: Tensors) -> Tensors:
    m, n = x[0].shape[-2:]
    return (call("lu_unpack_backward", L_grad=g[0], U_grad=g[1], m=m, n=n),)


SHAPES = (rand((3, 3)), rand((2, 5, 3)), rand((2, 3, 5)))
FACTORIZATIONS += rule("lu", lu, lu_backward, lu_jvp, *SHAPES)
FACTORIZATIONS += rule("lu_factor", lambda A: (linalg.lu_factor(A)[0],), lu_factor_backward, lu_factor_jvp, *SHAPES)
FACTORIZATIONS += rule("lu_unpack", lu_unpack, lu_unpack_backward, None, *SHAPES)

# -------------------------------------------------------------------------------------------------------------------- QR


def qr(A: Tensor, mode: str) -> Tensors:
    return tuple(linalg.qr(A, mode))


def qr_backward(g: Tensors, x: Tensors, mode: str) -> Tensors:
    Q, R = qr(x[0], mode)
    return (call("linalg_qr_backward", gQ=g[0], gR=g[1], Q=Q, R=R, mode=mode),)


def qr_jvp(x: Tensors, dx: Tensors, mode: str) -> Any:
    Q, R = qr(x[0], mode)
    return call("linalg_qr_jvp", dA=dx[0], Q=Q, R=R, mode=mode)


FACTORIZATIONS += rule("qr", qr, qr_backward, qr_jvp, *SHAPES, mode="reduced")
FACTORIZATIONS += rule("qr", qr, qr_backward, qr_jvp, SHAPES[0], SHAPES[2], mode="complete")

# ------------------------------------------------------------------------------------------------------------- reflectors


def householder_backward(g: Tensors, x: Tensors) -> Any:
    # A helper may not read the result as a constant; ours reads it not at all.
    return call("householder_product_backward", grad=g[0], result=None, input=x[0], tau=x[1], flip_order=False)


def householder_jvp(x: Tensors, dx: Tensors) -> Tensors:
    prod = linalg.householder_product(*x)
    return (call("householder_product_jvp", dV=dx[0], dtau=dx[1], prod=prod.detach(), V=x[0], tau=x[1]),)


def with_a_zero(dtype: torch.dtype) -> Tensors:
    V, tau = rand((4, 4), (3,))(dtype)
    return (V, tau * torch.tensor([1.0, 0.0, 1.0]))


def ormqr(A: Tensor, tau: Tensor, C: Tensor, left: bool, transpose: bool) -> Tensors:
    return (torch.ormqr(A, tau, C, left, transpose),)


def ormqr_backward(g: Tensors, x: Tensors, left: bool, transpose: bool) -> Any:
    saved = {"result": None, "self": x[0], "tau": x[1], "other": x[2]}
    return call("ormqr_backward", grad=g[0], **saved, left=left, transpose=transpose, grad_output_mask=[True] * 3)


MANY = (rand((5, 3), (3,)), rand((2, 4, 4), (2, 2)), with_a_zero)
FACTORIZATIONS += rule(
    "householder_product", lambda V, tau: (linalg.householder_product(V, tau),), householder_backward, householder_jvp, *MANY
)
for left, transpose in itertools.product((True, False), repeat=2):
    inputs = rand((4, 3), (3,), (4, 2) if left else (2, 4))
    FACTORIZATIONS += rule("ormqr", ormqr, ormqr_backward, None, inputs, left=left, transpose=transpose)

# ---------------------------------------------------------------------------------------------------------- least squares


def lstsq(A: Tensor, B: Tensor) -> Tensors:
    return tuple(linalg.lstsq(A, B, driver="gels")[:2])


def lstsq_backward(g: Tensors, x: Tensors) -> Any:
    X = lstsq(*x)[0]
    return call("linalg_lstsq_backward", gX=g[0], gL=g[1], A=x[0], B=x[1], X=X, grad_input_mask=[True, True])


def lstsq_jvp(x: Tensors, dx: Tensors) -> Tensors:
    moving = {"A": x[0], "B": x[1], "dA": dx[0], "dB": dx[1]}
    X, L = lstsq(*x)
    of_solution = call("linalg_lstsq_solution_jvp", **moving)
    return (of_solution, call("linalg_lstsq_residuals_jvp", **moving, X=X, L=L.detach()))


FACTORIZATIONS += rule(
    "lstsq", lstsq, lstsq_backward, lstsq_jvp, rand((5, 3), (5, 2)), rand((2, 5, 3), (2, 5, 1)), rand((2, 5, 3), (2, 5))
)
FACTORIZATIONS += rule("lstsq", lstsq, lstsq_backward, lstsq_jvp, rand((3, 5), (3, 2)), rand((3, 3), (3, 2)))

# ------------------------------------------------------------------------------------------------ eigenvalues and -vectors
# Vectors are given up to a phase: what is looked at does not depend on it.


def spectral(
    name: str,
    decompose: Callable[[Tensor], Tensors],
    read: Callable[..., Tensors],
    back: Callable[..., Any],
    forth: Callable[..., Any],
    *shapes: tuple[int, ...],
    direction: Callable[[Tensors], Tensors] = lambda moves: moves,
) -> list[Rule]:
    """The rules of what is read of a decomposition."""

    def backward(g: Tensors, x: Tensors) -> Tensors:
        parts = decompose(*x)
        gradients = func.vjp(read, *parts)[1](g)
        found: Tensor = back(*gradients, *parts)
        return (found if x[0].is_complex() else found.real,)

    def jvp(x: Tensors, dx: Tensors) -> Tensors:
        parts = decompose(*x)
        tangents: Tensors = func.jvp(read, parts, tuple(forth(*dx, *parts)))[1]
        return tangents

    inputs = [lambda dtype, shape=shape: direction(rand(shape)(dtype)) for shape in shapes]
    return rule(name, lambda A: read(*decompose(A)), backward, jvp, *inputs, direction=direction)


def squares(t: Tensor) -> Tensor:
    return (t * t.conj()).real


FACTORIZATIONS += spectral(
    "eigh",
    lambda A: tuple(linalg.eigh(hermitian(A))),
    lambda L, V: (L, squares(V), (V * L.unsqueeze(-2) ** 3) @ V.mH),
    lambda gL, gV, L, V: call("linalg_eig_backward", gL=gL, gV=gV, L=L, V=V, is_hermitian=True, symeig_eigenvectors=True),
    lambda dA, L, V: call("linalg_eig_jvp", dA=dA, L=L, V=V, is_hermitian=True),
    (3, 3),
    (2, 4, 4),
    direction=lambda moves: (hermitian(moves[0]),),
)
FACTORIZATIONS += spectral(
    "eig",
    lambda A: tuple(linalg.eig(A)),
    lambda L, V: (L, squares(V), (V * L.unsqueeze(-2) ** 3) @ linalg.inv(V)),
    lambda gL, gV, L, V: call("linalg_eig_backward", gL=gL, gV=gV, L=L, V=V, is_hermitian=False, symeig_eigenvectors=True),
    lambda dA, L, V: call("linalg_eig_jvp", dA=dA, L=L, V=V, is_hermitian=False),
    (3, 3),
    (2, 3, 3),
)
FACTORIZATIONS += spectral(
    "svd",
    lambda A: tuple(linalg.svd(A, full_matrices=False)),
    lambda U, S, Vh: (squares(U), S, squares(Vh), (U * S.unsqueeze(-2) ** 3) @ Vh),
    lambda gU, gS, gVh, U, S, Vh: call("svd_backward", gU=gU, gS=gS, gVh=gVh, U=U, S=S, Vh=Vh),
    lambda dA, U, S, Vh: call("linalg_svd_jvp", dA=dA, U=U, S=S, Vh=Vh, full_matrices=False),
    (3, 3),
    (2, 4, 3),
    (3, 5),
)
