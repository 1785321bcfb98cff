"""Our own specs: small, in canonical form, free of findings, and together a use of everything that the language has."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from compiling import findings
from lark import Lark
from snapshots import as_file
from syrupy.assertion import SnapshotAssertion

from gradspec import ir
from gradspec.backend import load_backend
from gradspec.diagnostics import Diagnostics
from gradspec.fmt import format_spec
from gradspec.grammar import grammar_folder
from gradspec.ir import Program
from gradspec.load import find_torch
from gradspec.parse.concrete import Block, Layout, Rule, parse_layout
from gradspec.pipeline import compile_files
from gradspec.printer import print_program
from gradspec.saved import _FUNCTION_PROPERTIES, PROPERTY_METHODS, property_of
from gradspec.source import Source

SPECS = sorted((Path(__file__).parent.parent / "specs").glob("*.grad"))
each_spec = pytest.mark.parametrize("path", SPECS, ids=[path.stem for path in SPECS])


@cache
def program_of(path: Path) -> Program:
    return compile_files([path]).program


@cache
def all_specs() -> Program:
    return compile_files(SPECS).program


def emitted(program: Program) -> Mapping[str, str]:
    backend = load_backend("cpp")
    return backend.emit(program, backend.Options())


# ------------------------------------------------------------------------------------------------------------ each of them


def test_there_are_enough() -> None:
    assert len(SPECS) >= 30


@each_spec
def test_small_and_with_a_comment_for_each_op(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert 5 <= len(lines) <= 50
    assert max(map(len, lines)) <= 100
    for above, line in pairwise(lines):
        assert not line.startswith("op ") or above.startswith("//"), line


@each_spec
def test_no_findings(path: Path) -> None:
    assert compile_files([path]).diagnostics == ()


@each_spec
def test_canonical(path: Path) -> None:
    text = path.read_text()
    assert format_spec(Source(str(path), text), Diagnostics()) == text


# ------------------------------------------------------------------------------------------------------------- all of them

# Alternatives of the grammars that no spec can show: each with a text that uses it, and what comes of that.
ONLY_REPORTED = {
    "start: ": ("", ["GS0111 1:1"]),
    "fn: _FN schema CURLY_OPEN CURLY_CLOSE": ("fn f(Tensor x) -> Tensor {\n}\n", ["GS0201 1:27"]),
    "rule: key COLON SEMICOLON": ("op f(Tensor x) -> Tensor {\n  x: ;\n}\n", ["GS0208 2:5"]),
}
WRITTEN_OTHERWISE = {
    "returns: LPAR return_ RPAR": ("op f(Tensor x) -> (Tensor) {}\n", "op f(Tensor x) -> Tensor {}\n"),
}


def recording_parser(name: str, used: set[str]) -> Lark:
    """A parser for one of our grammars that notes each alternative that it takes.

    Lark expands each rule into alternatives without options and repetitions; those that it makes for repetitions are left out.
    """
    folder = str(grammar_folder())
    parser = Lark.open(
        f"{folder}/{name}.lark",
        parser="lalr",
        lexer="contextual",
        import_paths=[folder],
        start=["start", "body"] if name == "formula" else "start",
        maybe_placeholders=False,
    )
    callbacks: dict[Any, Callable[..., Any]] = parser._callbacks

    def recording(spelled: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def record(children: list[Any]) -> Any:
            used.add(spelled)
            return call(children)

        return record

    for rule, call in callbacks.items():
        callbacks[rule] = recording(spell(rule), call)
    return parser


def spell(rule: Any) -> str:
    return f"{rule.origin.name}: {' '.join([symbol.name for symbol in rule.expansion])}"


def alternatives(parser: Lark) -> set[str]:
    return {spell(rule) for rule in parser._callbacks if not rule.origin.name.startswith("__")}


def schemas_and_formulas(text: str, layout: Layout) -> Iterator[tuple[str, str, str]]:
    """The grammar, its start and the text of each schema, formula and body of a function of a file."""
    for op in layout.items:
        if not isinstance(op, Block):
            continue
        yield "schema", "start", text[slice(*op.head)]
        if op.keyword == "fn":
            yield "formula", "body", text[op.opened + 1 : op.closed]
            continue
        for member in op.members:
            for rule in [member] if isinstance(member, Rule) else member.members:  # type: ignore[union-attr]
                assert isinstance(rule, Rule)
                if not text.startswith("[", rule.formula[0]):
                    yield "formula", "start", text[slice(*rule.formula)]


@pytest.mark.parametrize("name", ["spec", "schema", "formula"])
def test_every_alternative_of_the_grammar_is_used(name: str) -> None:
    used: set[str] = set()
    parser = recording_parser(name, used)
    for path in SPECS:
        text = path.read_text()
        parts = [("spec", "start", text), *schemas_and_formulas(text, parse_layout(text))]
        for grammar, start, part in parts:
            if grammar == name:
                parser.parse(part, start=start)
    assert sorted(alternatives(parser) - used - ONLY_REPORTED.keys() - WRITTEN_OTHERWISE.keys()) == []


@pytest.mark.parametrize("alternative", ONLY_REPORTED)
def test_an_alternative_is_left_out_as_it_is_only_reported(alternative: str) -> None:
    text, wanted = ONLY_REPORTED[alternative]
    used: set[str] = set()
    recording_parser("spec", used).parse(text)
    assert alternative in used
    assert findings(text) == wanted


@pytest.mark.parametrize("alternative", WRITTEN_OTHERWISE)
def test_an_alternative_is_left_out_as_the_canonical_form_has_another(alternative: str) -> None:
    text, canonical = WRITTEN_OTHERWISE[alternative]
    used: set[str] = set()
    recording_parser("schema", used).parse(text.removeprefix("op ").removesuffix(" {}\n"))
    assert alternative in used
    assert format_spec(Source("x.grad", text), Diagnostics()) == canonical


def expressions(program: Program) -> Iterator[ir.Expr]:
    """Every part of every formula, over inputs and outputs and over saved values, and of every function."""
    for function in program.functions:
        yield from function.walk()
    for op in program.ops:
        for formula in [f for d in op.derivatives for f in (d.written, d.formula)] + [j.formula for j in op.jvps]:
            yield from ir.walk(formula)


def test_every_kind_of_expression_is_used() -> None:
    assert {type(e) for e in expressions(all_specs())} == set(get_args(ir.Expr))


def test_every_operator_is_used() -> None:
    used = list(expressions(all_specs()))
    assert {e.op for e in used if isinstance(e, ir.Unary)} == set(get_args(ir.UnaryOperator))
    assert {e.op for e in used if isinstance(e, ir.Binary)} == set(get_args(ir.BinaryOperator))


def test_every_property_that_can_be_saved_is_asked_for() -> None:
    asked = {
        e.name if isinstance(e, ir.Method) else e.function.removeprefix("at::")
        for e in expressions(all_specs())
        if isinstance(e, ir.Method | ir.Call) and property_of(e) is not None
    }
    assert asked == {*PROPERTY_METHODS, *_FUNCTION_PROPERTIES}


def test_every_type_that_torch_saves_is_saved() -> None:
    files = find_torch(None)
    torch_ops = compile_files([files.derivatives], files.native_functions).program.ops
    saved = {(str(v.type), v.origin) for op in all_specs().ops for v in op.saved}
    assert {(str(v.type), v.origin) for op in torch_ops for v in op.saved} - saved == set()


def test_every_trait_of_an_op_is_used() -> None:
    program = all_specs()
    ops = program.ops
    assert {i.state for op in ops for i in op.inputs} == {"differentiable", "non_differentiable", "unmentioned"}
    assert {o.differentiable for op in ops for o in op.outputs} == {True, False}
    assert {j.auto for op in ops for j in op.jvps} == {"", "linear", "element_wise"}
    assert {e.original for e in expressions(program) if isinstance(e, ir.Tangent)} == {True, False}
    assert {e.original for e in expressions(program) if isinstance(e, ir.Primal)} == {True, False}
    for trait in (
        lambda op: op.schema.is_inplace,
        lambda op: op.schema.returns_view,
        lambda op: op.foreach,
        lambda op: op.traceable,
        lambda op: op.uses_retain_variables,
        lambda op: op.named_gradients,
        lambda op: op.differentiable_if is not None,
        lambda op: op.dispatch != "Default",
        lambda op: op.node is None,
        lambda op: any(len(d.inputs) > 1 for d in op.derivatives),
        lambda op: any(len(j.outputs) > 1 for j in op.jvps),
        lambda op: len({op.name.library for op in ops}) > 1,
    ):
        assert {bool(trait(op)) for op in ops} >= {True}


# -------------------------------------------------------------------------------------------------------------- snapshots


@each_spec
def test_ir(path: Path, snapshot: SnapshotAssertion) -> None:
    assert print_program(program_of(path)) == snapshot(extension_class=as_file("ir"))


@pytest.mark.slow
def test_the_emitted_cpp_compiles(tmp_path: Path) -> None:
    for name, text in emitted(all_specs()).items():
        (tmp_path / name).write_text(text)
    include = Path(sysconfig.get_path("purelib")) / "torch" / "include"
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    systems = [f"-isystem{folder}" for folder in (include, include / "torch/csrc/api/include")]
    externs = Path(__file__).parent / "spec_externs.h"
    sources = [tmp_path / name for name in sorted(p.name for p in tmp_path.glob("*.cpp"))]
    command = ["g++", *flags, *systems, "-include", str(externs), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
