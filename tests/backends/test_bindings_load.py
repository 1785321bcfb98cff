"""The bindings of all specs and of some of PyTorch's nodes: compiled, imported, and held to the contract."""

from __future__ import annotations

import ast
import inspect
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from bindings_contract.build import build_extension
from bindings_contract.contract import BindingsContract, Built
from compiling import diagnose

from gradspec.ir import Op, Program
from gradspec.pipeline import compile_files
from gradspec_bindings import BACKEND
from gradspec_bindings.emit import BindingsOptions

pytestmark = [
    pytest.mark.slow,
    # Building takes half a minute: one worker does it once.
    pytest.mark.xdist_group("bindings_load"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed"),
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]

SPECS = sorted((Path(__file__).resolve().parents[2] / "specs").glob("*.grad"))
NODES_OF_TORCH = 60


def torch_program() -> Program:
    """All of PyTorch's nodes."""
    import torchgen

    packaged = Path(torchgen.__file__).parent / "packaged"
    return compile_files([packaged / "autograd/derivatives.yaml"], packaged / "ATen/native/native_functions.yaml").program


def chosen_program() -> Program:
    """The nodes of all specs; of PyTorch's the first sixty, then those that keep what none before them does, and two more."""
    program = compile_files(SPECS).program
    taken = {op.node for op in program.nodes}
    chosen: list[Op] = []
    seen: set[tuple[str, str]] = set()
    for op in torch_program().nodes:
        kinds = {(str(value.type), value.origin) for value in op.saved}
        wanted = len(chosen) < NODES_OF_TORCH or kinds - seen or op.node in ("ComplexBackward0", "ForeachMulBackward0")
        if wanted and op.node not in taken:
            chosen.append(op)
            seen |= kinds
    return evolve(program, ops=program.ops + tuple(chosen))


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """What the backend emits for the chosen nodes."""
    return dict(BACKEND.emit(chosen_program(), BindingsOptions(module="bound_nodes")))


@pytest.fixture(scope="module")
def built(files: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The chosen nodes with the classes that this backend gives them."""
    program = chosen_program()
    return Built(build_extension(program, files, tmp_path_factory.mktemp("bindings"), "bound_nodes"), program)


class TestBindings(BindingsContract):
    """The contract."""


def test_the_chosen_nodes_keep_all_that_any_node_keeps(built: Built) -> None:
    names = {op.node for op in torch_program().nodes}
    assert sum(op.node in names for op in built.program.nodes) >= NODES_OF_TORCH
    kinds = {(str(v.type), v.origin) for op in torch_program().nodes for v in op.saved}
    assert kinds <= {(str(v.type), v.origin) for _, v in built.kept()}


def test_the_stub_says_what_the_runtime_says(built: Built, files: dict[str, str]) -> None:
    checked = 0
    for class_ in ast.parse(files["bound_nodes.pyi"]).body:
        if not isinstance(class_, ast.ClassDef) or class_.name == "Node":
            continue
        real = getattr(built.module, class_.name)
        if not class_.name.startswith("Tensor"):
            assert ast.get_docstring(class_) == inspect.getdoc(real)
        for member in class_.body:
            if isinstance(member, ast.FunctionDef):
                said = inspect.getdoc(vars(real)[member.name]) or ""
                # pybind11 puts the signature in front.
                assert said.endswith(ast.get_docstring(member) or "?"), (class_.name, member.name)
                checked += 1
    assert checked > 500


def test_the_stub_has_every_getter_of_the_runtime(built: Built, files: dict[str, str]) -> None:
    stub = {c.name: c for c in ast.parse(files["bound_nodes.pyi"]).body if isinstance(c, ast.ClassDef)}
    (inherited,) = [{m.name for m in c.body if isinstance(m, ast.FunctionDef)} for c in stub.values() if c.name == "Node"]
    for op in built.program.nodes:
        own = {m.name for m in stub[str(op.node)].body if isinstance(m, ast.FunctionDef)}
        real = {name for name in dir(getattr(built.module, str(op.node))) if name not in dir(object)}
        assert real - {"__call__"} == (own | inherited) - {"__call__"}


def test_named_tuples_say_where_they_are_from(built: Built) -> None:
    for name in ("TensorOptions", "TensorInfo", "TensorGeometry", "SavedTensorOfList"):
        assert getattr(built.module, name).__module__ == "bound_nodes"


def test_what_is_not_kept_says_so(built: Built) -> None:
    node = built.module.make("ComplexBackward0")
    for name in ("_saved_real", "_raw_saved_real"):
        assert not hasattr(node, name)
        with pytest.raises(AttributeError, match="The input `real` is not kept: no gradient reads it"):
            getattr(node, name)


INTEGERS = """
library lab;
extern f;
op f(Tensor self, int a, int? b, int[] c, SymInt d, SymInt[] e, int[]? g, Scalar h) -> Tensor {
  self: f(grad, a, b, c, d, e, g, h);
}
"""


def test_integers_as_upstream_reads_them(tmp_path: Path) -> None:
    program, _ = diagnose(INTEGERS)
    assert program is not None
    bindings = BACKEND.emit(program, BindingsOptions(upstream_integers=True, namespace="lab::nodes"))
    module: Any = build_extension(program, bindings, tmp_path, "upstream_nodes", namespace="lab::nodes")
    node = module.make("FBackward0")
    for name, value in {"a": -1, "b": -1, "c": (-1, 2), "d": -2, "e": (3, -3), "g": (-1,), "h": -1}.items():
        module.put(node, name, value)
    assert (node._saved_a, node._saved_b, node._saved_d) == (2**64 - 1, 2**64 - 1, 2**64 - 2)
    assert (node._saved_c, node._saved_e, node._saved_g) == ((2**64 - 1, 2), (3, 2**64 - 3), (2**64 - 1,))
    # A Scalar was signed there too.
    assert node._saved_h == -1
