"""The backend for bindings: types, texts, options, shards, stubs under type checkers, and snapshots of some specs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from compiling import compile_op, diagnose, place
from snapshots import as_file
from syrupy.assertion import SnapshotAssertion

from gradspec.backend import Backend
from gradspec.diagnostics import SpecError
from gradspec.emit.cxx import WIDTH
from gradspec.ir import Program
from gradspec.pipeline import compile_files
from gradspec.types import BaseType, ListType, OptionalType, Type
from gradspec_bindings import BACKEND
from gradspec_bindings.emit import BindingsOptions, make_shards
from gradspec_bindings.model import NodeClass, unkept
from gradspec_bindings.texts import cxx_text, formulas, node_doc, python_docstring, value_doc
from gradspec_bindings.types import python_type

SPECS = Path(__file__).resolve().parents[2] / "specs"
SHOWN = ("foreach", "geometry", "inplace", "lists", "optional_values", "powers", "strings", "types_and_layouts")


def emit(text: str, options: BindingsOptions | None = None) -> dict[str, str]:
    """The files of a right spec."""
    program, found = diagnose(text)
    assert program is not None, [f"{place(d)} {d.message}" for d in found]
    return dict(BACKEND.emit(program, options or BindingsOptions()))


def test_it_is_a_backend() -> None:
    assert isinstance(BACKEND, Backend)
    assert BACKEND.name == "bindings"


# ------------------------------------------------------------------------------------------------------------------- types


@pytest.mark.parametrize(
    ("type_", "python"),
    [
        ("Tensor", "Tensor"),
        ("Tensor?", "Tensor | None"),
        ("Tensor[]", "tuple[Tensor, ...]"),
        ("Tensor?[]", "tuple[Tensor | None, ...]"),
        ("int", "int"),
        ("SymInt?", "int | SymInt | None"),
        ("SymInt[]?", "tuple[int | SymInt, ...] | None"),
        ("int[][]", "tuple[tuple[int, ...], ...]"),
        ("Scalar[]", "tuple[Scalar, ...]"),
        ("bool?", "bool | None"),
        ("ScalarType[]", "tuple[torch.dtype, ...]"),
        ("TensorOptions", "TensorOptions"),
        ("bool[]", None),
        ("Layout[]", None),
        ("Layout[][]", None),
        ("str[]?", None),
        ("Generator?", None),
        ("Dimname[]", None),
    ],
)
def test_types_in_python(type_: str, python: str | None) -> None:
    assert python_type(parsed(type_)) == python


def parsed(text: str) -> Type:
    if text.endswith("?"):
        return OptionalType(parsed(text[:-1]))
    if text.endswith("[]"):
        return ListType(parsed(text[:-2]))
    return BaseType(text)


def test_what_has_no_getter_is_reported_all_at_once() -> None:
    text = "library lab;\nop f(Tensor self, Generator? gen, Dimname[] names) -> Tensor {\n  self: grad.to(gen).to(names);\n}\n"
    program, _ = diagnose(text)
    assert program is not None
    with pytest.raises(SpecError) as refused:
        BACKEND.emit(program, BindingsOptions())
    assert [(place(d), d.message) for d in refused.value.diagnostics] == [
        ("GS0705 2:4", "there is no getter for `gen` of type Generator? (of `lab::f`)"),
        ("GS0705 2:4", "there is no getter for `names` of type Dimname[] (of `lab::f`)"),
    ]


# ------------------------------------------------------------------------------------------------------------------- texts


def test_docstrings_tell_the_formulas_that_read_a_value() -> None:
    op = compile_op(
        "library lab;\nop f(Tensor self, Tensor other) -> Tensor {\n"
        "  self: grad * other.sum(other.dim());\n  other: grad * self;\n}\n"
    )
    docs = {value.name: value_doc(op, value, formulas(op)) for value in op.saved}
    assert docs == {
        "other": "The input `other` (Tensor).\n\nGradients that read it:\n    self: grad * other.sum(other_dim)",
        "other_dim": "`other.dim()` when the op ran (int).\n\nGradients that read it:\n    self: grad * other.sum(other_dim)",
        "self": "The input `self` (Tensor).\n\nGradients that read it:\n    other: grad * self",
    }
    assert node_doc(op, formulas(op)) == (
        "The backward node of `lab::f(Tensor self, Tensor other) -> Tensor`.\n\n"
        "Gradients:\n    other: grad * self\n    self: grad * other.sum(other_dim)"
    )


def test_docstrings_tell_what_is_from_before_a_write() -> None:
    op = compile_op("library lab;\nop f_(Tensor(a!) self) -> Tensor(a!) {\n  self: grad * self;\n}\n")
    (value,) = op.saved
    assert value_doc(op, value, formulas(op)).startswith("The input `self` before the op wrote to it (Tensor).")


def test_a_docstring_is_what_the_text_was() -> None:
    for text in (
        "",
        "one",
        'a "quoted" word"',
        'three """ of them',
        "back\\slash\nand \\n",
        "two\n\n    lines\nnaïve",
        "ends in \\",
    ):
        body = python_docstring(text, 4)
        made: dict[str, type] = {}
        exec(f"class C:\n    {body}\n", made)
        assert inspect.getdoc(made["C"]) == text or text == ""
        assert body.isascii()


