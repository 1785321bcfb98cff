"""Emitted nodes, compiled and linked into a library, under torch's own autograd engine, eager and compiled."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from compiling import diagnose
from linking import load_nodes

from gradspec_cpp.emit import CppOptions

pytestmark = [
    pytest.mark.slow,
    # Building takes half a minute: one worker does it once.
    pytest.mark.xdist_group("cpp_load"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed"),
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]

SOURCES = Path(__file__).parent / "cpp_load"


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The ops of load.cpp, which record the nodes of nodes.grad."""
    program, _ = diagnose((SOURCES / "nodes.grad").read_text(encoding="utf-8"))
    assert program is not None
    return load_nodes(program, CppOptions(), SOURCES / "load.cpp", tmp_path_factory.mktemp("cpp_load"))


def leaf(*shape: int) -> Any:
    import torch

    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def test_a_node_has_its_name(ops: Any) -> None:
    assert ops.mul(leaf(3), leaf(3)).grad_fn.name() == "MulBackward0"


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        (lambda ops, a, b: ops.mul(a, b), [(3,), (3,)]),
        (lambda ops, a: ops.exp(a), [(3,)]),
        (lambda ops, a: ops.sign(a), [(3,)]),
        (lambda ops, a, b: ops.stack([a, b], 1), [(3,), (3,)]),
        (lambda ops, a, b, c, d: tuple(ops.foreach_mul([a, b], [c, d])), [(2,), (3,), (2,), (3,)]),
        (lambda ops, a, b: tuple(ops.foreach_scale([a, b], [2.0, -0.5])), [(2,), (3,)]),
        (lambda ops, a: ops.gelu(a, "tanh"), [(4,)]),
        (lambda ops, a: ops.gelu(a, "none"), [(4,)]),
        (lambda ops, a: ops.div(a, __import__("torch").full((4,), 9.0), None), [(4,)]),
        (lambda ops, a, b: ops.prelu(a, b), [(2, 3), (2, 3)]),
        (lambda ops, a: ops.index(a, __import__("torch").tensor([0, 2, 0])), [(3, 2)]),
    ],
    ids=["mul", "exp", "sign", "stack", "foreach_mul", "foreach_scale", "gelu_tanh", "gelu", "div", "prelu", "index"],
)
def test_gradients_are_right(ops: Any, call: Callable[..., Any], shapes: list[tuple[int, ...]]) -> None:
    from torch.autograd import gradcheck

    inputs = [leaf(*shape) for shape in shapes]
    # Formulas of lists get undefined gradients as they are; nothing here guards them.
    assert gradcheck(lambda *args: call(ops, *args), inputs, check_undefined_grad=False)


def test_gradients_of_gradients(ops: Any) -> None:
    from torch.autograd import gradgradcheck

    # The output that the node keeps is given back with its history.
    assert gradgradcheck(ops.exp, [leaf(3)], check_undefined_grad=False)


def test_only_what_is_asked_for(ops: Any) -> None:
    import torch

    a, b = leaf(3), leaf(3).detach()
    gradients = ops.mul(a, b).grad_fn(torch.ones(3, dtype=torch.float64))
    assert torch.equal(gradients[0], b)
    assert gradients[1] is None


def test_undefined_gradients(ops: Any) -> None:
    import torch

    a, b, c, d = leaf(2), leaf(3), leaf(2), leaf(3)
    first, _ = ops.foreach_mul([a, b], [c, d])
    gradients = torch.autograd.grad(first.sum(), [a, b, c, d], allow_unused=True)
    assert torch.equal(gradients[0], c)
    assert torch.equal(gradients[2], a)
    assert gradients[1] is None
    assert gradients[3] is None


@pytest.mark.parametrize(
    "call",
    [
        lambda ops, a: ops.mul(a, a),
        lambda ops, a: ops.exp(a),
        lambda ops, a: ops.foreach_mul([a], [a])[0],
        lambda ops, a: ops.foreach_scale([a], [3.0])[0],
        lambda ops, a: ops.index(a, __import__("torch").tensor([0])),
    ],
    ids=["tensor", "output", "list", "scalars", "optional_list"],
)
def test_what_was_released_is_not_used(ops: Any, call: Callable[..., Any]) -> None:
    result = call(ops, leaf(3)).sum()
    result.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        result.backward()


def test_what_is_kept_can_be_used_again(ops: Any) -> None:
    import torch

    a, b = leaf(3), leaf(3)
    result = ops.foreach_mul([a], [b])[0].sum()
    result.backward(retain_graph=True)
    result.backward()
    assert torch.equal(a.grad, 2 * b)


def test_what_is_not_implemented_says_so(ops: Any) -> None:
    a, b = leaf(3), leaf(3)
    with pytest.raises(NotImplementedError) as error:
        ops.div(a, b, None).sum().backward()
    assert 'div: ??/ "other"' in str(error.value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_autograd_gives_the_same(ops: Any, backend: str) -> None:
    import torch
    from torch._dynamo import compiled_autograd

    def gradients(compiled: bool) -> tuple[Any, Any]:
        torch._dynamo.reset()
        torch.manual_seed(0)
        x, y = leaf(3), leaf(3)
        t = ops.gelu(ops.exp(ops.mul(x, y)), "tanh")
        t = t + ops.sign(t)
        t = ops.foreach_mul([ops.stack([t, x], 0)], [ops.stack([y, t], 0)])[0]
        t = ops.foreach_scale([ops.index(t, torch.tensor([0, 1, 1]))], [0.25])[0]
        t = ops.prelu(ops.div(t, leaf(3, 3).detach(), None), torch.full((3, 3), 0.3, dtype=torch.float64))
        if compiled:
            with compiled_autograd._enable(torch.compile(backend=backend, fullgraph=True)):
                t.sum().backward()
        else:
            t.sum().backward()
        return x.grad, y.grad

    expected = gradients(compiled=False)
    # Twice: functions are bound once, and called again.
    for _ in range(2):
        for ours, theirs in zip(gradients(compiled=True), expected, strict=True):
            assert torch.allclose(ours, theirs)
