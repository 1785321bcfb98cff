"""The prelude's linear algebra: first and second order, against differences and against plain functions of a matrix."""

# Matrices have capital names, as in mathematics.
# ruff: noqa: N803, N806

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from linalg_factorizations import FACTORIZATIONS
from linalg_rules import RULES, Rule, Tensors, call, det_saved
from torch import Tensor, func, linalg

# torch.func compiles decompositions on its first use.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

DTYPES = (torch.float64, torch.complex128)
STEP = 1e-5
ALL = [*RULES, *FACTORIZATIONS]

each_rule = pytest.mark.parametrize("rule", ALL, ids=[r.name for r in ALL])
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["real", "complex"])


def like(x: Tensors) -> Tensors:
    return tuple(torch.randn(t.shape, dtype=t.dtype) for t in x)


def dot(a: Tensors, b: Tensors) -> Tensor:
    """The real inner product."""
    return sum(((s.conj() * t).real.sum() for s, t in zip(a, b, strict=True)), torch.zeros(()))


def difference(f: Callable[..., Tensors], x: Tensors, dx: Tensors) -> Tensors:
    """The derivative of `f` along `dx`, by a difference."""
    there, back = (f(*[t + s * STEP * d for t, d in zip(x, dx, strict=True)]) for s in (1, -1))
    return tuple((a - b) / (2 * STEP) for a, b in zip(there, back, strict=True))


def assert_close(a: Tensors, b: Tensors) -> None:
    for s, t in zip(a, b, strict=True):
        assert s.shape == t.shape
        assert s.dtype == t.dtype
        size = max(1.0, *t.abs().flatten().tolist(), 1.0)
        assert torch.allclose(s, t, rtol=0, atol=1e-6 * size)


def derivatives(rule: Rule, x: Tensors) -> Callable[..., Tensors]:
    """What the helpers make of the inputs, all of it, for fixed tangents and gradients."""
    dx = rule.direction(like(x))
    g = like(rule.forward(*x))

    def both(*x: Tensor) -> Tensors:
        tangents = rule.jvp(x, dx) if rule.jvp is not None else ()
        gradients = rule.direction(rule.backward(g, x)) if rule.backward is not None else ()
        return (*tangents, *gradients)

    return both


@each_rule
@each_dtype
def test_first_order(rule: Rule, dtype: torch.dtype) -> None:
    torch.manual_seed(3)
    x = rule.inputs(dtype)
    dx = rule.direction(like(x))
    expected = difference(rule.forward, x, dx)
    if rule.jvp is not None:
        assert_close(rule.jvp(x, dx), expected)
    if rule.backward is not None:
        g = like(expected)
        assert_close((dot(rule.backward(g, x), dx),), (dot(g, expected),))


@each_rule
@each_dtype
def test_second_order(rule: Rule, dtype: torch.dtype) -> None:
    torch.manual_seed(5)
    x = rule.inputs(dtype)
    both = derivatives(rule, x)
    move = rule.direction(like(x))
    expected = difference(both, x, move)
    assert_close(func.jvp(both, x, move)[1], expected)
    results, pull = func.vjp(both, *x)
    weights = like(results)
    assert_close((dot(pull(weights), move),), (dot(weights, expected),))


