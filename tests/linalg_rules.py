"""What the prelude's linear algebra must be the derivative of: functions, and how a node calls the helpers for them."""

# Matrices have capital names, as in mathematics.
# ruff: noqa: N803, N806

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from attrs import frozen
from torch import Tensor, linalg

from gradspec.load import find_torch
from gradspec.pipeline import compile_files
from gradspec_python import BACKEND
from gradspec_python.emit import PythonOptions

PRELUDE = Path(__file__).resolve().parents[1] / "specs" / "prelude"
FILES = ("linalg", "determinant", "decompositions", "spectral_decompositions", "reflectors")

Tensors = tuple[Tensor, ...]
Inputs = Callable[[torch.dtype], Tensors]


@cache
def emitted() -> dict[str, list[tuple[tuple[str, ...], Callable[..., Any]]]]:
    """The emitted functions by name: of each overload the parameters, and the function."""
    program = compile_files([PRELUDE / f"{name}.grad" for name in FILES], find_torch(None).native_functions).program
    found: dict[str, list[tuple[tuple[str, ...], Callable[..., Any]]]] = {}
    for path, text in BACKEND.emit(program, PythonOptions()).items():
        module = types.ModuleType(path)
        exec(compile(text, path, "exec"), module.__dict__)
        for name, value in vars(module).items():
            if isinstance(value, types.FunctionType):
                parameters = value.__code__.co_varnames[: value.__code__.co_argcount]
                found.setdefault(name.removeprefix("_").partition("__")[0], []).append((parameters, value))
    return found


def call(name: str, **arguments: Any) -> Any:
    """A helper's result; of its overloads the one with these parameters is called."""
    function = next(f for parameters, f in emitted()[name] if set(parameters) == set(arguments))
    return function(**arguments)


@frozen(eq=False)
class Rule:
    """A function, and its derivatives by helpers, where `inputs` are.

    `direction` makes of any tensors like the inputs, or like the results, a direction in which the function is defined, or goes.
    """

    name: str
    forward: Callable[..., Tensors]
    backward: Callable[[Tensors, Tensors], Tensors] | None
    jvp: Callable[[Tensors, Tensors], Tensors] | None
    inputs: Inputs
    direction: Callable[[Tensors], Tensors]


def rule(
    name: str,
    forward: Callable[..., Tensors],
    backward: Callable[..., Tensors] | None,
    jvp: Callable[..., Tensors] | None,
    *inputs: Inputs,
    direction: Callable[[Tensors], Tensors] = lambda moves: moves,
    **options: Any,
) -> list[Rule]:
    """A rule for each maker of inputs; the options go to the function and to its derivatives."""
    shown = " ".join(f"{k}={v}" for k, v in options.items() if not callable(v))
    rules = []
    for number, make in enumerate(inputs):
        back, forth = (None if r is None else partial(r, **options) for r in (backward, jvp))
        title = f"{name} {shown} {number}".replace("  ", " ")
        rules.append(Rule(title, partial(forward, **options), back, forth, make, direction))
    return rules


def rand(*shapes: tuple[int, ...]) -> Inputs:
    """Random tensors."""
    return lambda dtype: tuple(torch.randn(s, dtype=dtype) for s in shapes)


def of_rank(n: int, rank: int) -> Inputs:
    """A square matrix of a rank."""
    return lambda dtype: (torch.randn(n, rank, dtype=dtype) @ torch.randn(rank, n, dtype=dtype),)


def hermitian(A: Tensor) -> Tensor:
    """The Hermitian part."""
    return (A + A.mH) / 2


def positive(dtype: torch.dtype) -> Tensors:
    """Hermitian matrices whose eigenvalues are positive."""
    A = torch.randn(2, 3, 3, dtype=dtype)
    return (A @ A.mH + torch.eye(3),)


def a_factor(upper: bool, *before: tuple[int, ...]) -> Inputs:
    """A Cholesky factor, after random tensors."""
    return lambda dtype: (*rand(*before)(dtype), linalg.cholesky(*positive(dtype), upper=upper))


def last_a_factor(moves: Tensors, upper: bool) -> Tensors:
    """The last of them made what a Cholesky factor may be: a triangle with a real diagonal."""
    *others, last = moves
    part = last.triu(1) if upper else last.tril(-1)
    return (*others, part + torch.diag_embed(last.diagonal(dim1=-2, dim2=-1).real.to(last.dtype)))


RULES: list[Rule] = []

# ------------------------------------------------------------------------------------------------------------ determinants
# A node keeps LU factors, which are no differentiable outputs: here they are constants.


def det_saved(A: Tensor) -> dict[str, Tensor]:
    _, LU, pivots = torch.ops.aten._linalg_det(A.detach())
    return {"det": linalg.det(A), "A": A, "LU": LU, "pivots": pivots}


