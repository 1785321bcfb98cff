"""The C++ backend: types, names, options, the shape of a node, and snapshots of what our own specs become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compiling import diagnose, place
from snapshots import as_file
from syrupy.assertion import SnapshotAssertion

from gradspec import ir
from gradspec.backend import Backend
from gradspec.diagnostics import SpecError
from gradspec.emit.cxx import WIDTH, comment, fill
from gradspec.emit.identifiers import is_cxx_reserved
from gradspec.emit.members import member_name
from gradspec.ir import Program
from gradspec.types import BaseType, ListType, OptionalType, Type
from gradspec_cpp import BACKEND
from gradspec_cpp.emit import CppOptions
from gradspec_cpp.types import Spelling, spell

SPECS = sorted((Path(__file__).resolve().parents[2] / "specs").glob("*.grad"))


def emit(text: str, options: CppOptions | None = None) -> dict[str, str]:
    """The files of a right spec."""
    program, found = diagnose(text)
    assert program is not None, [f"{place(d)} {d.message}" for d in found]
    return dict(BACKEND.emit(program, options or CppOptions()))


def refusals(text: str) -> list[tuple[str, str]]:
    """What the backend says against a spec that the core accepts: place and sentence."""
    program, _ = diagnose(text)
    assert program is not None
    with pytest.raises(SpecError) as refused:
        BACKEND.emit(program, CppOptions())
    return [(place(d), d.message) for d in refused.value.diagnostics]


def test_it_is_a_backend() -> None:
    assert isinstance(BACKEND, Backend)
    assert BACKEND.name == "cpp"


# ------------------------------------------------------------------------------------------------------------------- types


@pytest.mark.parametrize(
    ("type_", "is_output", "member", "parameter"),
    [
        ("Tensor", False, "SavedVariable x_;", "const Tensor& x"),
        ("Tensor?", False, "SavedVariable x_;", "const Tensor& x"),
        ("Scalar", True, "SavedVariable x_;", "const Tensor& x"),
        ("Tensor[]", False, "std::vector<SavedVariable> x_;", "const std::vector<Tensor>& x"),
        ("Tensor?[]", False, "std::vector<SavedVariable> x_;", "const c10::List<std::optional<Tensor>>& x"),
        ("Scalar", False, "at::Scalar x;", "const at::Scalar& x"),
        ("Scalar?", False, "std::optional<at::Scalar> x;", "const std::optional<at::Scalar>& x"),
        ("Scalar[]", False, "std::vector<at::Scalar> x;", "const std::vector<at::Scalar>& x"),
        ("int", False, "int64_t x = 0;", "int64_t x"),
        ("int?", False, "std::optional<int64_t> x;", "const std::optional<int64_t>& x"),
        ("int[]", False, "std::vector<int64_t> x;", "const std::vector<int64_t>& x"),
        ("int[]?", False, "c10::OptionalArray<int64_t> x;", "c10::OptionalArray<int64_t>& x"),
        ("int[][]", False, "std::vector<std::vector<int64_t>> x;", "const std::vector<std::vector<int64_t>>& x"),
        ("SymInt", False, "c10::SymInt x;", "const c10::SymInt& x"),
        ("SymInt?", False, "std::optional<c10::SymInt> x;", "const std::optional<c10::SymInt>& x"),
        ("SymInt[]", False, "std::vector<c10::SymInt> x;", "const std::vector<c10::SymInt>& x"),
        ("SymInt[]?", False, "c10::OptionalArray<c10::SymInt> x;", "c10::OptionalArray<c10::SymInt>& x"),
        ("SymInt[][]", False, "std::vector<std::vector<c10::SymInt>> x;", "const std::vector<std::vector<c10::SymInt>>& x"),
        ("float", False, "double x;", "double x"),
        ("float?", False, "std::optional<double> x;", "const std::optional<double>& x"),
        ("float[]?", False, "c10::OptionalArray<double> x;", "c10::OptionalArray<double>& x"),
        ("bool", False, "bool x;", "bool x"),
        ("bool?", False, "std::optional<bool> x;", "const std::optional<bool>& x"),
        ("str", False, "std::string x;", "const std::string& x"),
        ("str?", False, "std::optional<std::string> x;", "std::optional<std::string_view> x"),
        ("ScalarType", False, "at::ScalarType x;", "at::ScalarType x"),
        ("ScalarType?", False, "std::optional<at::ScalarType> x;", "const std::optional<at::ScalarType>& x"),
        ("ScalarType[]", False, "std::vector<at::ScalarType> x;", "const std::vector<at::ScalarType>& x"),
        ("Layout", False, "at::Layout x;", "at::Layout x"),
        ("Device", False, "at::Device x = at::kCPU;", "at::Device x"),
        ("MemoryFormat?", False, "std::optional<at::MemoryFormat> x;", "const std::optional<at::MemoryFormat>& x"),
        ("TensorOptions", False, "at::TensorOptions x;", "const at::TensorOptions& x"),
        ("TensorInfo", False, "TypeAndSize x;", "const TypeAndSize& x"),
        ("TensorGeometry", False, "at::TensorGeometry x;", "const at::TensorGeometry& x"),
    ],
)
def test_every_type_has_a_member_and_a_parameter(type_: str, is_output: bool, member: str, parameter: str) -> None:
    spelling = spell(parsed(type_), is_output)
    assert isinstance(spelling, Spelling)
    value = ir.SavedValue("x", parsed(type_), "output" if is_output else "input", ir.Constant("x"))
    assert f"{spelling.member} {member_name(value)}{spelling.initial};" == member
    assert f"{spelling.parameter}x" == parameter


@pytest.mark.parametrize("type_", ["Generator?", "Dimname[]", "bool[]", "bool[]?", "Storage", "SymFloat"])
def test_some_types_cannot_be_kept(type_: str) -> None:
    assert spell(parsed(type_), False) is None


def parsed(text: str) -> Type:
    if text.endswith("?"):
        return OptionalType(parsed(text[:-1]))
    if text.endswith("[]"):
        return ListType(parsed(text[:-2]))
    return BaseType(text)


# ------------------------------------------------------------------------------------------------------------------- names


def test_reserved_names_are_reported_all_at_once() -> None:
    text = "library lab;\nop f(Tensor self, Tensor register, int class) -> Tensor {\n  self: grad * register * class;\n}\n"
    assert refusals(text) == [
        ("GS0703 2:4", "`lab::f` saves a value called `class`, which C++ reserves"),
        ("GS0703 2:4", "`lab::f` saves a value called `register`, which C++ reserves"),
    ]


@pytest.mark.parametrize("name", ["class", "new", "and", "NULL", "_Upper", "two__scores", "co_await"])
def test_names_that_cxx_keeps(name: str) -> None:
    assert is_cxx_reserved(name)


@pytest.mark.parametrize("name", ["self", "from", "lambda", "None", "_lower", "final", "override", "x1"])
def test_names_that_cxx_leaves(name: str) -> None:
    assert not is_cxx_reserved(name)


def test_a_reserved_name_that_is_not_saved_is_fine() -> None:
    files = emit("library lab;\nop f(Tensor new, int class) -> Tensor {\n  new: grad;\n}\n")
    assert "vjp.flows_to(/*new*/ 0)" in files["Functions.cpp"]


@pytest.mark.parametrize("name", ["vjp", "visitor", "Tensor", "saved_input"])
def test_names_of_the_emitted_code(name: str) -> None:
    ((_, message),) = refusals(f"library lab;\nop f(Tensor self, int {name}) -> Tensor {{\n  self: grad * {name};\n}}\n")
    assert message == f"`lab::f` saves a value called `{name}`, which the emitted code uses itself"


@pytest.mark.parametrize("name", ["mutex_", "name", "apply", "set_next_edges"])
def test_names_of_inherited_members(name: str) -> None:
    ((_, message),) = refusals(f"library lab;\nop f(Tensor self, int {name}) -> Tensor {{\n  self: grad * {name};\n}}\n")
    assert message == f"`lab::f` saves a value as `{name}`, which would hide a member of torch::autograd::Node"


def test_a_function_that_a_parameter_would_hide() -> None:
    text = "library lab;\nextern scale;\nop f(Tensor self, Tensor scale) -> Tensor {\n  self: scale(grad, scale);\n}\n"
    ((_, message),) = refusals(text)
    assert message == "`lab::f` saves a value called `scale`, which is also a function that the formula calls"


def test_two_members_of_one_name() -> None:
    text = "library lab;\nop f(Tensor[] self, int self_size_) -> Tensor {\n  self: at::unbind(grad, self_size_);\n}\n"
    ((where, message),) = refusals(text)
    assert where == "GS0701 2:4"
    assert message == "two members of `FBackward0` would be called `self_size_` in C++ (of `lab::f`)"


def test_a_value_that_cannot_be_kept() -> None:
    text = "library lab;\nop f(Tensor self, Generator? gen) -> Tensor {\n  self: grad.bernoulli(gen);\n}\n"
    assert refusals(text) == [("GS0705 2:4", "a C++ node cannot keep `gen` of type Generator? (of `lab::f`)")]


# ----------------------------------------------------------------------------------------------------------------- options


def test_the_namespace_is_an_option() -> None:
    spec = "library lab;\nop f(Tensor self) -> Tensor {\n  self: grad;\n}\n"
    files = emit(spec, CppOptions(namespace="mine"))
    assert all("namespace mine {" in text and "gradspec::generated" not in text for text in files.values())
    # Names that compiled autograd binds are one for all of a process, and are Python names.
    assert '"mine_" + node.name()' in files["gradspec_tasks.h"]
    inside = emit(spec, CppOptions(namespace="torch::autograd::generated"))
    assert '"" + node.name()' in inside["gradspec_tasks.h"]


def test_the_helpers_are_an_option() -> None:
    spec = 'library lab;\nop f(Tensor self) -> Tensor {\n  self: not_implemented("f");\n}\n'
    source = emit(spec, CppOptions(helpers_header="lab/helpers.h", helpers_namespace="lab::helpers"))["Functions.cpp"]
    assert '#include "lab/helpers.h"\n' in source
    assert "using namespace lab::helpers;\n" in source
    without = emit(spec, CppOptions(helpers_header="", helpers_namespace=""))["Functions.cpp"]
    assert without.count("#include") == 3
    assert without.count("using namespace") == 1


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("namespace", ""),
        ("namespace", "a::"),
        ("namespace", "a b"),
        ("namespace", "class"),
        ("namespace", "a; int x"),
        ("helpers_namespace", "::a"),
        ("helpers_header", 'a"b'),
        ("helpers_header", "a\nb"),
    ],
)
def test_options_that_are_no_cxx(key: str, value: str) -> None:
    options: dict[str, Any] = {key: value}
    with pytest.raises(ValueError, match=key):
        CppOptions(**options)


# ------------------------------------------------------------------------------------------------------------------- nodes


def test_undefined_gradients_are_guarded_for_single_tensors_alone() -> None:
    source = emit(
        "library lab;\nop f(Tensor a, Tensor? b, Tensor[] c, Tensor d, Tensor e, Tensor g) -> Tensor {\n"
        '  a: grad;\n  b: grad;\n  c: at::unbind(grad);\n  d: not_implemented("f");\n'
        "  e, g: std::tuple<Tensor, Tensor>(grad, grad);\n}\n"
    )["Functions.cpp"]
    asked = [line.strip().removeprefix("if (vjp.").removesuffix(") {") for line in source.split("\n") if "if (vjp." in line]
    assert asked == ["flows_to(/*a*/ 0)", "flows_to(/*b*/ 1)", "needs(/*c*/ 2)", "needs(/*d*/ 3)", "needs({/*e*/ 4, /*g*/ 5})"]


def test_gradients_are_named_as_formulas_name_them() -> None:
    source = emit(
        "library lab;\nop f(Tensor self) -> (Tensor L, Tensor M) {\n  self: grad_M + grad_L;\n}\n"
        "op g(Tensor self) -> (Tensor, Tensor) {\n  self: grads[0] + grads[1];\n}\n"
        'op h(Tensor self) -> Tensor {\n  self: not_implemented("h");\n}\n'
    )["Functions.cpp"]
    declared = [line.strip() for line in source.split("\n") if line.startswith("  const auto& ")]
    assert declared == [
        "const auto& grad_L = vjp.grads[0];",
        "const auto& grad_M = vjp.grads[1];",
        "const auto& grads = vjp.grads;",
    ]


def test_the_base_says_whether_a_node_is_traced() -> None:
    header = emit(
        "library lab;\nop f(Tensor self) -> Tensor {\n  self: grad;\n}\nop v(Tensor(a) self) -> Tensor(a) {\n  self: grad;\n}\n"
    )["Functions.h"]
    assert "struct GRADSPEC_CLASS FBackward0 : public NodeOf<TraceableFunction> {" in header
    assert "struct GRADSPEC_CLASS VBackward0 : public NodeOf<Node> {" in header


def test_a_node_that_asks_whether_buffers_are_kept() -> None:
    files = emit(
        "library lab;\nop f(Tensor self) -> Tensor {\n  self: retain_variables ? result.clone() * grad : result * grad;\n}\n"
    )
    assert "bool retain_variables = true;" in files["Functions.h"]
    assert "visitor(FBackward0_gradients, {1}, saved_output(result_), retain_variables);" in files["Functions.cpp"]


def test_no_program_gives_no_node() -> None:
    files = BACKEND.emit(Program(()), CppOptions())
    assert "struct" not in files["Functions.h"]


def test_the_same_program_gives_the_same_bytes() -> None:
    text = SPECS[0].read_text(encoding="utf-8")
    assert emit(text) == emit(text)


def test_comments_cannot_leave_their_line() -> None:
    assert comment("a\nb") == "// a\\nb"
    assert comment("ends in \\") == "// ends in \\ ."
    long = comment("f(" + ", ".join(f"Tensor argument_{i}" for i in range(20)) + ") -> Tensor")
    assert all(line.startswith("//") and len(line) <= WIDTH for line in long.split("\n"))
    assert "".join(line.removeprefix("//").strip() + " " for line in long.split("\n")).count("argument_") == 20
    assert not any(line.endswith("\\") for line in comment("x \\ " * 60).split("\n"))


def test_fill_breaks_where_the_width_ends() -> None:
    assert fill(["aaa", "bbb", "ccc"], 4, 2, width=12) == "aaa,\n  bbb, ccc"


def test_the_guide_shows_what_is_emitted() -> None:
    guide = Path(__file__).resolve().parents[2] / "docs/reviewing-generated-code.md"
    shown = [line.removeprefix("    ") for line in guide.read_text(encoding="utf-8").split("\n") if line.startswith("    ")]
    spec = next(s for s in SPECS if s.stem == "powers")
    files = emit(spec.read_text(encoding="utf-8"))
    emitted = {line for text in files.values() for line in text.split("\n")}
    assert len(shown) > 10
    assert [line for line in shown if line not in emitted] == []


# --------------------------------------------------------------------------------------------------------------- snapshots


@pytest.mark.parametrize("spec", SPECS, ids=[s.stem for s in SPECS])
def test_header(spec: Path, snapshot: SnapshotAssertion) -> None:
    assert emit(spec.read_text(encoding="utf-8"))["Functions.h"] == snapshot(extension_class=as_file("h"))


@pytest.mark.parametrize("stem", ["functions", "folds"])
def test_functions(stem: str, snapshot: SnapshotAssertion) -> None:
    spec = next(s for s in SPECS if s.stem == stem)
    assert emit(spec.read_text(encoding="utf-8"))["Helpers.cpp"] == snapshot(extension_class=as_file("cpp"))


@pytest.mark.parametrize("spec", SPECS, ids=[s.stem for s in SPECS])
def test_source(spec: Path, snapshot: SnapshotAssertion) -> None:
    assert emit(spec.read_text(encoding="utf-8"))["Functions.cpp"] == snapshot(extension_class=as_file("cpp"))
