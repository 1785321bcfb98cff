"""Operators whose arguments belong together: what keeps them so when they are moved; knows no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from gradspec.gradcheck.calls import Finish, Prepare
from gradspec.ir import Op


def _each(place: int, change: Callable[..., torch.Tensor], *flags: int) -> Prepare:
    """Changes one argument, by the values of others where there are any."""

    def prepare(values: list[Any]) -> list[Any]:
        given = [values[f] for f in flags if f < len(values)]
        return [change(v, *given) if i == place else v for i, v in enumerate(values)]

    return prepare


def _symmetric(x: torch.Tensor) -> torch.Tensor:
    return (x + x.mH) / 2


def _triangle(x: torch.Tensor, upper: bool = False) -> torch.Tensor:
    return x.triu() if upper else x.tril()


def _batch_statistics(values: list[Any]) -> list[Any]:
    """With the mean and the inverse deviation of the input, at their places of what batch_norm's gradient takes."""
    x, training = values[1], values[7]
    if not training or values[5] is None:
        return values
    dims = [d for d in range(x.dim()) if d != 1]
    variance, mean = torch.var_mean(x.detach(), dims, correction=0)
    return [*values[:5], mean, (variance + values[8]).rsqrt(), *values[7:]]


def _row_statistics(values: list[Any]) -> list[Any]:
    """The same for layer_norm, over the dimensions that its list of sizes names, which is spread among the values."""
    x = values[1]
    places = [i for i, v in enumerate(values[2:], 2) if isinstance(v, torch.Tensor)][:2]
    dims = list(range(x.dim() - (places[0] - 2), x.dim()))
    variance, mean = torch.var_mean(x.detach(), dims, correction=0, keepdim=True)
    found = dict(zip(places, (mean, (variance + 1e-5).rsqrt()), strict=True))
    return [found.get(i, v) for i, v in enumerate(values)]


def _exponentials(values: list[Any]) -> list[Any]:
    """With what log_sigmoid keeps, which its gradient reads in place of its input."""
    grad, x, _ = values
    return [grad, x, (-x.detach().abs()).exp()]


def _factor(x: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """A triangle with real numbers on its diagonal."""
    rest = x.triu(1) if upper else x.tril(-1)
    return rest + torch.diag_embed(x.diagonal(dim1=-2, dim2=-1).real).to(x.dtype)


# Gradients of these are meant among such arguments alone: differences must not leave them.
_DOMAINS: dict[str, Prepare] = {
    "cholesky": _each(0, _symmetric),
    "linalg_cholesky_ex": _each(0, _symmetric),
    "_linalg_eigh": _each(0, _symmetric),
    "cholesky_solve": _each(1, _triangle, 2),
    "cholesky_inverse": _each(0, _factor, 1),
    "log_sigmoid_backward": _exponentials,
    "_log_softmax_backward_data": lambda values: [values[0], values[1].log_softmax(values[2]), *values[2:]],
    "native_batch_norm_backward": _batch_statistics,
    "batch_norm_backward": _batch_statistics,
    "_ctc_loss": _each(0, lambda x: x.log_softmax(2)),
    "_ctc_loss.Tensor": _each(0, lambda x: x.log_softmax(2)),
    "native_layer_norm_backward": _row_statistics,
}
# Vectors that are determined up to a phase, which the kernel chooses: the size of each of their numbers is determined.
_UP_TO_PHASE = ("_linalg_eigh", "linalg_eig", "_linalg_svd")

# Matrices made of a few numbers are singular: what these give there is what rounding makes of it.
_OF_MATRICES = ("linalg_", "_linalg_", "lu_", "cholesky", "triangular_solve", "ormqr", "geqrf")


def domain_of(op: Op) -> Prepare | None:
    """What brings the arguments of an op into its domain; None where all are in it."""
    return _DOMAINS.get(str(op.name))


def finish_of(op: Op) -> Finish | None:
    """What makes results of the op's results that are determined; None where they are."""
    return (lambda results: [r.abs() for r in results]) if str(op.name) in _UP_TO_PHASE else None


def has_special_points(op: Op) -> bool:
    """Whether the op is defined at tensors of zeros and ones."""
    return not op.name.base.startswith(_OF_MATRICES) and str(op.name) not in _DOMAINS
