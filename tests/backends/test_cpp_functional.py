"""Nodes of shapes `functional` and `packed`, built and run: a function of what was saved gives what apply gives."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from compiling import diagnose
from linking import load_nodes

from gradspec.emit.members import is_kept_tensor
from gradspec.ir import Program
from gradspec.types import BaseType, ListType, OptionalType, Type
from gradspec_cpp.emit import CppOptions
from gradspec_cpp.types import spell

pytestmark = [
    pytest.mark.slow,
    # Building takes half a minute of two processors for each shape: one worker does it once.
    pytest.mark.xdist_group("cpp_functional"),
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed"),
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]

SOURCES = Path(__file__).parent / "cpp_functional"


@cache
def program() -> Program:
    found, diagnostics = diagnose((SOURCES / "nodes.grad").read_text(encoding="utf-8"))
    assert found is not None, [d.message for d in diagnostics]
    return found


NAMES = [op.node for op in program().nodes if op.node]
each_node = pytest.mark.parametrize("name", NAMES)


def build(shape: str, folder: Path) -> Any:
    """The ops of SHAPE.cpp, which makes the nodes of nodes.grad in that shape."""
    # A namespace for each: what is inline, the loader may merge over all libraries of a process.
    space = f"{shape}_nodes"
    options = CppOptions(shape=shape, namespace=space, helpers_header="helpers.h", helpers_namespace="mixing", shards=1)
    return load_nodes(program(), options, SOURCES / f"{shape}.cpp", folder, (f"-I{SOURCES}", f"-DNODES={space}"))


@pytest.fixture(scope="session")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The nodes in shape `functional`."""
    return build("functional", tmp_path_factory.mktemp("functional"))


