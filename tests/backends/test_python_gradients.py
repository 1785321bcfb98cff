"""The Python backend: what it makes of PyTorch's own spec has the right gradients and tangents."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from running import run

from gradspec.diagnostics import Diagnostics
from gradspec.load import find_torch, load_source
from gradspec.pipeline import compile_sources
from gradspec_python import BACKEND
from gradspec_python.emit import PythonOptions


@pytest.fixture(scope="module")
def emitted() -> types.ModuleType:
    """PyTorch's own spec as Python."""
    found = find_torch(None)
    sources = [load_source(path, Diagnostics()) for path in (found.derivatives, found.native_functions)]
    assert sources[0] is not None
    (text,) = BACKEND.emit(
        compile_sources([sources[0]], sources[1], helpers="prelude").program, PythonOptions(skip=True)
    ).values()
    return run(text)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    # torch warns of its own use of what it deprecates.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tensor(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=dtype, generator=generator).requires_grad_()


Case = tuple[str, Callable[[Any], Callable[..., Any]], tuple[torch.Tensor, ...]]
COMPLEX = torch.complex128
CASES: list[Case] = [
    ("mul", lambda m: m.mul_Tensor, (tensor(2, 3), tensor(2, 3, seed=1))),
    ("mul complex", lambda m: m.mul_Tensor, (tensor(2, 3, dtype=COMPLEX), tensor(3, dtype=COMPLEX, seed=1))),
    ("mul real by complex", lambda m: m.mul_Tensor, (tensor(2, 3), tensor(2, 3, dtype=COMPLEX, seed=1))),
    ("mul broadcast", lambda m: m.mul_Tensor, (tensor(2, 1), tensor(1, 3, seed=1))),
    ("mul by a number", lambda m: lambda x: m.mul_Tensor(x, 2.5), (tensor(2, 3),)),
    ("div", lambda m: m.div_Tensor, (tensor(3, dtype=COMPLEX), tensor(3, dtype=COMPLEX, seed=1))),
    ("exp", lambda m: m.exp, (tensor(3, dtype=COMPLEX),)),
    ("pow", lambda m: lambda x: m.pow_Tensor_Scalar(x, 3), (tensor(3),)),
    ("addmm", lambda m: lambda a, b, c: m.addmm(a, b, c, alpha=2, beta=0.5), (tensor(3), tensor(2, 4), tensor(4, 3))),
    ("mm", lambda m: m.mm, (tensor(2, 3, dtype=COMPLEX), tensor(3, 2, dtype=COMPLEX, seed=1))),
    ("sum", lambda m: lambda x: m.sum_dim_IntList(x, [1], False), (tensor(2, 3),)),
    ("stack", lambda m: lambda a, b: m.stack([a, b], 1), (tensor(3), tensor(3, seed=1))),
    ("unbind", lambda m: lambda x: tuple(m.unbind_int(x, 0)), (tensor(2, 3),)),
    ("split", lambda m: lambda x: tuple(m.split_with_sizes(x, [1, 2], 1)), (tensor(2, 3),)),
    ("max", lambda m: lambda x: m.max_dim(x, 1)[0], (tensor(2, 3),)),
    ("where", lambda m: lambda a, b: m.where_self(torch.tensor([True, False]), a, b), (tensor(2), tensor(2, seed=1))),
    ("foreach", lambda m: lambda a, b: tuple(m._foreach_mul_List([a, b], [b, a])), (tensor(2), tensor(2, seed=1))),
]  # fmt: skip


