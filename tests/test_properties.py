"""Properties of all inputs: what is printed reads back, and no input ends in a traceback."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from compiling import diagnose
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from shapes import parse, shape, shape_of_ir
from strategies import FORMULAS, SCHEMA_TYPES, damaged, functions, schemas, specs

from gradspec import ir
from gradspec.cli import cli
from gradspec.diagnostics import Diagnostics, as_record, render_text
from gradspec.fmt import format_spec
from gradspec.parse import parse_schema
from gradspec.parse.formula import MAX_NESTING, string_value
from gradspec.parse.schema import parse_type
from gradspec.printer import print_expr, print_program, quote
from gradspec.read_ir import read_program
from gradspec.source import Excerpt, Source, Span
from gradspec.types import Type

# The fixtures used here are folders and runners: examples may share them.
relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

# -------------------------------------------------------------------------------------------------------------- round trips


@given(FORMULAS)
@settings(relaxed, max_examples=300)
def test_a_printed_formula_is_read_as_it_was(formula: ir.Expr) -> None:
    assert shape(parse(print_expr(formula))) == shape_of_ir(formula)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_quoted_string_means_what_it_did(value: str) -> None:
    assert string_value(quote(value)) == value
    assert shape(parse(quote(value))) == ("string", value)


@given(SCHEMA_TYPES)
def test_a_printed_type_is_read_as_it_was(type_: Type) -> None:
    assert parse_type(str(type_)) == (type_, None)


@given(schemas())
def test_a_printed_schema_is_read_as_it_was(schema: ir.Schema) -> None:
    diagnostics = Diagnostics()
    assert parse_schema(Excerpt.of_text(str(schema)), diagnostics) == schema, diagnostics.all


@given(specs())
@settings(relaxed, max_examples=150)
def test_a_printed_program_is_read_as_it_was(text: str) -> None:
    program, _ = diagnose(text)
    assume(program is not None)
    assert program is not None
    assert read_program(print_program(program)).ops == program.ops


@given(functions())
@settings(relaxed, max_examples=200)
def test_a_printed_function_is_read_as_it_was(function: ir.Function) -> None:
    text = print_program(ir.Program((), functions=(function,)))
    (read,) = read_program(text).functions
    assert (read.schema, read.statements, read.result) == (function.schema, function.statements, function.result)
    laid_out = format_spec(Source("x.grad", text), Diagnostics())
    assert laid_out is not None
    assert format_spec(Source("x.grad", laid_out), Diagnostics()) == laid_out
    (again,) = read_program(laid_out).functions
    assert again.expressions == function.expressions


@given(
    st.integers(1, MAX_NESTING - 3), st.sampled_from(["-{}", "f({})", "({} + a)", "{}.f()", "{{{}}}", "{}[0]", "(a ? b : {})"])
)
def test_depth_costs_no_stack(depth: int, step: str) -> None:
    text = "a"
    for _ in range(depth):
        text = step.format(text)
    program, found = diagnose(f"extern f, a, b; op g(Tensor self) -> Tensor {{ self: grad * {text}; }}")
    assert program is not None or {d.code.id for d in found} <= {"GS0401", "GS0901", "GS0904", "GS0903"}


# ------------------------------------------------------------------------------------------------------------------- places

WORDS = st.lists(st.from_regex(r"[a-z]{1,4}[0-9]", fullmatch=True), min_size=1, max_size=6)
FLOW_GAPS = st.sampled_from([" ", "  ", "\n   ", "\n\n   ", " \n \n    "])


@given(WORDS, st.data())
def test_words_of_a_yaml_scalar_are_found_in_the_file(words: list[str], data: st.DataObject) -> None:
    style = data.draw(st.sampled_from(["plain", "'", '"', "|", ">"]))
    if style in "|>":
        indent = data.draw(st.integers(1, 4))
        lines = [
            " " * indent + data.draw(st.sampled_from(["", "", "  "])) + w + data.draw(st.sampled_from(["", " "])) for w in words
        ]
        gap = data.draw(st.sampled_from(["\n", "\n\n", "\n \n"]))
        first_is_deeper = lines[0][indent] == " "
        head = style + (str(indent) if first_is_deeper else "") + data.draw(st.sampled_from(["", "-", "+"]))
        document = f"self: {head}\n{gap.join(lines)}\n"
    else:
        quote_mark = "" if style == "plain" else style
        gaps = {"": FLOW_GAPS, "'": st.one_of(FLOW_GAPS, st.just("''")), '"': st.one_of(FLOW_GAPS, ESCAPES)}[quote_mark]
        document = f"self: {quote_mark}{words[0]}{''.join(data.draw(gaps) + w for w in words[1:])}{quote_mark}\n"
    events = [e for e in yaml.parse(document, Loader=yaml.SafeLoader) if isinstance(e, yaml.ScalarEvent)]
    value = events[1]
    assert value.start_mark is not None
    assert value.end_mark is not None
    span = Span(Source("d", document), value.start_mark.index, value.end_mark.index)
    excerpt = Excerpt(value.value, span, value.style if value.style in ("'", '"') else "")
    for word in words:
        at = excerpt.text.find(word)
        assert at >= 0
        place = excerpt.place(at, at + len(word))
        assert document[place.start : place.end] == word


ESCAPES = st.sampled_from(
    ["\\n", "\\t", "\\x20", " \\\n   ", "\\\n  \n   ", "\\u0041", "\\U00000042 ", '\\"', "\\\\", " \\ \n  "]
)

# ------------------------------------------------------------------------------------------------------------ no traceback

GRAD = """\
library mine;
extern helper, mine::other;
// what it is for
op mul.Tensor(Tensor self, Tensor other, *, int[2] d=[0, 1], str s="a, b") -> (Tensor a, Tensor b) {
  output_differentiability: [True, False];
  self: grad * other.conj() + at::where(self > 0, {1, 2}, 3.5e-3)[0];
  other: grad.defined() ? grad * self.sym_size(-1) : Tensor();
  a: other_t * self_p + self_t * other_p;
  dispatch AutogradCUDA {
    self, other: std::tuple<Tensor, Tensor>(grad, grad_input_mask[1] ? grad : std::get<0>(helper(grad, "x\\"y")));
  }
}
op exp_(Tensor(a!) self) -> Tensor(a!) { self: grad * result; result: auto_linear; }
op _foreach_exp(Tensor[] self) -> Tensor[] { self: grads[i] * result[i]; }
"""
FUNCTIONS = """\
// What is there.
fn total(Tensor[] grads, int n=2, str how="a") -> Tensor {
  let there, rest = ([g for g in grads if g.defined()], n / 2);
  if (there.empty()) return Tensor();  // nothing
  return fold(sum = at::zeros_like(there[0]); g, i in zip(there, range(rest)); sum + g * i);
}

fn halves(Tensor a) -> (Tensor, Tensor) {
  /* both */
  return (a / 2, a - a / 2);
}

op lab::f(Tensor[] xs, Tensor y) -> Tensor[] {
  forward: xs;
  xs: {total(grads), std::get<1>(halves(y))};
  y: total(grads, 3);
}
"""
DERIVATIVES = """\
- name: foo(Tensor self, Tensor other) -> Tensor
  self: grad * other.conj()
  "other": 'at::where(self > 0, grad, 0) /* why */'
  result: auto_linear
- name: two(Tensor self, int? k=None) -> (Tensor a, Tensor b)
  output_differentiability: [True, False]
  dispatch:
    Default:
      self: "grad_a *
        self.numel()"
    AutogradNestedTensor:
      self: |
        not_implemented("x")
"""
NATIVE = """\
- func: foo(Tensor self, Tensor other) -> Tensor
  variants: function, method
- func: foo_copy(Tensor self, Tensor other) -> Tensor
- func: two(Tensor self, int? k=None) -> (Tensor a, Tensor b)
- func: _foreach_foo.List(Tensor[] self, Tensor[] other) -> Tensor[]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    """The command line in this process; whatever it does, it must end with an exit code of ours."""
    result = CliRunner().invoke(cli, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1, 2)
    return result


@given(damaged(GRAD), st.sampled_from(["check", "ir", "fmt", "emit"]))
@settings(relaxed, max_examples=250)
def test_a_damaged_grad_file(folder: Path, text: str, command: str) -> None:
    (folder / "x.grad").write_bytes(text.encode())
    extra = ["-b", "cpp", "-o", "out"] if command == "emit" else ["--check"] if command == "fmt" else []
    run(command, "x.grad", *extra)


@given(damaged(FUNCTIONS), st.sampled_from(["check", "ir", "fmt", "emit"]))
@settings(relaxed, max_examples=250)
def test_damaged_functions(folder: Path, text: str, command: str) -> None:
    (folder / "x.grad").write_bytes(text.encode())
    extra = ["-b", "python", "-o", "out", "-O", "skip=true"] if command == "emit" else ["--check"] if command == "fmt" else []
    run(command, "x.grad", *extra)
    for diagnostic in diagnose(text)[1]:
        assert diagnostic.span is not None
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)


@given(damaged(DERIVATIVES), st.sampled_from(["check", "ir", "import"]))
@settings(relaxed, max_examples=250)
def test_a_damaged_derivatives_file(folder: Path, text: str, command: str) -> None:
    (folder / "d.yaml").write_bytes(text.encode())
    (folder / "n.yaml").write_text(NATIVE)
    run(command, "d.yaml", "--schemas", "n.yaml")


@given(damaged(NATIVE))
@settings(relaxed, max_examples=150)
def test_a_damaged_native_functions_file(folder: Path, text: str) -> None:
    (folder / "d.yaml").write_text(DERIVATIVES)
    (folder / "n.yaml").write_bytes(text.encode())
    run("check", "d.yaml", "--schemas", "n.yaml")


FORMULA_PIECES = st.text(
    st.one_of(st.sampled_from("()[]{}<>.,:;?!~*&|^%+-/\"'\\ \n\t0189eExXuULlfab_"), st.characters(codec="utf-8"))
)


@given(
    st.one_of(
        FORMULA_PIECES,
        st.text(string.printable),
        damaged('grad * h(self, {1, 2}, "x")[0] ? std::get<0>(a) : [](T x) { return x; }'),
    )
)
@settings(relaxed, max_examples=300)
def test_any_text_as_a_formula(text: str) -> None:
    name = "- name: foo(Tensor self, Tensor other) -> Tensor\n  self: "
    entry = yaml.safe_dump(text, allow_unicode=True, width=80) if text.isprintable() else yaml.safe_dump(text)
    for where, schemas_ in ((f"op foo(Tensor self) -> Tensor {{ self: {text}; }}", None), (name + entry, NATIVE)):
        _, found = diagnose(where, schemas_)
        for diagnostic in found:
            assert diagnostic.span is None or 0 <= diagnostic.span.start <= diagnostic.span.end <= len(where) + len(NATIVE)
            render_text(diagnostic).encode()
            as_record(diagnostic)


@given(st.binary(max_size=200), st.sampled_from(["x.grad", "x.yaml"]), st.sampled_from(["check", "fmt", "import"]))
@settings(relaxed, max_examples=200)
def test_any_bytes_as_a_file(folder: Path, data: bytes, name: str, command: str) -> None:
    (folder / name).write_bytes(data)
    run(command, name, *(["--schemas", name] if name == "x.yaml" and command != "fmt" else []))


@given(specs(), st.sampled_from(["cpp", "python"]))
@settings(relaxed, max_examples=60)
def test_what_is_right_is_emitted_or_refused(folder: Path, text: str, backend: str) -> None:
    (folder / "x.grad").write_text(text)
    checked = run("check", "x.grad")
    emitted = run("emit", "x.grad", "-b", backend, "-o", "out")
    if checked.exit_code:
        assert emitted.exit_code == checked.exit_code