def slogdet_saved(A: Tensor) -> dict[str, Tensor]:
    _, _, LU, pivots = torch.ops.aten._linalg_slogdet(A.detach())
    return {"A": A, "signdet": linalg.slogdet(A)[0], "LU": LU, "pivots": pivots}


RULES += rule(
    "det",
    lambda A: (linalg.det(A),),
    lambda g, x: (call("linalg_det_backward", grad=g[0], **det_saved(*x)),),
    lambda x, dx: (call("linalg_det_jvp", dA=dx[0], **det_saved(*x)),),
    rand((3, 3)),
    of_rank(3, 2),
    of_rank(4, 2),
    of_rank(4, 1),
    lambda dtype: (torch.zeros(3, 3, dtype=dtype),),
    lambda dtype: (torch.ones(2, 2, dtype=dtype),),
    lambda dtype: (of_rank(3, 2)(dtype)[0] + 1e-9 * torch.randn(3, 3, dtype=dtype),),
    lambda dtype: (torch.stack([*rand((4, 4))(dtype), *of_rank(4, 3)(dtype), *of_rank(4, 1)(dtype)]),),
    lambda dtype: (of_rank(4, 3)(dtype)[0].mT,),
    rand((2, 1, 1)),
)
RULES += rule(
    "slogdet",
    lambda A: tuple(linalg.slogdet(A)),
    lambda g, x: (call("slogdet_backward", grad_sign=g[0], grad_logabsdet=g[1], **slogdet_saved(*x)),),
    lambda x, dx: call("slogdet_jvp", dA=dx[0], sign=linalg.slogdet(x[0])[0], A=x[0]),
    rand((3, 3)),
    rand((2, 3, 3)),
)

# ----------------------------------------------------------------------------------------------------------------- systems


def solve(A: Tensor, B: Tensor, left: bool) -> Tensors:
    return (linalg.solve(A, B, left=left),)


def solve_backward(g: Tensors, x: Tensors, left: bool) -> Any:
    LU, pivots = linalg.lu_factor(x[0].detach())
    saved = {"X": solve(x[0], x[1], left)[0], "A": x[0], "LU": LU, "pivots": pivots}
    return call("linalg_solve_backward", gX=g[0], **saved, left=left, B_requires_grad=True)


def solve_jvp(x: Tensors, dx: Tensors, left: bool) -> Tensors:
    return (call("linalg_solve_jvp", dA=dx[0], dB=dx[1], X=solve(x[0], x[1], left)[0], A=x[0], left=left),)


def solve_jvp_of_factors(x: Tensors, dx: Tensors, left: bool) -> Tensors:
    # Factors that carry their own derivative.
    LU, pivots = linalg.lu_factor(x[0])
    return (call("linalg_solve_jvp", dA=dx[0], dB=dx[1], X=solve(x[0], x[1], left)[0], LU=LU, pivots=pivots, left=left),)


for jvp in (solve_jvp, solve_jvp_of_factors):
    some = rand((3, 3), (3, 2)), rand((2, 3, 3), (2, 3, 2)), rand((3, 3), (3,)), rand((2, 3, 3), (2, 3))
    RULES += rule(jvp.__name__, solve, solve_backward, jvp, *some, left=True)
    RULES += rule(jvp.__name__, solve, solve_backward, jvp, rand((3, 3), (2, 3)), rand((2, 3, 3), (2, 2, 3)), left=False)

for upper, left, unitriangular in itertools.product((True, False), repeat=3):
    RULES += rule(
        "solve_triangular",
        lambda A, B, **how: (linalg.solve_triangular(A, B, **how),),
        lambda g, x, **how: call(
            "linalg_solve_triangular_backward",
            grad=g[0],
            A=x[0],
            X=linalg.solve_triangular(*x, **how),
            output_mask=[True, True],
            **how,
        ),
        lambda x, dx, **how: (
            call(
                "linalg_solve_triangular_forward_AD",
                A_t=dx[0],
                B_t=dx[1],
                A=x[0],
                X=linalg.solve_triangular(*x, **how),
                **how,
            ),
        ),
        rand((3, 3), (3, 3)),
        upper=upper,
        left=left,
        unitriangular=unitriangular,
    )


def old_triangular(b: Tensor, A: Tensor, upper: bool, transpose: bool) -> Tensors:
    part = A.triu() if upper else A.tril()
    return (linalg.solve(part.mT if transpose else part, b), A)


def old_triangular_backward(g: Tensors, x: Tensors, **how: bool) -> Any:
    saved = {"b": x[0], "a": x[1], "x": old_triangular(*x, **how)[0], "unitriangular": False, "output_mask": [True, True]}
    return call("triangular_solve_backward", grad_x=g[0], grad_m=g[1], **saved, **how)