@pytest.fixture(scope="session")
def packed_ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The nodes in shape `packed`, which is written for an older torch, and runs with this one too."""
    return build("packed", tmp_path_factory.mktemp("packed"))


def gradients(defined: Sequence[bool]) -> list[Any]:
    import torch

    torch.manual_seed(len(defined))
    return [torch.randn(2, 3, dtype=torch.float64) if is_defined else None for is_defined in defined]


def same(left: Sequence[Any], right: Sequence[Any]) -> bool:
    import torch

    return len(left) == len(right) and all(
        (a is None) == (b is None) and (a is None or torch.equal(a, b)) for a, b in zip(left, right, strict=True)
    )


def test_every_node_has_a_recipe(ops: Any) -> None:
    assert len(NAMES) >= 45
    assert sorted(ops.names()) == sorted(NAMES)


@each_node
def test_the_function_gives_what_apply_gives(ops: Any, name: str) -> None:
    sizes, outputs = ops.inputs(name), ops.outputs(name)
    flowing = 0
    for needs in product([True, False], repeat=sum(sizes)):
        for defined in product([True, False], repeat=outputs):
            applied, of_state, of_retrieved = ops.compare(name, needs, gradients(defined), True)
            assert len(applied) == sum(sizes)
            assert same(applied, of_state), (needs, defined)
            assert same(applied, of_retrieved), (needs, defined)
            # A list gets the gradients of all its tensors or of none.
            wanted = [any(needs[sum(sizes[:i]) : sum(sizes[: i + 1])]) for i, size in enumerate(sizes) for _ in range(size)]
            got = [gradient is not None for gradient in applied]
            assert all(want or not has for want, has in zip(wanted, got, strict=True)), (needs, defined)
            if all(defined):
                assert got == wanted
                flowing += any(got)
    assert flowing >= 1


@pytest.mark.parametrize("name", [name for name in NAMES if "Opt" in name and name != "KeepOptionalTensorBackward0"])
def test_what_is_absent_is_kept_absent(ops: Any, name: str) -> None:
    absent = ops.compare(name, [True], gradients([True]), False)
    assert same(absent[0], absent[1])
    assert same(absent[0], absent[2])
    assert not same(absent[0], ops.compare(name, [True], gradients([True]), True)[0])


@pytest.mark.parametrize("name", ["MultiplyBackward0", "ExponentialBackward0", "TwoListsBackward0", "KeepScalarsBackward0"])
def test_a_released_node_has_no_state(ops: Any, name: str) -> None:
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        ops.read_released(name)


def expected_gradients(ops: Any, name: str) -> tuple[list[Any], list[Any]]:
    """What goes into a node, and what comes out of it when everything is wanted."""
    cotangents = gradients([True] * ops.outputs(name))
    return cotangents, ops.compare(name, [True] * sum(ops.inputs(name)), cotangents, True)[0]


def leaves_like(tensors: Sequence[Any]) -> list[Any]:
    import torch

    return [torch.zeros_like(tensor, requires_grad=True) for tensor in tensors]


@each_node
def test_the_engine_goes_through(ops: Any, name: str) -> None:
    import torch

    cotangents, expected = expected_gradients(ops, name)
    leaves = leaves_like(expected)
    if name == "RecomputeBackward0":
        # The engine says that it will release, where a call of the node alone does not.
        expected = [2 * gradient for gradient in expected]
    torch.autograd.backward(ops.record(name, leaves), cotangents)
    assert same([leaf.grad for leaf in leaves], expected)


def backward(ops: Any, expected: dict[str, list[Any]], compiled: bool) -> dict[str, list[Any]]:
    """The gradients of all nodes in one backward pass."""
    import torch
    from torch._dynamo import compiled_autograd

    torch._dynamo.reset()
    leaves, outputs = {}, []
    for name in NAMES:
        leaves[name] = leaves_like(expected[name])
        outputs += ops.record(name, leaves[name])
    cotangents = gradients([True] * len(outputs))
    if compiled:
        with compiled_autograd._enable(torch.compile(backend="eager", fullgraph=True)):
            torch.autograd.backward(outputs, cotangents)
    else:
        torch.autograd.backward(outputs, cotangents)
    return {name: [leaf.grad for leaf in leaves[name]] for name in NAMES}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", ["functional", "packed"])
def test_compiled_autograd_gives_the_same(ops: Any, shape: str, request: pytest.FixtureRequest) -> None:
    like = {name: expected_gradients(ops, name)[1] for name in NAMES}
    expected = backward(ops, like, compiled=False)
    # Nobody tells a node that its buffers will be released when its function is compiled.
    expected["RecomputeBackward0"] = [gradient / 2 for gradient in expected["RecomputeBackward0"]]
    compiled = ops if shape == "functional" else request.getfixturevalue("packed_ops")
    # Twice: the second time, functions that are bound once are there already.
    for _ in range(2):
        found = backward(compiled, like, compiled=True)
        assert [name for name in NAMES if not same(found[name], expected[name])] == []


@each_node
def test_packed_nodes_apply_alike(ops: Any, packed_ops: Any, name: str) -> None:
    cotangents, expected = expected_gradients(ops, name)
    assert same(packed_ops.applied(name, [True] * sum(ops.inputs(name)), cotangents), expected)


def test_packed_arguments(packed_ops: Any) -> None:
    # What is needed, two lengths, then three members.
    assert packed_ops.packed([True, True, False, True]) == (6, [True, False, True])


def test_the_lengths_of_lists_are_part_of_what_is_compiled(ops: Any) -> None:
    assert ops.same_key([1, 3], [1, 3])
    assert not ops.same_key([1, 3], [3, 1])


# -------------------------------------------------------------------------------------------------------------- SavedState

KEPT = (
    "Tensor Tensor? Tensor[] Tensor?[] int int? int[] int[]? int[][] SymInt SymInt? SymInt[] SymInt[]? SymInt[][] float float? "
    "float[] float[]? bool bool? Scalar Scalar? Scalar[] str str? ScalarType ScalarType? ScalarType[] Layout Layout? Device "
    "MemoryFormat MemoryFormat? TensorOptions TensorInfo TensorGeometry"
).split()


def parsed(text: str) -> Type:
    if text.endswith("?"):
        return OptionalType(parsed(text[:-1]))
    return ListType(parsed(text[:-2])) if text.endswith("[]") else BaseType(text)


def value_type(text: str) -> str:
    """The C++ type as which a formula has a value, in the words of nodes.cpp."""
    type_ = parsed(text)
    spelling = spell(type_, is_output=False)
    assert spelling is not None
    plain = "Tensor" if is_kept_tensor(type_, False) else spelling.parameter.strip().removeprefix("const ").rstrip("&").strip()
    for longer, shorter in [("std::string_view", "string"), ("std::", ""), ("at::", ""), ("c10::", "")]:
        plain = plain.replace(longer, shorter)
    return plain


def test_every_value_comes_back_from_a_saved_state(ops: Any) -> None:
    results = {name.replace("c10::", "").replace("at::", ""): back for name, back in ops.round_trips().items()}
    assert {name for name, back in results.items() if not back} == set()
    assert {value_type(text) for text in KEPT} == results.keys() - {"size_t"}


def test_every_type_that_the_nodes_keep_is_among_those() -> None:
    kept = {str(value.type) for op in program().nodes for value in op.saved if not is_kept_tensor(value.type, False)}
    assert kept <= set(KEPT)
    # Scalar outputs are tensors; a tensor and an optional tensor are kept alike.
    assert set(KEPT) - kept == {"Tensor", "Tensor?", "Layout?"}


def test_a_saved_state_ends(ops: Any) -> None:
    with pytest.raises(RuntimeError, match="a saved state of 1 values is read once more"):
        ops.read_too_much()