@each_dtype
@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_the_third_derivative_of_a_determinant(rank: int, dtype: torch.dtype) -> None:
    # Of a 3 x 3 matrix it is the same at all matrices: the sum over all ways to take each column from another direction.
    torch.manual_seed(7)
    A = torch.randn(3, rank, dtype=dtype) @ torch.randn(rank, 3, dtype=dtype)
    moves = [torch.randn(3, 3, dtype=dtype) for _ in range(3)]
    _, LU, pivots = torch.ops.aten._linalg_det(A)

    def first(A: Tensor) -> Tensor:
        found: Tensor = call("linalg_det_jvp", dA=moves[0], det=linalg.det(A), A=A, LU=LU, pivots=pivots)
        return found

    def second(A: Tensor) -> Tensor:
        return func.jvp(first, (A,), (moves[1],))[1]

    ways = torch.tensor([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    mixed = [torch.stack([moves[w][:, column] for column, w in enumerate(way)], -1) for way in ways.tolist()]
    assert_close((func.jvp(second, (A,), (moves[2],))[1],), (linalg.det(torch.stack(mixed)).sum(),))


@each_dtype
@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_the_tangent_of_a_determinant_from_its_factors(rank: int, dtype: torch.dtype) -> None:
    torch.manual_seed(11)
    for A in (torch.randn(3, rank, dtype=dtype) @ torch.randn(rank, 3, dtype=dtype), torch.ones(2, 2, dtype=dtype)):
        dA = torch.randn(A.shape, dtype=dtype)
        det, LU, pivots = torch.ops.aten._linalg_det(A)
        factors = {"LU": LU, "pivots": pivots, "use_A_T": A.is_contiguous() and not A.is_complex()}
        expected = difference(lambda A: (linalg.det(A),), (A,), (dA,))
        assert_close((call("linalg_det_jvp", dA=dA, det=det, **factors),), expected)
        if rank == 3 and len(A) == 3:
            sign, _ = linalg.slogdet(A)
            expected = difference(lambda A: tuple(linalg.slogdet(A)), (A,), (dA,))
            assert_close(call("slogdet_jvp", dA=dA, sign=sign, **factors), expected)


@each_dtype
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (2, 3, 5)])
def test_all_singular_vectors_stay_orthogonal(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(13)
    A, dA = torch.randn(shape, dtype=dtype), torch.randn(shape, dtype=dtype)
    U, S, Vh = linalg.svd(A)
    dU, dS, dVh = call("linalg_svd_jvp", dA=dA, U=U, S=S, Vh=Vh, full_matrices=True)
    k = S.shape[-1]

    def products(U: Tensor, S: Tensor, Vh: Tensor) -> Tensors:
        return (U.mH @ U, Vh @ Vh.mH, (U[..., :k] * S.unsqueeze(-2)) @ Vh[..., :k, :])

    found = func.jvp(products, (U, S, Vh), (dU, dS, dVh))[1]
    assert_close(found, (torch.zeros_like(found[0]), torch.zeros_like(found[1]), dA))


def some_gradients(dtype: torch.dtype) -> list[tuple[str, dict[str, Tensor], dict[str, object]]]:
    """Helpers with more than one gradient: its name, the gradients, and what else it takes."""
    torch.manual_seed(17)
    A = torch.randn(4, 3, dtype=dtype)
    square = torch.randn(3, 3, dtype=dtype)
    U, S, Vh = linalg.svd(A, full_matrices=False)
    L, V = linalg.eigh(square + square.mH)
    P, lower, upper = linalg.lu(A)
    Q, R = linalg.qr(A)
    sign, size, LU, pivots = torch.ops.aten._linalg_slogdet(square)
    B = torch.randn(4, 2, dtype=dtype)
    X, residuals = linalg.lstsq(A, B, driver="gels")[:2]
    # Gradients that do not depend on the phase of a vector.
    of_U, of_Vh, of_V = U * torch.randn(4, 3), Vh * torch.randn(3, 3), V * torch.randn(3, 3)
    return [
        ("svd_backward", {"gU": of_U, "gS": torch.randn_like(S), "gVh": of_Vh}, {"U": U, "S": S, "Vh": Vh}),
        (
            "linalg_eig_backward",
            {"gL": torch.randn_like(L), "gV": of_V},
            {"L": L, "V": V, "is_hermitian": True, "symeig_eigenvectors": True},
        ),
        (
            "linalg_lu_backward",
            {"L_grad": torch.randn_like(lower), "U_grad": torch.randn_like(upper)},
            {"P": P, "L": lower, "U": upper, "pivot": True},
        ),
        ("lu_unpack_backward", {"L_grad": torch.randn_like(lower), "U_grad": torch.randn_like(upper)}, {"m": 4, "n": 3}),
        ("linalg_qr_backward", {"gQ": torch.randn_like(Q), "gR": torch.randn_like(R)}, {"Q": Q, "R": R, "mode": "reduced"}),
        (
            "slogdet_backward",
            {"grad_sign": torch.randn_like(sign), "grad_logabsdet": torch.randn_like(size)},
            {"A": square, "signdet": sign, "LU": LU, "pivots": pivots},
        ),
        (
            "linalg_lstsq_backward",
            {"gX": torch.randn_like(X), "gL": torch.randn_like(residuals)},
            {"A": A, "B": B, "X": X, "grad_input_mask": [True, True]},
        ),
    ]


@each_dtype
def test_undefined_gradients_count_as_zeros(dtype: torch.dtype) -> None:
    for name, gradients, saved in some_gradients(dtype):
        whole = call(name, **gradients, **saved)
        parts = [call(name, **{k: g if k == one else None for k, g in gradients.items()}, **saved) for one in gradients]
        none = call(name, **dict.fromkeys(gradients), **saved)
        assert none in (None, (None, None)), name
        for i in range(2 if isinstance(whole, tuple) else 1):
            total = [p[i] if isinstance(p, tuple) else p for p in parts]
            expected = whole[i] if isinstance(whole, tuple) else whole
            assert_close((torch.stack([t for t in total if t is not None]).sum(0),), (expected,))


def test_what_is_not_determined_is_refused() -> None:
    torch.manual_seed(19)
    A = torch.randn(3, 3, dtype=torch.complex128)
    L, V = linalg.eig(A)
    U, S, Vh = linalg.svd(A)
    g = torch.randn(3, 3, dtype=torch.complex128)
    eig = {"L": L, "V": V, "is_hermitian": False, "symeig_eigenvectors": True}
    with pytest.raises(RuntimeError, match="phase"):
        call("linalg_eig_backward", gL=None, gV=g, **eig)
    with pytest.raises(RuntimeError, match="phase"):
        call("svd_backward", gU=g, gS=None, gVh=None, U=U, S=S, Vh=Vh)
    for mode in ("complete", "r"):
        Q, R = linalg.qr(torch.randn(4, 3), mode)
        with pytest.raises(NotImplementedError, match="linalg_qr"):
            call("linalg_qr_backward", gQ=None, gR=R, Q=Q, R=R, mode=mode)
        with pytest.raises(NotImplementedError, match="linalg_qr"):
            call("linalg_qr_jvp", dA=torch.randn(4, 3), Q=Q, R=R, mode=mode)


@each_dtype
def test_a_determinant_that_is_nearly_constant(dtype: torch.dtype) -> None:
    # Far below full rank all derivatives of low order are 0, beside matrices of which they are not.
    torch.manual_seed(23)
    n = 60
    full = linalg.qr(torch.randn(n, n, dtype=dtype))[0]
    A = torch.stack([torch.zeros_like(full), full[:, :20] @ full[:, :20].mH, full[:, 1:] @ full[:, 1:].mH, full])
    saved = det_saved(A)
    found = call("linalg_det_backward", grad=torch.ones(4, dtype=dtype), **saved)
    one = torch.outer(full[:, 0], full[:, 0].conj())
    assert_close((found,), (torch.stack([0 * full, 0 * full, one, saved["det"][3].conj() * full]),))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_determinants_of_nothing(shape: tuple[int, ...]) -> None:
    A = torch.randn(shape)
    det, LU, pivots = torch.ops.aten._linalg_det(A)
    assert call("linalg_det_backward", grad=det, det=det, A=A, LU=LU, pivots=pivots).shape == A.shape
    assert call("linalg_det_jvp", dA=A, det=det, LU=LU, pivots=pivots, use_A_T=True).shape == det.shape
    assert call("linalg_det_jvp", dA=A, det=det, A=A, LU=LU, pivots=pivots).shape == det.shape