def test_literals_stay_within_the_line() -> None:
    text = "a formula: " + " + ".join(f"term_{i}" for i in range(60)) + '\n"quoted" \\ and\n\nmore'
    literals = cxx_text(text, 5)
    assert all(len(line) <= WIDTH for line in literals.split("\n"))
    assert "".join([str(ast_literal(line)) for line in literals.split("\n")]) == text


def ast_literal(line: str) -> object:
    import ast

    return ast.literal_eval(line.strip())


def test_names_that_stand_in_a_formula_without_being_read() -> None:
    op = compile_op(
        "library lab;\nextern at::real;\nop f(Tensor real, Tensor values, Tensor name, Tensor other) -> Tensor {\n"
        '  other: not_implemented("of name and others");\n  real: at::real(grad) + grad.values();\n}\n'
    )
    assert unkept(op) == ("real", "values", "name")


# ----------------------------------------------------------------------------------------------------------------- options

SPEC = "library lab;\nop f(Tensor self, int dim) -> Tensor {\n  self: grad.sum(dim) * self;\n}\n"


def test_the_files() -> None:
    assert list(emit(SPEC)) == [
        "python_functions.h", "gradspec_getters.h", "gradspec_getters.cpp", "_functions.pyi", "python_functions_0.cpp",
    ]  # fmt: skip
    assert "lab.pyi" in emit(SPEC, BindingsOptions(module="lab"))
    sharded = emit(SPEC, BindingsOptions(shards=3))
    assert [name for name in sharded if name.startswith("python_functions_")] == [f"python_functions_{i}.cpp" for i in range(3)]
    assert "void initialize_autogenerated_functions_2(PyObject* module);" in sharded["python_functions.h"]


def test_the_namespace_is_an_option() -> None:
    files = emit(SPEC, BindingsOptions(namespace="mine::nodes"))
    assert all("namespace mine::nodes {" in text for name, text in files.items() if not name.endswith(".pyi"))
    assert not any("gradspec::generated" in text for text in files.values())


def test_the_integers_are_an_option() -> None:
    ours, theirs = emit(SPEC), emit(SPEC, BindingsOptions(upstream_integers=True))
    assert [name for name in ours if ours[name] != theirs[name]] == ["gradspec_getters.cpp"]


def test_nodes_of_torch_1_8_are_registered_and_no_more() -> None:
    files = emit(SPEC, BindingsOptions(shape="apply"))
    assert list(files) == ["python_functions.h", "python_functions.cpp"]
    assert files["python_functions.cpp"].count("add_class<FBackward0>(") == 1
    assert "_saved_" not in files["python_functions.cpp"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("namespace", "a b"), ("module", "a-b"), ("module", "../x"), ("shards", -1), ("shards", 1000), ("shape", "none")],
)
def test_options_that_are_wrong(key: str, value: str | int) -> None:
    with pytest.raises(ValueError, match=key):
        BindingsOptions(**{key: value})  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------------ shards


def nodes(count: int) -> list[NodeClass]:
    return [NodeClass(f"Op{i}Backward0", "", "", ()) for i in range(count)]


def test_shards_are_even_and_hold_each_node_once() -> None:
    for count in (1, 2, 5, 16):
        shards = make_shards(nodes(800), count)
        assert len(shards) == count
        assert sorted(node.name for shard in shards for node in shard) == sorted(node.name for node in nodes(800))
        assert max(map(len, shards)) <= 1.4 * 800 / count