@pytest.mark.parametrize(("choose", "inputs"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_gradients_are_right(
    emitted: types.ModuleType, choose: Callable[[Any], Callable[..., Any]], inputs: tuple[torch.Tensor, ...]
) -> None:
    function = choose(emitted)
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


FORWARD = [c for c in CASES if c[0] not in ("stack",)]


@pytest.mark.parametrize(("choose", "inputs"), [c[1:] for c in FORWARD], ids=[c[0] for c in FORWARD])
def test_tangents_are_right(
    emitted: types.ModuleType, choose: Callable[[Any], Callable[..., Any]], inputs: tuple[torch.Tensor, ...]
) -> None:
    assert torch.autograd.gradcheck(choose(emitted), inputs, check_forward_ad=True)


def test_pure_functions_need_no_state(emitted: types.ModuleType) -> None:
    x, y = tensor(3).detach(), tensor(3, seed=1).detach()
    grad = torch.ones(3, dtype=torch.float64)
    both = emitted.mul_Tensor_backward((grad,), (True, True), y, y.dtype, x, x.dtype)
    assert torch.equal(both[0], y)
    assert torch.equal(both[1], x)
    assert emitted.mul_Tensor_backward((grad,), (False, True), y, y.dtype, x, x.dtype)[0] is None
    assert emitted.mul_Tensor_backward((None,), (True, True), y, y.dtype, x, x.dtype) == (None, None)


def test_a_gradient_that_nobody_has_written_is_refused(emitted: types.ModuleType) -> None:
    x, y = tensor(3).detach().abs().requires_grad_(), tensor(3, seed=1).detach().abs()
    with pytest.raises(NotImplementedError, match="igamma"):
        emitted.igamma(x, y).sum().backward()


def test_torch_func(emitted: types.ModuleType) -> None:
    x, y = tensor(4, 3).detach(), tensor(4, 3, seed=1).detach()

    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return emitted.sum_(emitted.exp(emitted.mul_Tensor(a, b)))

    def upstream(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a * b).exp().sum()

    func = torch.func
    assert torch.allclose(func.grad(loss)(x, y), func.grad(upstream)(x, y))
    each = func.vmap(func.grad(loss))(x, y)
    assert torch.allclose(each, func.vmap(func.grad(upstream))(x, y))
    assert torch.allclose(func.jacrev(func.grad(loss))(x, y), func.jacrev(func.grad(upstream))(x, y))
    ours = func.jvp(loss, (x, y), (y, x))[1]
    assert torch.allclose(ours, func.jvp(upstream, (x, y), (y, x))[1])
    assert torch.allclose(func.hessian(loss)(x, y), func.hessian(upstream)(x, y))


def test_torch_compile(emitted: types.ModuleType) -> None:
    x, y = tensor(4, 3), tensor(4, 3, seed=1)

    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return emitted.exp(emitted.mul_Tensor(a, b)).sum()

    compiled = torch.compile(loss, backend="eager")
    ours = torch.autograd.grad(compiled(x, y), (x, y))
    theirs = torch.autograd.grad((x * y).exp().sum(), (x, y))
    assert all(torch.allclose(a, b) for a, b in zip(ours, theirs, strict=True))


def test_several_outputs_and_a_mask(emitted: types.ModuleType) -> None:
    x, w, b = tensor(2, 4), tensor(4, seed=1), tensor(4, seed=2)
    ours = torch.autograd.grad(emitted.native_layer_norm(x, [4], w, b, 1e-5)[0].pow(2).sum(), (x, w, b))
    theirs = torch.autograd.grad(torch.native_layer_norm(x, [4], w, b, 1e-5)[0].pow(2).sum(), (x, w, b))
    assert all(torch.allclose(p, q) for p, q in zip(ours, theirs, strict=True))
    (alone,) = torch.autograd.grad(emitted.native_layer_norm(x, [4], None, None, 1e-5)[0].pow(2).sum(), (x,))
    assert alone.shape == x.shape


def test_in_place(emitted: types.ModuleType) -> None:
    x = tensor(3)
    y = x.clone()
    emitted.fill__Tensor(y, tensor(1, seed=1).sum().detach())
    (grad,) = torch.autograd.grad(y.sum(), x, allow_unused=True)
    assert grad is None or not bool(grad.any())
    z = x * 1
    emitted.squeeze_(z)
    assert torch.autograd.grad((z * z).sum(), x)[0].allclose(2 * x)


LISTS = ["_foreach_div_List", "_foreach_maximum_List", "_foreach_minimum_List"]


@pytest.mark.parametrize("name", LISTS)
def test_tangents_of_lists_have_lengths_of_their_own(emitted: types.ModuleType, name: str) -> None:
    def function(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(getattr(emitted, name)([a, b], [b, a]))

    assert torch.autograd.gradcheck(function, (tensor(2), tensor(2, seed=1)), check_forward_ad=True)


@pytest.mark.parametrize("name", ["add", "mul", "div"])
def test_one_tensor_for_a_list_gets_the_sum_of_gradients(emitted: types.ModuleType, name: str) -> None:
    def function(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(getattr(emitted, f"_foreach_{name}_Tensor")([a, b], c))

    inputs = (tensor(2, 3), tensor(4, seed=1), tensor(seed=2))
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


def test_what_is_masked_out_has_no_gradient_under_forward_mode(emitted: types.ModuleType) -> None:
    def norm(x: torch.Tensor) -> torch.Tensor:
        return emitted.native_layer_norm(x, [4], None, None, 1e-5)[0].pow(2).sum()

    def batch_norm(x: torch.Tensor) -> torch.Tensor:
        return emitted._native_batch_norm_legit_no_stats(x, None, None, True, 0.1, 1e-5)[0].pow(3).sum()

    for function in (norm, batch_norm):
        x, v = tensor(2, 4).detach(), tensor(2, 4, seed=1).detach()
        ours = torch.func.jvp(torch.func.grad(function), (x,), (v,))[1]
        step = 1e-6 * v
        theirs = (torch.func.grad(function)(x + step) - torch.func.grad(function)(x - step)) / 2e-6
        assert torch.allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("name", ["polygamma", "threshold"])
def test_what_is_overwritten_has_gradients_of_gradients_and_tangents(emitted: types.ModuleType, name: str) -> None:
    arguments = {"polygamma": (1,), "threshold": (0.5, 0.25)}[name]

    def function(x: torch.Tensor) -> torch.Tensor:
        return getattr(emitted, f"{name}_")(x * 1, *arguments).pow(2)

    x = tensor(3).detach().abs().add(1).requires_grad_()
    assert torch.autograd.gradcheck(function, (x,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (x,), check_fwd_over_rev=True)

    def slope(f: Callable[[torch.Tensor], torch.Tensor]) -> Any:
        return torch.func.grad(lambda v: f(v).sum())

    (expected,) = torch.autograd.grad(torch.autograd.grad(function(x).sum(), x, create_graph=True)[0].sum(), x)
    assert torch.allclose(slope(slope(function))(x.detach()), expected)


def test_forward_mode_goes_through_tangents(emitted: types.ModuleType) -> None:
    def ours(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return emitted.exp(emitted.mul_Tensor(emitted.mm(x, y), x)).sum()

    def theirs(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x.mm(y) * x).exp().sum()

    def second(f: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda x, y: torch.func.jvp(lambda a, b: torch.func.jvp(f, (a, b), (b, a))[1], (x, y), (y, x))[1]

    x, y = tensor(2, 2).detach() / 2, tensor(2, 2, seed=1).detach() / 2
    assert torch.allclose(second(ours)(x, y), second(theirs)(x, y))
    assert torch.allclose(second(second(ours))(x, y), second(second(theirs))(x, y))
    for outer in (torch.func.jacfwd, torch.func.jacrev):
        for inner in (torch.func.jacfwd, torch.func.jacrev):
            assert torch.allclose(outer(inner(ours))(x, y), outer(inner(theirs))(x, y))
    z = tensor(3).detach().abs() + 1
    twice = torch.func.jvp(lambda v: torch.func.jvp(lambda u: emitted.polygamma_(u * 1, 1), (v,), (v,))[1], (z,), (z,))[1]
    expected = z * torch.polygamma(2, z) + z * z * torch.polygamma(3, z)
    assert torch.allclose(twice, expected)


@pytest.mark.parametrize("name", ["_linalg_eigh", "linalg_eig"])
def test_what_a_loss_may_not_depend_on_is_refused_under_vmap_too(emitted: types.ModuleType, name: str) -> None:
    def vectors(x: torch.Tensor) -> torch.Tensor:
        return getattr(emitted, name)(x + x.mH + (x - x.mH) * 1j)[1]

    x = tensor(4, 3, 3).detach()
    each = torch.func.vmap(torch.func.grad(lambda m: vectors(m).abs().pow(4).sum()))(x)
    alone = torch.stack([torch.func.grad(lambda m: vectors(m).abs().pow(4).sum())(m) for m in x])
    assert torch.allclose(each, alone)
    with pytest.raises(RuntimeError, match="phase"):
        torch.func.vmap(torch.func.grad(lambda m: vectors(m).imag.sum()))(x)
