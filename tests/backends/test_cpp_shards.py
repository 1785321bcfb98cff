"""Shards: what is in which, what moves and what stays, and what each includes; compiles nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from compiling import diagnose
from hypothesis import given
from hypothesis import strategies as st

from gradspec.ir import Call, Program, walk
from gradspec.load import TorchNotFound, find_torch
from gradspec.pipeline import compile_files
from gradspec_cpp import BACKEND
from gradspec_cpp.emit import CppOptions
from gradspec_cpp.helpers import OTHERS, helper_names
from gradspec_cpp.shards import compile_cost, make_shards, needed_headers, shard_count, shard_of

SPECS = sorted((Path(__file__).resolve().parents[2] / "specs").glob("*.grad"))

DECLARED = dict.fromkeys(helper_names(), '"gradspec_helpers.h"')


def op(name: str, formula: str = "grad * self") -> str:
    return f"op {name}(Tensor self) -> Tensor {{\n  self: {formula};\n}}\n"


def program(ops: Mapping[str, str]) -> Program:
    found, _ = diagnose("library lab;\n" + "".join(op(name, formula) for name, formula in ops.items()))
    assert found is not None
    return found


def emitted(ops: Mapping[str, str], shards: int) -> dict[str, str]:
    return dict(BACKEND.emit(program(ops), CppOptions(shards=shards)))


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if before[name] != after[name]}


@cache
def torch_program() -> Program:
    try:
        files = find_torch(None)
    except TorchNotFound:
        pytest.skip("torch is not installed")
    return compile_files([files.derivatives], files.native_functions).program


# ---------------------------------------------------------------------------------------------------------- what stays put

OPS = {f"lab_op{letter}": "grad * self" for letter in "abcdefghijklmnopqrstuvwxyz"}
NODES = {name: f"LabOp{name[-1]}Backward0" for name in OPS}


@pytest.mark.parametrize("name", list(OPS)[::5])
@pytest.mark.parametrize("shards", [2, 3, 8])
def test_one_node_is_in_one_shard(name: str, shards: int) -> None:
    before = emitted(OPS, shards)
    own = f"Functions_{shard_of(NODES[name], shards)}"
    assert NODES[name] in before[f"{own}.h"]
    # Removed, and so also added; changed; and changed so that it needs other headers and members.
    assert changed(before, emitted({k: v for k, v in OPS.items() if k != name}, shards)) == {f"{own}.h", f"{own}.cpp"}
    assert changed(before, emitted(OPS | {name: "grad * 2 * self"}, shards)) == {f"{own}.cpp"}
    other = emitted(OPS | {name: "at::native::f(grad)"}, shards)
    assert changed(before, other) == {f"{own}.h", f"{own}.cpp"}


@given(st.text(min_size=1), st.integers(1, 255))
def test_one_shard_more_moves_nodes_to_it_alone(name: str, count: int) -> None:
    assert shard_of(name, count + 1) in (shard_of(name, count), count)


def test_all_that_is_emitted_is_known_from_the_number_of_shards() -> None:
    few = emitted({"lab_opa": "grad"}, 4)
    assert few.keys() == emitted(OPS, 4).keys()
    assert {name for name in few if name.endswith(".cpp")} == {f"Functions_{i}.cpp" for i in range(4)}
    assert few["Functions.h"].count("#include") == 4
    alone = emitted({"lab_opa": "grad"}, 1)
    assert {name for name in alone if name.startswith("Functions")} == {"Functions.h", "Functions.cpp"}


# ------------------------------------------------------------------------------------------------------------ how many, how even


def test_the_number_depends_on_the_cost() -> None:
    counts = [shard_count(cost) for cost in range(0, 300_000, 1000)]
    assert counts == sorted(counts)
    assert set(counts) == {1, 2, 4, 8, 16, 32}
    assert shard_count(10**9) == 256


@pytest.mark.parametrize("spec", SPECS, ids=[spec.stem for spec in SPECS])
def test_a_small_spec_stays_one_file(spec: Path) -> None:
    found, _ = diagnose(spec.read_text(encoding="utf-8"))
    assert found is not None
    assert [shard.stem for shard in make_shards(found, 0, True)] == ["Functions"]


def test_pytorch_asks_for_two() -> None:
    assert [shard.stem for shard in make_shards(torch_program(), 0, True)] == ["Functions_0", "Functions_1"]


@pytest.mark.parametrize(("shards", "over"), [(2, 1.05), (3, 1.05), (4, 1.06), (6, 1.1), (8, 1.15), (16, 1.2)])
def test_shards_are_even(shards: int, over: float) -> None:
    first, *others = [sum(map(compile_cost, shard.ops)) for shard in make_shards(torch_program(), shards, True)]
    assert max(others) * len(others) / sum(others) < over
    # It holds what is there once: about half as much are its nodes.
    assert 0.3 < first * len(others) / sum(others) < 0.6


def test_every_node_is_in_one_shard() -> None:
    files = BACKEND.emit(torch_program(), CppOptions())
    names = [op.node for op in torch_program().nodes]
    headers, sources = ("".join(files[f"Functions_{i}.{kind}"] for i in (0, 1)) for kind in ("h", "cpp"))
    assert [headers.count(f"  GRADSPEC_NODE({name})\n") for name in names] == [1] * len(names)
    assert [sources.count(f"void {name}::visit(") for name in names] == [1] * len(names)


def test_the_number_is_an_option(run_gradspec: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    (tmp_path / "x.grad").write_text("library lab;\n" + op("lab_opa"))
    for asked, told in (("257", "0 to 256"), ("-1", "0 to 256"), ("two", "whole number")):
        done = run_gradspec("emit", "x.grad", "-b", "cpp", "-O", f"shards={asked}", "-o", "out", cwd=tmp_path)
        assert done.returncode == 2
        assert told in done.stderr


# ------------------------------------------------------------------------------------------------------------ what is included


def includes(text: str) -> list[str]:
    return [line.split()[1] for line in text.splitlines() if line.startswith("#include")]


def test_what_needs_no_operator_includes_none() -> None:
    source = emitted({"lab_opa": "grad * self.exp()"}, 1)["Functions.cpp"]
    assert includes(source) == ['"Functions.h"', '"gradspec_tasks.h"']
    assert "using namespace torch::autograd::generated::details" not in source


def test_operators_are_included_by_name(repo: Path) -> None:
    schemas = "- func: sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor\n  variants: function\n"
    schemas += "- func: zeros(SymInt[] size) -> Tensor\n  variants: function\n"
    schemas += "- func: sigmoid(Tensor self) -> Tensor\n  variants: function, method\n"
    formula = "sigmoid_backward(grad, result) + at::zeros_symint(self.sym_sizes())"
    spec = f"- name: sigmoid(Tensor self) -> Tensor\n  self: {formula}\n"
    found, problems = diagnose(spec, schemas)
    assert found is not None, problems
    source = BACKEND.emit(found, CppOptions())["Functions.cpp"]
    assert includes(source)[2:] == ["<ATen/ops/sigmoid_backward.h>", "<ATen/ops/zeros.h>"]
    assert "using namespace torch" not in source
    assert source.index("#define AT_PER_OPERATOR_HEADERS") < source.index("#include")
    # That torch had no such headers yet.
    old = BACKEND.emit(found, CppOptions(shape="apply"))["Functions.cpp"]
    assert "ATen/ops" not in old
    assert "<ATen/ATen.h>" in old


@pytest.mark.parametrize(
    "formula", ["at::native::f(grad)", "at::sigmoid_backward(grad, self)", "amaxamin_jvp(self, self, grad, {0}, true)"]
)
def test_anything_else_includes_everything(formula: str) -> None:
    # No operator is known here, and the last one is a helper of forward formulas.
    source = emitted({"lab_opa": formula}, 1)["Functions.cpp"]
    assert includes(source)[2:] == ["<ATen/ATen.h>", '"torch/csrc/autograd/FunctionsManual.h"']
    assert "AT_PER_OPERATOR_HEADERS" not in source


@pytest.mark.parametrize("formula", ["maybe_multiply(grad, 2)", 'not_implemented("f")'])
def test_helpers_are_declared(formula: str) -> None:
    files = emitted({"lab_opa": formula}, 1)
    source = files["Functions.cpp"]
    assert includes(source)[2:] == ['"gradspec_helpers.h"']
    assert "using namespace torch::autograd::generated::details;\n" in source
    assert f" {formula.partition('(')[0]}(const" in files["gradspec_helpers.h"]


@pytest.mark.parametrize(
    "options", [CppOptions(helpers_header="mine.h"), CppOptions(shape="packed"), CppOptions(helpers_namespace="mine")]
)
def test_helpers_of_others_are_included(options: CppOptions) -> None:
    files = BACKEND.emit(program({"lab_opa": "maybe_multiply(grad, 2)"}), options)
    assert "gradspec_helpers.h" not in files
    assert includes(files["Functions.cpp"])[2:] == ["<ATen/ATen.h>", f'"{options.helpers_header}"']


def test_only_shards_that_call_helpers_include_them() -> None:
    files = emitted(OPS | {"lab_opc": "maybe_multiply(grad, 2)"}, 4)
    sources = {name for name, text in files.items() if name.endswith(".cpp") and "helpers.h" in text}
    assert sources == {f"Functions_{shard_of('LabOpcBackward0', 4)}.cpp"}


def test_the_helpers_that_pytorch_calls_are_all_declared() -> None:
    assert all(shard.headers is not None for shard in make_shards(torch_program(), 0, True, DECLARED))
    called = {
        part.function
        for node in torch_program().nodes
        for d in node.derivatives
        for part in walk(d.formula)
        if isinstance(part, Call)
    }
    assert helper_names() - OTHERS <= called


def test_the_headers_of_operators_exist() -> None:
    import torch

    found = torch_program()
    headers = needed_headers(found.nodes, found, DECLARED)
    assert headers is not None
    folder = Path(torch.__file__).parent / "include"
    files = [header.strip("<>") for header in headers if header.startswith("<")]
    assert len(files) > 100
    assert [file for file in files if not (folder / file).is_file()] == []
