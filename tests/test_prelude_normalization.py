"""The prelude's functions of normalization layers, in every order, against layers that are written out step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
import torch
from prelude_python import prelude_python
from torch import Tensor
from torch.func import jvp, vjp

# torch.func scripts some of its own rules when it is first used, which torch itself deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

Function: TypeAlias = Callable[..., Any]

EPS = 1e-3


@pytest.fixture
def prelude() -> dict[str, Any]:
    return prelude_python("normalization")


def some(*sizes: int) -> Tensor:
    return torch.randn(sizes, dtype=torch.float64)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(7)


def normalize(x: Tensor, over: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """x without its mean and by its deviation, the mean, and what the deviation divides by."""
    mean = x.mean(over, keepdim=True)
    rstd = ((x - mean).square().mean(over, keepdim=True) + EPS).rsqrt()
    return (x - mean) * rstd, mean, rstd


def tangent_of(layer: Function, tangents: tuple[Tensor, ...]) -> Function:
    return lambda *primals: jvp(layer, primals, tangents)[1]


def gradient_of(layer: Function) -> Function:
    """The gradients of a layer with three inputs and one output, for an incoming gradient."""
    return lambda grad, *primals: vjp(layer, *primals)[1](grad)


def assert_same_derivatives(ours: Function, reference: Function, *at: Tensor) -> None:
    """Two functions are the same: their values, tangents, tangents of tangents, and gradients."""
    first, second = tuple(map(torch.randn_like, at)), tuple(map(torch.randn_like, at))
    torch.testing.assert_close(ours(*at), reference(*at))
    slopes = tangent_of(ours, first), tangent_of(reference, first)
    torch.testing.assert_close(slopes[0](*at), slopes[1](*at))
    torch.testing.assert_close(tangent_of(slopes[0], second)(*at), tangent_of(slopes[1], second)(*at))
    value, pull = vjp(ours, *at)
    weights = torch.utils._pytree.tree_map(torch.randn_like, value)
    torch.testing.assert_close(pull(weights), vjp(reference, *at)[1](weights))


# --------------------------------------------------------------------------------------------------------------- layer norm

SHAPE, NORMALIZED = (3, 2, 4), (2, 4)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return normalize(x, (1, 2))[0] * weight + bias


def layer_norm_inputs() -> tuple[Tensor, Tensor, Tensor]:
    return some(*SHAPE), some(*NORMALIZED), some(*NORMALIZED)


def test_tangents_of_a_layer_norm(prelude: dict[str, Any]) -> None:
    """The mean and the deviation that the layer saved have no tangent, and still move with x."""
    primals, tangents = layer_norm_inputs(), layer_norm_inputs()
    _, mean, rstd = torch.native_layer_norm(primals[0], NORMALIZED, *primals[1:], EPS)

    def ours(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        pairs = (x, tangents[0], weight, tangents[1], bias, tangents[2])
        return prelude["_layer_norm_jvp"](*pairs, mean, rstd, NORMALIZED)

    assert_same_derivatives(ours, tangent_of(layer_norm, tangents), *primals)


def test_gradients_of_a_layer_norms_gradients(prelude: dict[str, Any]) -> None:
    x, weight, bias = layer_norm_inputs()
    given = layer_norm_inputs()
    _, mean, rstd = torch.native_layer_norm(x, NORMALIZED, weight, bias, EPS)

    def ours(grad: Tensor, x: Tensor, weight: Tensor) -> Any:
        return prelude["_layer_norm_double_backward"](x, weight, *given, grad, mean, rstd, NORMALIZED, [True] * 3)

    def reference(grad: Tensor, x: Tensor, weight: Tensor) -> Any:
        of_grad, of_x, of_weight, _ = vjp(gradient_of(layer_norm), grad, x, weight, bias)[1](given)
        return of_x, of_weight, of_grad

    assert_same_derivatives(ours, reference, some(*SHAPE), x, weight)


# --------------------------------------------------------------------------------------------------------------- batch norm


class BatchNorm:
    """A batch norm of (N, 3, L), by the moments of the batch or by running ones."""

    def __init__(self, training: bool) -> None:
        self.training = training
        self.running = (some(3), some(3).square() + 0.5)

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        mean, variance = (m.view(1, 3, 1) for m in self.running)
        xhat = normalize(x, (0, 2))[0] if self.training else (x - mean) * (variance + EPS).rsqrt()
        return xhat * weight.view(1, 3, 1) + bias.view(1, 3, 1)

    def saved(self, x: Tensor) -> tuple[Tensor, Tensor]:
        running = [m.clone() for m in self.running]
        _, mean, rstd = torch.native_batch_norm(x, None, None, *running, self.training, 0.1, EPS)
        return mean, rstd


def batch_norm_inputs() -> tuple[Tensor, Tensor, Tensor]:
    return some(4, 3, 2), some(3), some(3)


@pytest.mark.parametrize("training", [True, False])
def test_tangents_of_a_batch_norm(prelude: dict[str, Any], training: bool) -> None:
    layer, primals, tangents = BatchNorm(training), batch_norm_inputs(), batch_norm_inputs()
    saved = layer.saved(primals[0])

    def ours(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        pairs = (x, tangents[0], weight, tangents[1], bias, tangents[2])
        return prelude["_batch_norm_jvp"](*pairs, *layer.running, *saved, training, EPS)

    assert_same_derivatives(ours, tangent_of(layer, tangents), *primals)


@pytest.mark.parametrize("training", [True, False])
def test_gradients_of_a_batch_norms_gradients(prelude: dict[str, Any], training: bool) -> None:
    layer, (x, weight, bias), given = BatchNorm(training), batch_norm_inputs(), batch_norm_inputs()
    saved = layer.saved(x)

    def ours(grad: Tensor, x: Tensor, weight: Tensor) -> Any:
        helper = prelude["_batchnorm_double_backward"]
        return helper(x, weight, *given, grad, *layer.running, training, EPS, *saved, [True] * 3)

    def reference(grad: Tensor, x: Tensor, weight: Tensor) -> Any:
        of_grad, of_x, of_weight, _ = vjp(gradient_of(layer), grad, x, weight, bias)[1](given)
        return of_x, of_weight, of_grad

    assert_same_derivatives(ours, reference, some(4, 3, 2), x, weight)


# --------------------------------------------------------------------------------------------------------------- group norm

SIZES = {"N": 2, "C": 6, "HxW": 4, "group": 3}


def group_norm(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    xhat, mean, rstd = normalize(x.reshape(2, 3, 8), (2,))
    return xhat.reshape(x.shape) * weight.view(1, 6, 1) + bias.view(1, 6, 1), mean.squeeze(2), rstd.squeeze(2)


def group_norm_inputs() -> tuple[Tensor, Tensor, Tensor]:
    return some(2, 6, 4), some(6), some(6)


def test_tangents_of_a_group_norm(prelude: dict[str, Any]) -> None:
    """The mean and the deviation are outputs here: they have tangents of their own."""
    primals, tangents = group_norm_inputs(), group_norm_inputs()

    def ours(x: Tensor, weight: Tensor, bias: Tensor) -> Any:
        _, mean, rstd = group_norm(x, weight, bias)
        pairs = (x, tangents[0], weight, tangents[1], bias, tangents[2])
        return (
            prelude["_group_norm_jvp"](*pairs, mean, rstd, 3),
            prelude["_group_norm_mean_jvp"](tangents[0], mean, 3),
            prelude["_group_norm_invstd_jvp"](x, tangents[0], mean, rstd, 3),
        )

    assert_same_derivatives(ours, tangent_of(group_norm, tangents), *primals)


@pytest.mark.parametrize("defined", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)], ids=str)
def test_gradients_of_a_group_norm(prelude: dict[str, Any], defined: tuple[int, ...]) -> None:
    """Any of the three incoming gradients may be missing."""
    primals, given = group_norm_inputs(), (some(2, 6, 4), some(2, 3), some(2, 3))

    def ours(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        _, mean, rstd = group_norm(x, weight, bias)
        grads = [g if i in defined else None for i, g in enumerate(given)]
        helper = prelude["_infinitely_differentiable_native_group_norm_backward"]
        found = helper(*grads, x, mean, rstd, weight, *SIZES.values(), EPS, [True] * 3)
        assert [f is not None for f in found] == [True, 0 in defined, 0 in defined]
        return torch.cat([f.flatten() for f in found if f is not None])

    def reference(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        grads = tuple(g if i in defined else torch.zeros_like(g) for i, g in enumerate(given))
        found = vjp(group_norm, x, weight, bias)[1](grads)
        return torch.cat([f.flatten() for f in (found if 0 in defined else found[:1])])

    assert_same_derivatives(ours, reference, *primals)


# ----------------------------------------------------------------------------------------------------------------- RMS norm


def rms_norm(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    rstd = (x.square().mean((1, 2), keepdim=True) + EPS).rsqrt()
    return x * rstd * weight, rstd


def test_tangents_of_an_rms_norm(prelude: dict[str, Any]) -> None:
    primals, tangents = layer_norm_inputs()[:2], layer_norm_inputs()[:2]

    def ours(x: Tensor, weight: Tensor) -> Any:
        _, rstd = rms_norm(x, weight)
        result = prelude["_rms_norm_jvp"](x, tangents[0], weight, tangents[1], rstd, NORMALIZED)
        return result, prelude["_rms_norm_rstd_jvp"](x, tangents[0], rstd, NORMALIZED)

    assert_same_derivatives(ours, tangent_of(rms_norm, tangents), *primals)


@pytest.mark.parametrize("defined", [(0,), (1,), (0, 1)], ids=str)
def test_gradients_of_an_rms_norm(prelude: dict[str, Any], defined: tuple[int, ...]) -> None:
    primals, given = layer_norm_inputs()[:2], (some(*SHAPE), some(3, 1, 1))

    def ours(x: Tensor, weight: Tensor) -> Tensor:
        grads = [g if i in defined else None for i, g in enumerate(given)]
        helper = prelude["_infinitely_differentiable_native_rms_norm_backward"]
        found = helper(*grads, x, NORMALIZED, rms_norm(x, weight)[1], weight, [True] * 2)
        assert [f is not None for f in found] == [True, 0 in defined]
        return torch.cat([f.flatten() for f in found if f is not None])

    def reference(x: Tensor, weight: Tensor) -> Tensor:
        grads = tuple(g if i in defined else torch.zeros_like(g) for i, g in enumerate(given))
        found = vjp(rms_norm, x, weight)[1](grads)
        return torch.cat([f.flatten() for f in (found if 0 in defined else found[:1])])

    assert_same_derivatives(ours, reference, *primals)
