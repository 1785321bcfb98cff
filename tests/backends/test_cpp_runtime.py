"""Nodes of the default shape at work, in two shards: compiled autograd, undefined gradients, release, threads, kept graphs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from compiling import diagnose
from linking import load_nodes

from gradspec.emit.members import is_kept_tensor
from gradspec.ir import Op, Program
from gradspec.types import BaseType, ListType, OptionalType
from gradspec_cpp.emit import CppOptions

pytestmark = [
    pytest.mark.slow,
    # Building takes a minute: one worker does it once.
    pytest.mark.xdist_group("cpp_runtime"),
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed"),
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]

FOLDER = Path(__file__).parent
RECIPES = FOLDER / "cpp_functional"
SOURCE = FOLDER / "cpp_runtime" / "runtime.cpp"

# A node whose formula takes as long as the test wants.
HOLD = "op hold(Tensor self, Tensor other) -> Tensor {\n  self: held(grad, other);\n  other: non_differentiable;\n}\n"

TWICE = "Trying to backward through the graph a second time"


@cache
def program() -> Program:
    found, diagnostics = diagnose((RECIPES / "nodes.grad").read_text(encoding="utf-8") + HOLD, externs=["held"])
    assert found is not None, [d.message for d in diagnostics]
    return found


OPS: dict[str, Op] = {op.node: op for op in program().nodes if op.node and op.node != "HoldBackward0"}
each_node = pytest.mark.parametrize("name", OPS)


def is_released(op: Op) -> bool:
    """Whether the node keeps anything that it gives up."""
    lists = (ListType(BaseType("Tensor")), ListType(OptionalType(BaseType("Tensor"))), ListType(BaseType("Scalar")))
    return any(is_kept_tensor(value.type, value.origin == "output") or value.type in lists for value in op.saved)


RELEASED = [name for name, op in OPS.items() if is_released(op)]


@pytest.fixture(scope="session")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The nodes, in two shards."""
    options = CppOptions(namespace="runtime_nodes", helpers_header="runtime_helpers.h", helpers_namespace="mixing", shards=2)
    flags = (f"-I{RECIPES}", f"-I{SOURCE.parent}", "-DNODES=runtime_nodes")
    return load_nodes(program(), options, SOURCE, tmp_path_factory.mktemp("runtime"), flags)


def cotangents(count: int) -> list[Any]:
    import torch

    torch.manual_seed(count)
    return [torch.randn(2, 3, dtype=torch.float64) for _ in range(count)]


def leaves_of(ops: Any, name: str) -> list[Any]:
    """As many leaves as the node has inputs, of the shapes of their gradients."""
    import torch

    gradients = ops.call(name, [True] * sum(ops.inputs(name)), cotangents(ops.outputs(name)))
    return [torch.zeros_like(gradient, requires_grad=True) for gradient in gradients]


def same(left: Sequence[Any], right: Sequence[Any]) -> bool:
    import torch

    return len(left) == len(right) and all(torch.equal(a, b) for a, b in zip(left, right, strict=True))


def test_every_node_has_a_recipe(ops: Any) -> None:
    assert sorted(ops.names()) == sorted(OPS)


# ------------------------------------------------------------------------------------------------------- compiled autograd


def backward(ops: Any, backend: Any = None) -> dict[str, list[Any]]:
    """The gradients of all nodes in one backward pass, compiled by a backend where there is one."""
    import torch
    from torch._dynamo import compiled_autograd

    leaves = {name: leaves_of(ops, name) for name in OPS}
    outputs = [output for name in OPS for output in ops.record(name, leaves[name])]
    gradients = cotangents(len(outputs))
    if backend is None:
        torch.autograd.backward(outputs, gradients)
    else:
        torch._dynamo.reset()
        with compiled_autograd._enable(torch.compile(backend=backend, fullgraph=True)):
            torch.autograd.backward(outputs, gradients)
    return {name: [leaf.grad for leaf in leaves[name]] for name in OPS}


@pytest.mark.filterwarnings("ignore")
def test_compiled_autograd_gives_the_same(ops: Any) -> None:
    graphs: list[str] = []

    def compile_(module: Any, inputs: Any) -> Any:
        graphs.append(module.print_readable(print_output=False))
        return module.forward

    expected = backward(ops)
    # Nobody tells a node that its buffers will be released when its function is compiled.
    expected["RecomputeBackward0"] = [gradient / 2 for gradient in expected["RecomputeBackward0"]]
    # Twice: the second time, functions that are bound once are there already.
    for _ in range(2):
        found = backward(ops, compile_)
        assert [name for name in OPS if not same(found[name], expected[name])] == []
    assert len(OPS) >= 45
    assert [name for name in OPS if f"runtime_nodes_{name}" not in graphs[-1]] == []


@pytest.mark.filterwarnings("ignore")
def test_compiled_by_aot_too(ops: Any) -> None:
    expected = backward(ops)
    expected["RecomputeBackward0"] = [gradient / 2 for gradient in expected["RecomputeBackward0"]]
    found = backward(ops, "aot_eager")
    assert [name for name in OPS if not same(found[name], expected[name])] == []