@pytest.mark.skipif(find_spec("torchgen") is None, reason="torch is not installed")
def test_the_nodes_of_torch_fall_evenly() -> None:
    import torchgen

    packaged = Path(torchgen.__file__).parent / "packaged"
    specs = [packaged / "autograd/derivatives.yaml"]
    names = [op.node or "" for op in compile_files(specs, packaged / "ATen/native/native_functions.yaml").program.nodes]
    for count in (2, 3, 4, 5, 6, 8):
        mean = len(names) / count
        sizes = [len(shard) for shard in make_shards([NodeClass(name, "", "", ()) for name in names], count)]
        assert all(0.9 * mean <= size <= 1.1 * mean for size in sizes), sizes


def test_one_node_more_changes_one_shard() -> None:
    before, after = make_shards(nodes(40), 4), make_shards(nodes(41), 4)
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


def test_few_nodes_are_one_shard() -> None:
    assert [len(make_shards(nodes(count), 0)) for count in (0, 3, 599, 600, 1200)] == [1, 1, 1, 2, 4]


def test_no_program_registers_nothing() -> None:
    files = BACKEND.emit(Program(()), BindingsOptions())
    assert "add_class" not in files["python_functions_0.cpp"]


def test_the_same_program_gives_the_same_bytes() -> None:
    assert emit(SPEC) == emit(SPEC)


# ------------------------------------------------------------------------------------------------------------------- stubs

USE = """
import torch
from typing import assert_type
from lab import FBackward0

def read(node: FBackward0) -> None:
    assert_type(node._saved_dim, int)
    assert_type(node._saved_self, torch.Tensor)
    assert_type(node._saved_sizes, tuple[int | torch.SymInt, ...] | None)
    assert_type(node._saved_exact, bool | None)
    assert_type(node._saved_kinds_args_scalartypes, tuple[torch.dtype, ...])
    assert_type(node._saved_like_options.device, torch.device | None)
    assert_type(node._saved_zero_info.options.dtype, torch.dtype | None)
    node._raw_saved_self.unpack()
    node._saved_exact
"""
STUB_SPEC = """
library lab;
extern f;
op f(Tensor self, int dim, SymInt[]? sizes, bool? exact, Tensor[] kinds, Tensor like, Tensor zero) -> Tensor {
  self: f(grad, self, dim, sizes, exact, to_args_scalartypes(kinds), like.options(), zeros_like(zero));
}
"""
CHECKERS = {
    "mypy": [sys.executable, "-m", "mypy", "--config-file", "mypy.ini"],
    # Its `standard` rules are those of pyright. It brings its own node.js.
    "basedpyright": [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable],
}


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("checker", CHECKERS)
def test_type_checkers_read_the_stub(checker: str, tmp_path: Path) -> None:
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    (tmp_path / "lab.pyi").write_text(emit(STUB_SPEC, BindingsOptions(module="lab"))["lab.pyi"])
    (tmp_path / "use.py").write_text(USE)
    # torch is large: mypy takes its names on trust, basedpyright reads what it needs.
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = True\n[mypy-torch.*]\nfollow_imports = skip\nignore_missing_imports = True\n"
    )
    (tmp_path / "pyrightconfig.json").write_text(
        '{"typeCheckingMode": "standard", "pythonVersion": "3.11", "reportMissingModuleSource": false}'
    )
    command = [*CHECKERS[checker], "use.py", "lab.pyi"]
    right = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert right.returncode == 0, right.stdout + right.stderr
    (tmp_path / "use.py").write_text(USE.replace("    node._saved_exact", "    node._saved_exakt"))
    wrong = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert wrong.stdout.count("_saved_exakt") >= 1
    assert "1 error" in wrong.stdout


# --------------------------------------------------------------------------------------------------------------- snapshots


def spec_files(name: str) -> dict[str, str]:
    return emit((SPECS / f"{name}.grad").read_text(encoding="utf-8"), BindingsOptions(module=name))


@pytest.mark.parametrize("name", SHOWN)
def test_shard(name: str, snapshot: SnapshotAssertion) -> None:
    assert spec_files(name)["python_functions_0.cpp"] == snapshot(extension_class=as_file("cpp"))


@pytest.mark.parametrize("name", SHOWN)
def test_stub(name: str, snapshot: SnapshotAssertion) -> None:
    stub = spec_files(name)[f"{name}.pyi"]
    # What all stubs begin with is in one snapshot.
    shown = stub if name == "powers" else stub[stub.index("\n@final\nclass ", stub.index("class Node:")) :]
    assert shown == snapshot(extension_class=as_file("pyi"))
