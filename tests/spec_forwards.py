"""What the ops of our specs compute, in Python, and arguments to try them with; knows nothing of derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from attrs import frozen
from torch import Tensor


@frozen
class Forward:
    """`function` computes the op; `samples` makes arguments for a floating-point or complex type, each a whole call."""

    function: Callable[..., Any]
    samples: Callable[[torch.dtype], Sequence[tuple[Any, ...]]]
    dtypes: tuple[torch.dtype, ...] = (torch.float64, torch.complex128)


REAL = (torch.float64,)
COMPLEX = (torch.complex128,)


def values(dtype: torch.dtype, *shape: int) -> Tensor:
    """Random values, the same for each call of a process with the same seed."""
    return torch.randn(shape, dtype=dtype)


def positive(*shape: int) -> Tensor:
    """Random values between 0.5 and 2."""
    return torch.rand(shape, dtype=torch.float64) * 1.5 + 0.5


def mask(*shape: int) -> Tensor:
    """A random mask."""
    return torch.rand(shape) > 0.5


def _one(*shape: int) -> Callable[[torch.dtype], list[tuple[Any, ...]]]:
    return lambda dtype: [(values(dtype, *shape),)]


def _two(*shape: int) -> Callable[[torch.dtype], list[tuple[Any, ...]]]:
    return lambda dtype: [(values(dtype, *shape), values(dtype, *shape))]


def _reduced(reduced: str | int, error: Tensor) -> Tensor:
    return error.mean() if reduced in ("mean", 1) else error.sum()


def _signed_by_masks(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return torch.where(a ^ b, x, -x) * (a | b)


def _sorted_out(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    found = x.topk(k, dim=-1)
    return found.values, found.indices


def _divide(a: Tensor, b: Tensor, mode: str | None) -> Tensor:
    return torch.div(a, b, rounding_mode=mode)


def _picked(x: Tensor, indices: list[Tensor | None]) -> Tensor:
    return torch.ops.aten.index(x, indices)


def _rms(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    factor = (x.square().mean(-1, True) + eps).rsqrt()
    return x * factor, factor


def _attended(q: Tensor, k: Tensor, v: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    weights = torch.softmax(q.matmul(k.mT) * scale, -1)
    return weights.matmul(v), weights


def _convolved(x: Tensor, taps: Tensor, bias: Tensor | None, padding: list[int]) -> Tensor:
    return torch.conv1d(x, taps, bias, padding=padding)


def _turned(points: Tensor, angle: Tensor) -> Tensor:
    x, y = points.unbind(-1)
    return torch.stack([x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()], -1)


@cache
def _noise() -> Tensor:
    return torch.randn(3, dtype=torch.float64)


FORWARDS: dict[str, Forward] = {
    # pointwise, activations, inplace
    "lab::fused_mul_add": Forward(lambda a, b, c: a * b + c, lambda d: [(values(d, 2, 3), values(d, 3), values(d, 2, 1))]),
    "lab::squared_difference": Forward(lambda x, y: (x - y) ** 2, _two(4)),
    "lab::soft_sign": Forward(lambda x: x / (1 + x.abs()), _one(5), REAL),
    "lab::log_cosh": Forward(lambda x: x.cosh().log(), _one(5)),
    "lab::swish": Forward(lambda x, beta: x * torch.sigmoid(x * beta), lambda d: [(values(d, 5), 0.7)]),
    "lab::squash": Forward(torch.tanh, _one(5)),
    "lab::leaky_": Forward(lambda x, s: torch.where(x > 0, x, x * s), lambda d: [(values(d, 6), 0.1)], REAL),
    "lab::invert_": Forward(lambda x: 1 / x, _one(4)),
    "lab::accumulate_": Forward(lambda x, y, alpha: x + alpha * y, lambda d: [(values(d, 4), values(d, 4), 0.3)]),
    # powers, trigonometry, polynomials
    "lab::power": Forward(lambda x, n: x**n, lambda d: [(values(d, 4), 3), (values(d, 4), 0), (values(d, 4), 1)]),
    "lab::geometric_mean": Forward(lambda a, b: (a * b).sqrt(), lambda d: [(positive(4), positive(4))], REAL),
    "lab::exponential": Forward(lambda base, x: base**x, lambda d: [(2.5, values(d, 4)), (1, values(d, 4))]),
    "lab::sin_cos": Forward(lambda x: (x.sin(), x.cos()), _one(4)),
    "lab::tangent_of_degrees": Forward(lambda x: (x * (torch.pi / 180)).tan(), _one(4), REAL),
    "lab::cubic": Forward(lambda x: 1.5 * x**3 - 16 * x**2 + 1000 * x + 0.5, _one(4)),
    "lab::short_sine": Forward(lambda x: x - x**3 / 6 + x**5 / 120, _one(4)),
    # several outputs, sorting, masks
    "lab::plus_minus": Forward(lambda a, b: (a + b, a - b), _two(4)),
    "lab::relu_with_mask": Forward(lambda x: (x * (x > 0), x > 0), _one(6), REAL),
    "lab::largest": Forward(_sorted_out, lambda d: [(values(d, 2, 5), 2)], REAL),
    "lab::spread": Forward(lambda x, dim: x.amax(dim) - x.amin(dim), lambda d: [(values(d, 2, 5), 1)], REAL),
    "lab::product": Forward(lambda a, b: a * b, _two(4)),
    # optional values and arguments, strings
    "lab::weigh": Forward(lambda x, w: x if w is None else x * w, lambda d: [(values(d, 3), values(d, 3)), (values(d, 3), None)]),
    "lab::cap": Forward(
        lambda x, limit: x if limit is None else x.clamp(max=limit), lambda d: [(values(d, 6), 0.2), (values(d, 6), None)], REAL
    ),
    "lab::magnitude_power": Forward(
        lambda x, p: x.abs() ** (1 if p is None else p), lambda d: [(values(d, 4), p) for p in (None, 1, 2, 2.5)], REAL
    ),
    "lab::scale": Forward(lambda x, f: x * (1.0 if f is None else f), lambda d: [(values(d, 3), 0.4), (values(d, 3), None)]),
    "lab::running_sum": Forward(lambda x, axis: x.cumsum(axis or 0), lambda d: [(values(d, 2, 3), 1), (values(d, 2, 3), None)]),
    "lab::head": Forward(lambda x, n: x[:n], lambda d: [(values(d, 4, 2), 3), (values(d, 4, 2), None)]),
    "lab::drop": Forward(
        lambda x, keep, p, training: x * keep / (1 - p) if training is not False else x,
        lambda d: [(values(d, 4), mask(4), 0.5, training) for training in (None, True, False)],
    ),
    "lab::deviation": Forward(
        lambda x, dims: x - x.mean(dims, True), lambda d: [(values(d, 2, 3, 2), dims) for dims in ([0, 2], None)]
    ),
    "lab::reduce_by": Forward(lambda x, m: _reduced(m, x), lambda d: [(values(d, 4), m) for m in ("mean", "sum")]),
    "lab::divide": Forward(
        _divide,
        lambda d: [(values(d, 4), positive(4), mode) for mode in ((None, "floor") if d.is_floating_point else (None,))],
    ),
    # lists, foreach
    "lab::mean_of": Forward(lambda xs: sum(xs) / len(xs), lambda d: [([values(d, 3) for _ in range(3)],)]),
    "lab::pick": Forward(
        _picked, lambda d: [(values(d, 3, 4), [torch.tensor([0, 2, 2])]), (values(d, 3, 4), [None, torch.tensor([1, 1])])]
    ),
    "lab::_foreach_axpy": Forward(
        lambda x, y, alpha: [a + alpha * b for a, b in zip(x, y, strict=True)],
        lambda d: [([values(d, 2), values(d, 3)], [values(d, 2), values(d, 3)], 0.3)],
    ),
    "lab::_foreach_scale.ScalarList": Forward(
        lambda x, f: [a * b for a, b in zip(x, f, strict=True)],
        lambda d: [([values(d, 2), values(d, 3)], [0.5, 2.0 if d.is_floating_point else 2j])],
    ),
    "lab::_foreach_grow": Forward(lambda x: [a.exp() for a in x], lambda d: [([values(d, 2), values(d, 3)],)]),
    # functions
    "lab::direction": Forward(
        lambda x, dim: (x / x.norm(dim=dim, keepdim=True), x.norm(dim=dim, keepdim=True)), lambda d: [(values(d, 2, 3), 1)], REAL
    ),
    "lab::copies": Forward(lambda x, times: [x * 1 for _ in range(times)], lambda d: [(values(d, 3), 2)]),
    "lab::share_out": Forward(
        lambda xs, ws: sum(x * w for x, w in zip(xs, ws, strict=True)) / sum(ws),
        lambda d: [([values(d, 3), values(d, 3)], [0.5, 1.5])],
    ),
    "lab::scaled_product": Forward(lambda a, b, scale: a * b * scale, lambda d: [(values(d, 3), values(d, 3), 0.3)]),
    # forwards
    "lab::sharpen": Forward(lambda x, beta: x * torch.sigmoid(x * beta), lambda d: [(values(d, 5), 0.7)]),
    "lab::product_and_larger": Forward(lambda a, b: (a * b, torch.maximum(a, b)), _two(4), REAL),
    # reductions, sizes, types and layouts
    "lab::energy": Forward(lambda x: (x.abs() ** 2).sum(), _one(5)),
    "lab::mean_along": Forward(lambda x, dim: x.mean(dim, True), lambda d: [(values(d, 2, 3), 1)]),
    "lab::log_total": Forward(lambda x: x.logsumexp(-1), _one(2, 3), REAL),
    "lab::product_of_all": Forward(torch.prod, _one(2, 3)),
    "lab::mean_all": Forward(torch.mean, _one(2, 3)),
    "lab::sum_last": Forward(lambda x: x.sum(-1), _one(2, 3)),
    "lab::packed": Forward(lambda x: x.contiguous(), lambda d: [(values(d, 3, 2).t(),)]),
    "lab::per_column": Forward(lambda x: x / x.shape[-1], _one(2, 3)),
    "lab::spread_like": Forward(lambda x, y: x.expand_as(y), lambda d: [(values(d, 3, 1), values(d, 3, 4))]),
    "lab::cast_to": Forward(lambda x, t: x.to(t), lambda d: [(values(torch.float32, 3), torch.float64)], REAL),
    "lab::square_in": Forward(
        lambda x, wide: x.to(wide) * x.to(wide), lambda d: [(values(torch.float32, 3), torch.float64)], REAL
    ),
    "lab::settled": Forward(lambda x: x.resolve_conj(), lambda d: [(values(d, 3).conj(),), (values(d, 3),)]),
    # shifts, views, bits, comparisons
    "lab::rotate": Forward(torch.roll, lambda d: [(values(d, 3, 4), [1, -2], [0, 1])]),
    "lab::difference": Forward(torch.diff, _one(5)),
    "lab::row": Forward(lambda x, i: x[i] * 1, lambda d: [(values(d, 3, 4), 2)]),
    "lab::adjoint": Forward(lambda x: x.mH.clone(), _one(2, 3)),
    "lab::keep_either": Forward(lambda x, a, b: x * (a | b), lambda d: [(values(d, 8), mask(8), mask(8))]),
    "lab::keep_one": Forward(_signed_by_masks, lambda d: [(values(d, 8), mask(8), mask(8))]),
    "lab::gain": Forward(
        lambda x, level: x * 2**level / (2 if level % 2 else 1), lambda d: [(values(d, 3), level) for level in (0, 1, 2, 3)]
    ),
    "lab::clip": Forward(lambda x, low, high: x.clamp(low, high), lambda d: [(values(d, 6), -0.5, 0.4)], REAL),
    "lab::soft_clip": Forward(
        lambda x, low, high: torch.where(
            x <= low, low / 2 + low.detach() / 2, torch.where(x >= high, high / 2 + high.detach() / 2, x)
        ),
        lambda d: [(values(d, 9), values(d, 9) - 1, values(d, 9) + 1)],
        REAL,
    ),
    "lab::signed": Forward(lambda x, n: x if n > 0 else -x, lambda d: [(values(d, 3), 2), (values(d, 3), -2)]),
    # templates, values from types, dispatch
    "lab::turned_sum": Forward(lambda x, y: x.flip(-2, -1) + y.flip(-2, -1), _two(2, 3)),
    "lab::reorder": Forward(
        lambda x, order: x.permute(order).clone(), lambda d: [(values(d, 2, 3, 4), order) for order in ([2, 0, 1], [0, 2, 1])]
    ),
    "lab::sum_all": Forward(torch.sum, _one(2, 3)),
    "lab::mean_pair": Forward(lambda a, b: (a + b) / 2, _two(3)),
    "lab::times_peak": Forward(lambda x: x * x.max(), _one(5), REAL),
    "lab::lookup": Forward(lambda t, rows: t[rows], lambda d: [(values(d, 4, 2), torch.tensor([1, 1, 3]))]),
    "lab::magnitude": Forward(torch.abs, _one(4)),
    "maps::zoom": Forward(lambda x, f: x * f, lambda d: [(values(d, 3), 0.5 if d.is_floating_point else 0.5 + 1j)]),
    "geo::turn": Forward(_turned, lambda d: [(values(d, 4, 2), values(d))], REAL),
    "lab::zeta": Forward(lambda x, q: torch.special.zeta(x.detach(), q), lambda d: [(positive(3) + 1.5, positive(3))], REAL),
    # losses, matrices
    "lab::pseudo_huber": Forward(
        lambda x, t, delta: delta**2 * ((1 + ((x - t) / delta) ** 2).sqrt() - 1),
        lambda d: [(values(d, 4), values(d, 4), 0.7)],
        REAL,
    ),
    "lab::pinball": Forward(
        lambda x, t, q: torch.where(x > t, (1 - q) * (x - t), q * (t - x)), lambda d: [(values(d, 6), values(d, 6), 0.2)], REAL
    ),
    "lab::logistic": Forward(
        lambda x, t: (1 + (-t * x).exp()).log(), lambda d: [(values(d, 4), torch.tensor([1.0, -1.0, 1.0, -1.0]))], REAL
    ),
    "lab::squared_error": Forward(
        lambda x, t, r: _reduced(r, (x - t) ** 2), lambda d: [(values(d, 4), values(d, 4), r) for r in (1, 2)], REAL
    ),
    "lab::product_of_matrices": Forward(torch.matmul, lambda d: [(values(d, 2, 3), values(d, 3, 4))]),
    "lab::bilinear_form": Forward(lambda x, m, y: x.dot(m.mv(y)), lambda d: [(values(d, 3), values(d, 3, 4), values(d, 4))]),
    "lab::add_product": Forward(
        lambda c, a, b, beta, alpha: beta * c + alpha * (a @ b),
        lambda d: [(values(d, 2, 4), values(d, 2, 3), values(d, 3, 4), 0.5, 2.0 if d.is_floating_point else 2 + 1j)],
    ),
    "lab::route": Forward(lambda t, w: w.mT @ t, lambda d: [(values(d, 4, 3), values(d, 4, 2))]),
    "lab::inverse": Forward(torch.linalg.inv, lambda d: [(values(d, 3, 3) + 3 * torch.eye(3),)]),
    "lab::log_determinant": Forward(lambda x: torch.linalg.det(x).log(), lambda d: [(values(d, 3, 3) / 4 + 3 * torch.eye(3),)]),
    "lab::trace_of_square": Forward(lambda x: (x @ x).trace(), _one(3, 3)),
    "lab::strictly_upper": Forward(lambda x: x.triu(1), _one(3, 3)),
    # complex numbers, Fourier
    "lab::modulus": Forward(torch.abs, _one(4)),
    "lab::squared_modulus": Forward(lambda x: x.abs() ** 2, _one(4)),
    "lab::compose": Forward(torch.complex, _two(4), REAL),
    "lab::mirrored": Forward(lambda x: x.conj().clone(), _one(4)),
    "lab::unitary_dft": Forward(
        lambda x, dim: torch.fft.fft(x, dim=dim, norm="ortho"), lambda d: [(values(d, 2, 5), 0)], COMPLEX
    ),
    "lab::power_spectrum": Forward(lambda x: torch.fft.fft(x, norm="ortho").abs() ** 2, _one(5), COMPLEX),
    # normalization, convolution, scans, indexing, interpolation
    "lab::rms_scale": Forward(_rms, lambda d: [(values(d, 2, 5), 1e-3)], REAL),
    "lab::shares": Forward(lambda x: x.softmax(-1), _one(2, 3), REAL),
    "lab::centered": Forward(lambda x: x - x.mean(-1, True), _one(2, 3)),
    "lab::filter": Forward(
        _convolved, lambda d: [(values(d, 2, 3, 6), values(d, 2, 3, 3), bias, [1]) for bias in (values(d, 2), None)], REAL
    ),
    "lab::smooth": Forward(lambda x: (x[..., 1:] + x[..., :-1]) / 2, _one(2, 5)),
    "lab::prefix_sum": Forward(torch.cumsum, lambda d: [(values(d, 2, 3), 1)]),
    "lab::prefix_product": Forward(torch.cumprod, lambda d: [(values(d, 2, 3), 1)]),
    "lab::prefix_log_sum": Forward(torch.logcumsumexp, lambda d: [(values(d, 2, 3), 1)], REAL),
    "lab::read": Forward(torch.gather, lambda d: [(values(d, 2, 3), 1, torch.tensor([[0, 0], [2, 1]]))]),
    "lab::write": Forward(torch.scatter, lambda d: [(values(d, 2, 3), 1, torch.tensor([[0, 1], [2, 1]]), values(d, 2, 2))]),
    "lab::split_off": Forward(lambda x, n: (x[:n] * 1, x.shape[0] - n), lambda d: [(values(d, 5), 3)]),
    "lab::mix": Forward(lambda a, b, w: a + w * (b - a), lambda d: [(values(d, 3), values(d, 3), values(d, 3))]),
    "lab::smooth_step": Forward(
        lambda x: torch.where(x < 0, 0, torch.where(x > 1, 1, 3 * x**2 - 2 * x**3)),
        lambda d: [(torch.tensor([-1.0, 0.2, 0.7, 3.0], dtype=d),)],
        REAL,
    ),
    # attention, random, geometry, comments
    "lab::attend": Forward(_attended, lambda d: [(values(d, 3, 4), values(d, 5, 4), values(d, 5, 2), 0.6)], REAL),
    "lab::jitter": Forward(lambda x, s, g: (x * _noise() * s, _noise() * s), lambda d: [(values(d, 3), 0.5, None)]),
    "lab::draw": Forward(lambda m, s, g: (m + s * _noise(), _noise()), lambda d: [(values(d, 3), values(d, 3), None)]),
    "lab::distances": Forward(
        lambda x, y: (x[:, None] - y).square().sum(-1).sqrt(), lambda d: [(values(d, 3, 2), values(d, 4, 2))], REAL
    ),
    "lab::to_polar": Forward(lambda x, y: (torch.hypot(x, y), torch.atan2(y, x)), _two(4), REAL),
    "lab::half": Forward(lambda x: x * 0.5, _one(3)),
}
