"""The prelude's functions that no sample of PyTorch reaches: layers, nested tensors, and samplers in third order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from prelude_python import prelude_python
from torch import Tensor

ANY_OF_THREE = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]


def some(*sizes: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(sizes, dtype=dtype).requires_grad_()


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(7)


def present(values: tuple[Tensor, ...], defined: tuple[int, ...]) -> list[Tensor | None]:
    return [v if i in defined else None for i, v in enumerate(values)]


# --------------------------------------------------------------------------------------------------------------------- LSTM


def lstm(
    x: Tensor, w_x: Tensor, w_h: Tensor, b_x: Tensor, b_h: Tensor, h: Tensor, c: Tensor, *, reverse: bool
) -> tuple[Tensor, ...]:
    """A layer of an LSTM, step by step."""
    outputs = []
    for step in x.flip(0) if reverse else x:
        i, f, g, o = (step @ w_x.T + b_x + h @ w_h.T + b_h).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        outputs.append(h)
    return torch.stack(outputs[::-1] if reverse else outputs), h, c


@pytest.mark.parametrize("defined", ANY_OF_THREE, ids=str)
@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_of_an_lstm(reverse: bool, defined: tuple[int, ...]) -> None:
    inputs = some(3, 2, 5), some(16, 5), some(16, 4), some(16), some(16), some(2, 4), some(2, 4)
    outputs = lstm(*inputs, reverse=reverse)
    given = (some(3, 2, 4), some(2, 4), some(2, 4))
    helper = prelude_python("convolution")["_mkldnn_rnn_layer_differentiable_backward"]
    layer: tuple[Any, ...] = (reverse, 2, 4, 1, True, True, False, [], False, torch.empty(0))
    ours = helper(*inputs, *outputs, *present(given, defined), *layer)
    wanted = [o for i, o in enumerate(outputs) if i in defined]
    theirs = torch.autograd.grad(wanted, inputs, [given[i] for i in defined], create_graph=True)
    torch.testing.assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, (*inputs, *given))


def assert_same_gradients(ours: tuple[Tensor, ...], theirs: tuple[Tensor, ...], to: tuple[Tensor, ...]) -> None:
    weights = [torch.randn_like(t) for t in theirs]
    options: Any = {"allow_unused": True, "materialize_grads": True}
    torch.testing.assert_close(
        torch.autograd.grad(ours, to, weights, **options), torch.autograd.grad(theirs, to, weights, **options)
    )


def test_an_lstm_without_any_gradient() -> None:
    inputs = some(1, 2, 5), some(16, 5), some(16, 4), some(16), some(16), some(2, 4), some(2, 4)
    helper = prelude_python("convolution")["_mkldnn_rnn_layer_differentiable_backward"]
    layer: tuple[Any, ...] = (False, 2, 4, 1, True, True, False, [], False, torch.empty(0))
    assert helper(*inputs, *lstm(*inputs, reverse=False), None, None, None, *layer) == (None,) * 7


# ------------------------------------------------------------------------------------------------------------- linear layer


@pytest.mark.parametrize("defined", ANY_OF_THREE, ids=str)
@pytest.mark.parametrize("lead", [(), (4,), (2, 3)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_gradients_of_a_linear_layers_gradients(dtype: torch.dtype, lead: tuple[int, ...], defined: tuple[int, ...]) -> None:
    x, weight, grad = some(*lead, 5, dtype=dtype), some(3, 5, dtype=dtype), some(*lead, 3, dtype=dtype)
    y = torch.nn.functional.linear(x, weight, bias := some(3, dtype=dtype))
    first = torch.autograd.grad(y, (x, weight, bias), grad, create_graph=True)
    given = tuple(torch.randn_like(f) for f in first)
    ours = prelude_python("matmul")["_linear_double_backward"](present(given, defined), x, grad, weight)
    wanted = [f for i, f in enumerate(first) if i in defined]
    theirs = torch.autograd.grad(wanted, (x, grad, weight), [given[i] for i in defined], allow_unused=True)
    assert [o is None for o in ours] == [t is None for t in theirs]
    for mine, its in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, its)


# ----------------------------------------------------------------------------------------------------------- nested tensors


def jagged() -> Tensor:
    parts = [torch.randn(n, 6, dtype=torch.float64) for n in (2, 4, 3)]
    nested: Tensor = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
    return nested


def jagged_with_holes() -> Tensor:
    starts, lengths = torch.tensor([1, 0, 2]), torch.tensor([2, 4, 3])
    narrowed: Tensor = torch.nested.narrow(some(3, 7, 6), 1, starts, lengths, layout=torch.jagged)
    return narrowed


def assert_same_components(ours: Tensor, theirs: Tensor) -> None:
    assert ours.shape == theirs.shape
    for mine, its in zip(ours.unbind(), theirs.unbind(), strict=True):
        torch.testing.assert_close(mine, its)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")
@pytest.mark.parametrize("defined", ANY_OF_THREE, ids=str)
@pytest.mark.parametrize("make", [jagged, jagged_with_holes])
def test_components_of_a_jagged_tensor(make: Callable[[], Tensor], defined: tuple[int, ...]) -> None:
    nested = make()
    parts = nested.unbind()
    grads = present(tuple(map(torch.randn_like, parts)), defined)
    ours = prelude_python("nested")["_unbind_backward_nested_jagged"](grads, nested, 0)
    assert_same_components(ours, parts[0].grad_fn(*grads))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")
@pytest.mark.parametrize("dim", [0, 2, -1])
@pytest.mark.parametrize("defined", ANY_OF_THREE, ids=str)
def test_chunks_of_a_jagged_tensor(defined: tuple[int, ...], dim: int) -> None:
    nested = jagged()
    parts = nested.chunk(3, dim)
    grads = present(tuple(map(torch.randn_like, parts)), defined)
    ours = prelude_python("nested")["_chunk_backward_nested"](grads, nested, 3, dim)
    assert_same_components(ours, parts[0].grad_fn(*grads))


# ----------------------------------------------------------------------------------------------------------------- samplers


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize(("axes", "mode"), [(2, 0), (2, 2), (3, 0)])
def test_samplers_in_third_order(axes: int, mode: int, padding: int, align_corners: bool) -> None:
    """The gradients of a sampler's gradients have gradients themselves; some points are outside of the image."""
    image, grid = some(1, 2, *(4, 3, 3)[:axes]), some(1, *(2, 3, 1)[:axes], axes)
    output, gradients = some(1, 2, *(2, 3, 1)[:axes]), (torch.randn_like(image), torch.randn_like(grid))
    helper = prelude_python("sampling")[f"_grid_sampler_{axes}d_double_backward"]

    def double_backward(*at: Tensor) -> Any:
        return helper(*at, mode, padding, align_corners, [True] * 3)

    assert torch.autograd.gradcheck(double_backward, (*[g.requires_grad_() for g in gradients], output, image, grid))
