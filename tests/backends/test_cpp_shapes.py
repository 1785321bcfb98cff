"""The shapes of a node: what they share, what each says differently, and snapshots of some specs in all of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from attrs import evolve
from compiling import compile_op, diagnose, place
from snapshots import as_file
from syrupy.assertion import SnapshotAssertion

from gradspec.diagnostics import SpecError
from gradspec.ir import Program, called_functions
from gradspec.pipeline import compile_files
from gradspec_cpp import BACKEND
from gradspec_cpp.emit import CppOptions
from gradspec_cpp.expr import emit_expr
from gradspec_cpp.shapes import SHAPES
from gradspec_cpp.shapes.apply.torch_1_8 import translate

REPO = Path(__file__).resolve().parents[2]
SPECS = sorted((REPO / "specs").glob("*.grad"))
LIB = "library lab;\n"


def emit(text: str, shape: str) -> dict[str, str]:
    """The files of a right spec."""
    program, found = diagnose(text)
    assert program is not None, [f"{place(d)} {d.message}" for d in found]
    return emit_program(program, shape)


def emit_program(program: Program, shape: str) -> dict[str, str]:
    return dict(BACKEND.emit(program, CppOptions(shape=shape, shards=1)))


@pytest.fixture(scope="module")
def everything() -> Program:
    """All of our specs but for what calls functions, for which the oldest shape has no form."""
    program = compile_files(SPECS).program
    plain = [o for o in program.ops if not called_functions(program.functions, [d.formula for d in o.derivatives])]
    return evolve(program, ops=tuple(plain), functions=())


def test_functions_in_an_old_shape() -> None:
    program = compile_files([REPO / "specs/functions.grad", REPO / "specs/folds.grad"]).program
    with pytest.raises(SpecError) as caught:
        emit_program(program, "apply")
    assert [d.code.id for d in caught.value.diagnostics] == ["GS0906"] * 4
    for shape in ("packed", "functional"):
        assert "product_vjp" in emit_program(program, shape)["Helpers.cpp"]


# ---------------------------------------------------------------------------------------------------------------- options


def test_the_default_is_for_the_torch_of_today() -> None:
    assert CppOptions().shape == "torch-2.13"
    assert list(SHAPES) == ["torch-2.13", "apply", "functional", "packed"]


@pytest.mark.parametrize("shape", ["", "torch", "Apply", "torch-2.13 "])
def test_an_unknown_shape(shape: str) -> None:
    with pytest.raises(ValueError, match=f"shape={shape} is not a shape; write one of torch-2.13, apply, functional, packed"):
        CppOptions(shape=shape)


# ------------------------------------------------------------------------------------------------------------------ alike


def members(header: str) -> list[str]:
    """The data members of all classes, in their order, in the words of torch 2.13."""
    lines = [line.strip() for line in header.split("\n") if line.startswith("  ") and line.endswith(";")]
    lines = [line for line in lines if "(" not in line and not line.startswith("using ")]
    return [line.replace("c10::optional<", "std::optional<") for line in lines]


@pytest.mark.parametrize("shape", ["apply", "functional", "packed"])
def test_members_keep_their_names(shape: str, everything: Program) -> None:
    usual = members(emit_program(everything, "torch-2.13")["Functions.h"])
    here = members(emit_program(everything, shape)["Functions.h"])
    assert len(usual) > 200
    if shape == "apply":
        # Symbolic ints are plain ones there.
        usual = [line.replace("c10::SymInt", "int64_t") for line in usual]
        here = [
            line.removesuffix(" = 0;") + ";" if line.startswith("int64_t ") and line.endswith(" = 0;") else line for line in here
        ]
        usual = [
            line.removesuffix(" = 0;") + ";" if line.startswith("int64_t ") and line.endswith(" = 0;") else line for line in usual
        ]
    assert here == usual


@pytest.mark.parametrize(("shape", "most"), [("torch-2.13", 23), ("apply", 30), ("functional", 26), ("packed", 32)])
def test_lines_a_node(shape: str, most: int, everything: Program) -> None:
    files = emit_program(everything, shape)
    lines = sum(files[name].count("\n") for name in ("Functions.h", "Functions.cpp"))
    assert lines / len(everything.nodes) < most


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_program_gives_the_same_bytes(shape: str, everything: Program) -> None:
    assert emit_program(everything, shape) == emit_program(everything, shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_all_that_is_included_is_emitted(shape: str) -> None:
    files = emit(LIB + "op f(Tensor self) -> Tensor {\n  self: grad;\n}\n", shape)
    included = {line.split('"')[1] for text in files.values() for line in text.split("\n") if line.startswith('#include "')}
    # A header of helpers is emitted for every spec, and included where a formula calls one.
    helpers = {"torch/csrc/autograd/FunctionsManual.h", "gradspec_helpers.h"}
    assert included - helpers == files.keys() - {"Functions.cpp", *helpers}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_name_of_the_spec_hides_one_of_the_code(shape: str) -> None:
    for name in sorted(SHAPES[shape].speech.internal):
        program, _ = diagnose(LIB + f"op f(Tensor self, int {name}) -> Tensor {{\n  self: grad * {name};\n}}\n")
        if program is None:
            # The language keeps some names for itself.
            continue
        with pytest.raises(SpecError) as refused:
            emit_program(program, shape)
        assert any("which the emitted code uses itself" in found.message for found in refused.value.diagnostics), name


def test_a_name_that_one_shape_uses_is_free_in_another() -> None:
    text = LIB + "op f(Tensor self, int wanted) -> Tensor {\n  self: grad * wanted;\n}\n"
    assert "int64_t wanted = 0;" in emit(text, "torch-2.13")["Functions.h"]
    with pytest.raises(SpecError):
        emit(text, "apply")


# ------------------------------------------------------------------------------------------------------------------ apply


def test_apply_guards_formulas_by_their_ranges() -> None:
    source = emit(
        LIB + "extern both;\nop f(Tensor a, Tensor[] b, Tensor c, Tensor d) -> Tensor {\n"
        "  a: grad;\n  b: at::unbind(grad);\n  c, d: both(grad, grad_input_mask);\n}\n",
        "apply",
    )["Functions.cpp"]
    lines = [line.strip() for line in source.split("\n")]
    assert "auto b_ix = gen.range(b_size_);" in lines
    assert "if (any_grad_defined && should_compute_output({a_ix})) {" in lines
    assert "if (should_compute_output({b_ix})) {" in lines
    assert "if (should_compute_output({c_ix, d_ix})) {" in lines
    assert "auto grad_input_mask = wanted(*this, {c_ix, d_ix});" in lines


def test_apply_releases_what_it_keeps_under_the_mutex() -> None:
    files = emit(
        LIB + "op f(Tensor self, Tensor[] more, Scalar[] s) -> Tensor {\n  self: grad * self * more[0] * s[0];\n}\n", "apply"
    )
    body = files["Functions.cpp"].partition("::release_variables() {\n")[2].partition("}")[0]
    assert [line.strip() for line in body.strip().split("\n")] == [
        "std::lock_guard<std::mutex> lock(mutex_);",
        "release(more_, more_released_, s, s_released_, self_);",
    ]
    reset = files["gradspec_node.h"].partition("inline void release(SavedVariable& saved) {\n")[2].partition("}")[0]
    assert "saved.reset_data();" in reset
    assert "saved.reset_grad_function();" in reset


def test_apply_without_anything_to_release() -> None:
    files = emit(LIB + "op f(Tensor self, int n) -> Tensor {\n  self: grad * n;\n}\n", "apply")
    emitted = files["Functions.h"] + files["Functions.cpp"]
    assert "release" not in emitted
    assert "mutex" not in emitted


def test_apply_asks_for_kept_buffers_where_a_formula_does() -> None:
    text = LIB + "op f(Tensor self) -> Tensor {\n  self: retain_variables ? grad.clone() : grad;\n}\n"
    assert "void will_release_variables() override { retain_variables = false; }" in emit(text, "apply")["Functions.h"]
    assert "will_release" not in emit(text.replace("retain_variables ? grad.clone() : ", ""), "apply")["Functions.h"]


def test_apply_knows_nothing_that_came_later(everything: Program) -> None:
    files = emit_program(everything, "apply").values()
    # Comments tell the schemas of today.
    text = "\n".join(line for file in files for line in file.split("\n") if not line.startswith("//"))
    for later in (
        "SymInt",
        "symint(",
        "std::optional",
        "std::nullopt",
        "string_view",
        "compiled",
        "getptr",
        "task_should",
        "::generated {",
    ):
        assert later not in text, later


@pytest.mark.parametrize(
    ("formula", "old"),
    [
        ("grad.sum_to_size(self.sym_sizes())", "grad.sum_to_size(self_sym_sizes)"),
        ("grad * grad.sym_size(0)", "grad * grad.size(0)"),
        ("grad.expand_symint(grad.sym_sizes())", "grad.expand(grad.sizes())"),
        ("grad / grad.sym_numel()", "grad / grad.numel()"),
        ("at::zeros_symint(grad.sym_sizes(), grad.options())", "at::zeros(grad.sizes(), grad.options())"),
        ("grad.mT()", "grad.transpose(-2, -1)"),
        ("grad.mH()", "grad.transpose(-2, -1).conj()"),
        ("at::conj_physical(grad)", "at::conj(grad)"),
        ("at::empty({}, std::nullopt)", "at::empty({}, c10::nullopt)"),
        (
            "grad.reshape_symint(std::vector<c10::SymInt>{1, grad.sym_size(0)})",
            "grad.reshape(std::vector<int64_t>{1, grad.size(0)})",
        ),
        ("use(std::make_optional<Tensor>())", "use(c10::optional<Tensor>(Tensor()))"),
        ("use(std::make_optional(grad))", "use(c10::make_optional(grad))"),
        ("fmap(grads, [](Tensor x) { return x.mT(); })[0]", "fmap(grads, [](Tensor x) { return x.transpose(-2, -1); })[0]"),
    ],
)
def test_formulas_in_the_words_of_torch_1_8(formula: str, old: str) -> None:
    op = compile_op(LIB + f"extern use;\nop f(Tensor self) -> Tensor {{\n  self: {formula};\n}}\n")
    assert emit_expr(translate(op.derivatives[0].formula)) == old


def test_a_function_that_a_member_would_hide() -> None:
    text = LIB + "extern device;\nop f(Tensor self) -> Tensor {\n  self: device(grad);\n}\n"
    assert "vjp.set(0, device(grad))" in emit(text, "torch-2.13")["Functions.cpp"]
    with pytest.raises(SpecError) as refused:
        emit(text, "apply")
    (found,) = refused.value.diagnostics
    assert (place(found), found.message) == (
        "GS0703 3:4",
        "`lab::f` calls `device`, which within its node is a member of torch::autograd::Node",
    )


@pytest.mark.parametrize("name", ["self_ix", "lock", "gen"])
def test_names_of_the_body_of_apply(name: str) -> None:
    with pytest.raises(SpecError):
        emit(LIB + f"op f(Tensor self, int {name}) -> Tensor {{\n  self: grad * {name};\n}}\n", "apply")


# ----------------------------------------------------------------------------------------------------- functional, packed


@pytest.mark.parametrize("shape", ["functional", "packed"])
def test_the_function_reads_its_parameters_alone(shape: str) -> None:
    source = emit(
        LIB + "op f(Tensor[] self, int n, Tensor w) -> Tensor {\n"
        "  self: retain_variables ? at::unbind(grad * n) : at::unbind(grad * w);\n}\n",
        shape,
    )["Functions.cpp"]
    head = " ".join(source.partition("FBackward0_apply_functional(")[2].partition(") {")[0].split())
    assert head == (
        "const variable_list& grads, std::array<bool, 1> needs_input_grad, size_t self_size_, int64_t n, const Tensor& w, "
        "bool retain_variables"
    )
    shown = " ".join(source.partition("  visitor(")[2].partition(");\n}")[0].split())
    assert shown.endswith("{self_size_}, self_size_, n, saved_input(w_), retain_variables")


def test_packed_has_a_twin_for_each_node(everything: Program) -> None:
    source = emit_program(everything, "packed")["Functions.cpp"]
    assert source.count("return apply_packed(") == len(everything.nodes)
    assert "_ivalue" not in emit_program(everything, "functional")["Functions.cpp"]


# ------------------------------------------------------------------------------------------------------------------- page


@pytest.mark.parametrize("shape", SHAPES)
def test_the_page_shows_what_is_emitted(shape: str) -> None:
    page = (REPO / "docs/shapes.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## `{shape}`\n")[2].partition("\n## ")[0]
    blocks = [block for block in section.split("\n\n") if block.startswith("    ")]
    code = [block for block in blocks if "GeometricMeanBackward0" in block]
    assert len(code) >= 2
    emitted = emit_program(compile_files([REPO / "specs/powers.grad"]).program, shape)["Functions.cpp"]
    for block in code:
        text = "\n".join(line.removeprefix("    ") for line in block.split("\n"))
        assert text.strip("\n") in emitted


def test_the_page_shows_the_spec() -> None:
    page = (REPO / "docs/shapes.md").read_text(encoding="utf-8")
    spec = (REPO / "specs/powers.grad").read_text(encoding="utf-8")
    block = next(block for block in page.split("\n\n") if block.startswith("    op "))
    assert "\n".join(line.removeprefix("    ") for line in block.split("\n")) in spec


def test_the_page_names_every_shape_in_order() -> None:
    page = (REPO / "docs/shapes.md").read_text(encoding="utf-8")
    places = [page.index(f"\n| `{shape}`") for shape in SHAPES]
    assert all(a < b for a, b in pairwise(places))


# -------------------------------------------------------------------------------------------------------------- snapshots


SHOWN = [spec for spec in SPECS if spec.stem in ("foreach", "lists", "powers", "several_outputs", "sizes")]
each_shape = pytest.mark.parametrize("shape", ["apply", "functional", "packed"])
each_shown = pytest.mark.parametrize("spec", SHOWN, ids=[spec.stem for spec in SHOWN])


@each_shape
@each_shown
def test_source(spec: Path, shape: str, snapshot: SnapshotAssertion) -> None:
    assert emit_program(compile_files([spec]).program, shape)["Functions.cpp"] == snapshot(extension_class=as_file("cpp"))


@each_shown
def test_header_of_apply(spec: Path, snapshot: SnapshotAssertion) -> None:
    # The headers of the other shapes are those of the default, which have snapshots of their own.
    assert emit_program(compile_files([spec]).program, "apply")["Functions.h"] == snapshot(extension_class=as_file("h"))


@pytest.mark.parametrize("shape", ["functional", "packed"])
def test_other_headers_are_those_of_the_default(shape: str, everything: Program) -> None:
    assert emit_program(everything, shape)["Functions.h"] == emit_program(everything, "torch-2.13")["Functions.h"]