# ---------------------------------------------------------------------------------------------------- undefined gradients


def is_guarded(op: Op) -> bool:
    """Whether each formula is of one tensor, or of each tensor of a list: others look for themselves at what comes in."""
    tensors = op.foreach or all(is_kept_tensor(i.type, False) for i in op.differentiable_inputs)
    return tensors and all(len(derivative.inputs) == 1 for derivative in op.derivatives)


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if is_guarded(op)])
def test_no_gradient_comes_in(ops: Any, name: str) -> None:
    nothing = [None] * sum(ops.inputs(name))
    assert ops.call(name, [True] * len(nothing), [None] * ops.outputs(name)) == nothing


@each_node
def test_no_gradient_is_wanted(ops: Any, name: str) -> None:
    gradients = ops.call(name, [False] * sum(ops.inputs(name)), cotangents(ops.outputs(name)))
    assert [gradient is None for gradient in gradients] == [True] * sum(ops.inputs(name))


def test_only_some_gradients_come_in(ops: Any) -> None:
    (grad,) = cotangents(1)
    both = ops.call("ForeachMultiplyBackward0", [True] * 4, [grad, grad])
    first = ops.call("ForeachMultiplyBackward0", [True] * 4, [grad, None])
    assert same([first[0], first[2]], [both[0], both[2]])
    assert first[1] is None
    assert first[3] is None


# ----------------------------------------------------------------------------------------------------------------- release


@each_node
def test_what_was_released_is_not_used(ops: Any, name: str) -> None:
    arguments = (name, [True] * sum(ops.inputs(name)), cotangents(ops.outputs(name)))
    if name in RELEASED:
        with pytest.raises(RuntimeError, match=TWICE):
            ops.call_released(*arguments)
    else:
        ops.call_released(*arguments)


# How many tensors a node holds: as an input, in a list, and in a list with gaps.
HELD = {"MultiplyBackward0": 2, "TwoListsBackward0": 4, "KeepOptionalTensorsBackward0": 2, "ForeachMultiplyBackward0": 4}


@each_node
def test_a_release_lets_go_of_the_tensors(ops: Any, name: str) -> None:
    kept, released = ops.kept_and_released(name)
    assert released == 0
    assert kept == HELD.get(name, kept)
    assert (kept > 0) <= (name in RELEASED)


@pytest.mark.parametrize("name", RELEASED)
def test_the_engine_goes_through_once(ops: Any, name: str) -> None:
    import torch

    leaves = leaves_of(ops, name)
    outputs = ops.record(name, leaves)
    torch.autograd.backward(outputs, cotangents(len(outputs)))
    with pytest.raises(RuntimeError, match=TWICE):
        torch.autograd.backward(outputs, cotangents(len(outputs)))


@each_node
def test_a_graph_that_is_kept_can_be_gone_through_again(ops: Any, name: str) -> None:
    import torch

    leaves = leaves_of(ops, name)
    outputs = ops.record(name, leaves)
    passes = []
    for _ in range(2):
        passes.append(torch.autograd.grad(outputs, leaves, cotangents(len(outputs)), retain_graph=True))
    assert same(passes[0], passes[1])


def test_a_formula_knows_whether_the_graph_is_kept(ops: Any) -> None:
    import torch

    leaves = leaves_of(ops, "RecomputeBackward0")
    outputs = ops.record("RecomputeBackward0", leaves)
    (kept,) = torch.autograd.grad(outputs, leaves, cotangents(1), retain_graph=True)
    (given_up,) = torch.autograd.grad(outputs, leaves, cotangents(1))
    assert torch.equal(given_up, 2 * kept)
    assert kept.abs().max() > 0


# ----------------------------------------------------------------------------------------------------------------- threads


def test_a_release_waits_for_a_formula(ops: Any) -> None:
    import torch

    grad, other = cotangents(2)
    waited, gradient = ops.release_meanwhile(grad, other)
    assert waited
    assert torch.equal(gradient, grad * other)


@pytest.mark.parametrize(
    "name",
    [
        "MultiplyBackward0",
        "ExponentialBackward0",
        "ForeachMultiplyBackward0",
        "ForeachScaleBackward0",
        "KeepOptionalTensorsBackward0",
    ],
)
def test_threads_meet_a_node_whole_or_released(ops: Any, name: str) -> None:
    right, refused, wrong = ops.race(name, 3, 50)
    assert wrong == 0
    assert right + refused == 3 * 50 * 20
    assert refused > 0


def test_two_threads_go_through_one_graph(ops: Any) -> None:
    import threading

    import torch

    leaves = leaves_of(ops, "MultiplyBackward0")
    outputs = ops.record("MultiplyBackward0", leaves)
    expected = torch.autograd.grad(outputs, leaves, cotangents(1), retain_graph=True)
    gradients, outcomes = cotangents(1), list[bool]()

    def run() -> None:
        for _ in range(50):
            outcomes.append(same(torch.autograd.grad(outputs, leaves, gradients, retain_graph=True), expected))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 100