def old_triangular_jvp(x: Tensors, dx: Tensors, **how: bool) -> Tensors:
    saved = {"X": old_triangular(*x, **how)[0], "A": x[1], "unitriangular": False}
    return (call("triangular_solve_jvp", dA=dx[1], dB=dx[0], **saved, **how), dx[1])


for upper, transpose in itertools.product((True, False), repeat=2):
    RULES += rule(
        "triangular_solve",
        old_triangular,
        old_triangular_backward,
        old_triangular_jvp,
        rand((3, 2), (3, 3)),
        upper=upper,
        transpose=transpose,
    )

PIVOTS = torch.tensor([2, 3, 3], dtype=torch.int32)


def lu_solve(LU: Tensor, B: Tensor, **how: bool) -> Tensors:
    return (linalg.lu_solve(LU, PIVOTS, B, **how),)


def lu_solve_backward(g: Tensors, x: Tensors, left: bool, adjoint: bool) -> Tensors:
    saved = {"LU": x[0], "pivots": PIVOTS, "X": lu_solve(*x, left=left, adjoint=adjoint)[0], "left": left, "adjoint": adjoint}
    return (call("linalg_lu_solve_LU", grad=g[0], **saved), lu_solve(x[0], g[0], left=left, adjoint=not adjoint)[0])


def lu_solve_jvp(x: Tensors, dx: Tensors, **how: bool) -> Tensors:
    X = lu_solve(*x, **how)[0]
    return (call("linalg_lu_solve_jvp", X=X, LU=x[0], pivots=PIVOTS, dLU=dx[0], dB=dx[1], **how),)


for left, adjoint in itertools.product((True, False), repeat=2):
    RULES += rule("lu_solve", lu_solve, lu_solve_backward, lu_solve_jvp, rand((3, 3), (3, 3)), left=left, adjoint=adjoint)

# --------------------------------------------------------------------------------------------------------------- inverses


def gram(L: Tensor, upper: bool) -> Tensor:
    return L.mH @ L if upper else L @ L.mH


for upper in (True, False):
    RULES += rule(
        "cholesky_inverse",
        lambda L, upper: (linalg.inv(gram(L, upper)),),
        lambda g, x, upper: (
            call("cholesky_inverse_backward", grad=g[0], L=x[0], upper=upper, inverse=linalg.inv(gram(x[0], upper))),
        ),
        lambda x, dx, upper: (call("cholesky_inverse_jvp", F=x[0], dF=dx[0], X=linalg.inv(gram(x[0], upper)), upper=upper),),
        a_factor(upper),
        direction=partial(last_a_factor, upper=upper),
        upper=upper,
    )
    RULES += rule(
        "cholesky_solve",
        lambda B, L, upper: (linalg.solve(gram(L, upper), B),),
        lambda g, x, upper: call(
            "cholesky_solve_backward",
            grad_x=g[0],
            self=x[0],
            input2=x[1],
            result=linalg.solve(gram(x[1], upper), x[0]),
            upper=upper,
            output_mask=[True, True],
        ),
        lambda x, dx, upper: (
            call("cholesky_solve_jvp", X=linalg.solve(gram(x[1], upper), x[0]), U=x[1], dU=dx[1], dB=dx[0], upper=upper),
        ),
        a_factor(upper, (2, 3, 2)),
        direction=partial(last_a_factor, upper=upper),
        upper=upper,
    )
    RULES += rule(
        "cholesky",
        lambda A, upper: (linalg.cholesky(hermitian(A), upper=upper),),
        lambda g, x, upper: (call("cholesky_backward", grad=g[0], upper=upper, L=linalg.cholesky(hermitian(x[0]), upper=upper)),),
        lambda x, dx, upper: (
            call("cholesky_jvp", input_tangent=dx[0], L=linalg.cholesky(hermitian(x[0]), upper=upper), upper=upper),
        ),
        positive,
        direction=lambda moves: (hermitian(moves[0]),),
        upper=upper,
    )

RULES += rule(
    "pinv",
    lambda A: (linalg.pinv(A),),
    lambda g, x: (call("pinv_backward", grad=g[0], pinvA=linalg.pinv(x[0]), A=x[0]),),
    lambda x, dx: (call("pinv_jvp", A=x[0], pinvA=linalg.pinv(x[0]), dA=dx[0]),),
    rand((4, 3)),
    rand((2, 2, 3)),
)
RULES += rule(
    "matrix_exp",
    lambda A: (linalg.matrix_exp(A),),
    lambda g, x: (call("linalg_matrix_exp_differential", self=x[0], grad=g[0], adjoint=True),),
    lambda x, dx: (call("linalg_matrix_exp_differential", self=x[0], grad=dx[0], adjoint=False),),
    rand((3, 3)),
)
