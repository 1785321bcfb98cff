"""Files in the .grad language: what is read, what is said of a wrong one, and what is still read of it."""

from __future__ import annotations

import pytest
from compiling import compile_op, compile_ops, diagnose, findings

from gradspec.diagnostics import Diagnostics
from gradspec.parse import parse_spec
from gradspec.printer import print_expr
from gradspec.source import Source
from gradspec.syntax import Spec


def parse(text: str) -> Spec:
    """A file that must be right."""
    diagnostics = Diagnostics()
    spec = parse_spec(Source("x.grad", text), diagnostics)
    assert diagnostics.all == ()
    return spec


def formula(text: str) -> str:
    """The backward formula of an op's `self`, printed again."""
    return print_expr(compile_op(f"op f(Tensor self, Tensor other) -> Tensor {{ self: {text}; }}").derivatives[0].written)


# -------------------------------------------------------------------------------------------------------------- right files


def test_an_op() -> None:
    (entry,) = parse("op f(Tensor self, int n) -> Tensor { self: grad * n; }").entries
    assert str(entry.schema) == "f(Tensor self, int n) -> Tensor"
    (block,) = entry.blocks
    assert block.dispatch == "Default"
    assert [r.key for r in block.rules] == ["self"]
    assert entry.differentiability is None


def test_names_of_a_key_have_places() -> None:
    (entry,) = parse("op f(Tensor a, Tensor b) -> Tensor {\n  a ,b: g(grad);\n}").entries
    (rule,) = entry.blocks[0].rules
    assert rule.key == "a, b"
    assert [(n.text, n.span.line, n.span.column) for n in rule.names] == [("a", 2, 3), ("b", 2, 6)]


def test_comments_stand_anywhere() -> None:
    text = """
    // one
    /* two */ op /* three */ f(Tensor self) // four
      -> Tensor { // five
      self /* six */ : /* seven ; } */ grad // eight;
        * 2 /**/ ;
    } // nine"""
    assert print_expr(compile_op(text).derivatives[0].written) == "grad * 2"


def test_library_names_the_ops_after_it() -> None:
    ops = compile_ops(
        "library mine; op f(Tensor self) -> Tensor { self: grad; } op other::g(Tensor self) -> Tensor { self: grad; }"
    )
    assert list(ops) == ["mine::f", "other::g"]


def test_externs_are_known_functions() -> None:
    text = "extern f_backward, mine::g_backward; op f(Tensor self) -> Tensor { self: f_backward(mine::g_backward(grad)); }"
    assert findings(text) == []
    assert parse(text).externs == ("f_backward", "mine::g_backward")


def test_blocks_for_dispatch_keys() -> None:
    text = "op f(Tensor self) -> Tensor { dispatch AutogradCPU { self: grad; } self: grad * 2; dispatch AutogradCUDA {} }"
    assert list(compile_ops(text)) == ["f", "f AutogradCPU", "f AutogradCUDA"]


def test_keywords_are_names_where_names_stand() -> None:
    rules = "op: grad * library; library: grad * extern; extern: grad * op;"
    text = f"op f(Tensor op, Tensor library, Tensor extern) -> Tensor {{ {rules} }}"
    assert [print_expr(d.written) for d in compile_op(text).derivatives] == ["grad * op", "grad * extern", "grad * library"]


def test_dispatch_is_a_name_too() -> None:
    op = compile_op("op f(Tensor dispatch) -> Tensor { dispatch: grad * dispatch; }")
    assert op.derivatives[0].inputs == ("dispatch",)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("::at::neg(grad)", "::at::neg(grad)"),
        ("{grad}", "{grad}"),
        ("f({{grad}, {self}})", "f({{grad}, {self}})"),
        ("grad.defined() ? grad : self", "grad.defined() ? grad : self"),
        ('not_implemented("a;b}c{d/*")', 'not_implemented("a;b}c{d/*")'),
        ("grad * std::vector<int64_t>{1, 2}[0]", "grad * std::vector<int64_t>{1, 2}[0]"),
        ("fmap(grad, [](Tensor x) { return -x; })", "fmap(grad, [](Tensor x) { return -x; })"),
    ],
)
def test_a_formula_is_read_whole(text: str, printed: str) -> None:
    assert formula(text) == printed


@pytest.mark.parametrize("flags", ["[True, False]", "[ true ,false ]", "[True,False]"])
def test_flags_of_outputs(flags: str) -> None:
    op = compile_op(f"op f(Tensor self) -> (Tensor a, Tensor b) {{ output_differentiability: {flags}; self: grad; }}")
    assert [o.differentiable for o in op.outputs] == [True, False]


def test_one_flag_needs_no_brackets() -> None:
    op = compile_op("op f(Tensor self) -> Tensor { output_differentiability: False; }")
    assert [o.differentiable for o in op.outputs] == [False]


def test_a_condition_for_the_output() -> None:
    op = compile_op("op f(Tensor self, int n) -> Tensor { output_differentiability: n > 0; self: grad; }")
    assert op.differentiable_if is not None
    assert print_expr(op.differentiable_if) == "n > 0"


@pytest.mark.parametrize("text", ["", "  \n", "// nothing\n", "library a;", "extern a;"])
def test_a_file_without_ops(text: str) -> None:
    assert findings(text) == ["GS0111 1:1"]


# -------------------------------------------------------------------------------------------------------------- wrong files

HEAD = "op f(Tensor self, Tensor other) -> Tensor {\n"

WRONG = {
    "no item": ("hello\n", ["GS0203 1:1"]),
    "op alone": ("op", ["GS0203 1:2"]),
    "op without braces": ("op f(Tensor self) -> Tensor", ["GS0203 1:27"]),
    "a semicolon for braces": ("op f(Tensor self) -> Tensor;", ["GS0203 1:27"]),
    "op that never closes": ("op f(Tensor self) -> Tensor {", ["GS0206 1:29"]),
    "a brace too many": ("op f(Tensor self) -> Tensor {}}", ["GS0203 1:31"]),
    "declaration that never ends": ("library a", ["GS0203 1:9"]),
    "library with two names": ("library a b;", ["GS0203 1:11"]),
    "library twice": ("library a; library b; op f(Tensor self) -> Tensor { self: grad; }", ["GS0109 1:20"]),
    "extern that is no name": ("extern 1;", ["GS0203 1:8"]),
    "no colon": (HEAD + "  self grad;\n}", ["GS0203 2:8"]),
    "no key": (HEAD + "  : grad;\n}", ["GS0203 2:3"]),
    "a comma too many": (HEAD + "  self, : grad;\n}", ["GS0203 2:9"]),
    "a number as key": (HEAD + "  1: grad;\n}", ["GS0203 2:3"]),
    "no semicolon at the end": (HEAD + "  self: grad\n}", ["GS0203 2:12"]),
    "no semicolon between": (HEAD + "  self: grad\n  other: grad;\n}", ["GS0201 3:3"]),
    "empty formula": (HEAD + "  self: ;\n}", ["GS0208 2:8"]),
    "formula of comments": (HEAD + "  self: /* later */;\n}", ["GS0208 2:8"]),
    "bracket never closed": (HEAD + "  self: (grad;\n}", ["GS0206 2:9"]),
    "bracket closed twice": (HEAD + "  self: grad);\n}", ["GS0206 2:13"]),
    "bracket closed by another": (HEAD + "  self: (grad};\n}", ["GS0206 2:9", "GS0203 2:15"]),
    "string never closed": (HEAD + '  self: not_implemented("f);\n}', ["GS0205 2:25"]),
    "comment never closed": (HEAD + "  self: grad; /* note\n}", ["GS0205 2:15"]),
    "schema never closed": ("op f(Tensor self -> Tensor { self: grad; }", ["GS0206 1:5"]),
    "a non-breaking blank": ("op f(Tensor self) -> Tensor { self:\u00a0grad; }", ["GS0204 1:36"]),
    "a blank that is a line separator": ("op f(Tensor self) -> Tensor { self: grad\u2028; }", ["GS0204 1:41"]),
    "a control character": ("op f(Tensor self) -> Tensor { self: grad\x00; }", ["GS0204 1:41"]),
    "a separator as the whole file": ("\x1c", ["GS0204 1:1"]),
    "unknown key": (HEAD + "  slef: grad;\n}", ["GS0307 2:3"]),
    "unknown key under a dispatch key": (HEAD + "  dispatch Default {\n    slef: grad;\n  }\n}", ["GS0307 3:5"]),
    "dispatch without its key": (HEAD + "  dispatch { self: grad; }\n}", ["GS0203 2:26"]),
    "flags inside of dispatch": (HEAD + "  dispatch Default { output_differentiability: True; self: grad; }\n}", ["GS0307 2:22"]),
    "flags twice": (HEAD + 2 * "  output_differentiability: True;\n" + "  self: grad;\n}", ["GS0109 3:3"]),
    "a flag misspelt": (HEAD + "  output_differentiability: [True, Flase];\n  self: grad;\n}", ["GS0309 2:36"]),
    "no flags": (HEAD + "  output_differentiability: [];\n  self: grad;\n}", ["GS0309 2:29"]),
    "too many flags": (HEAD + "  output_differentiability: [True, True];\n  self: grad;\n}", ["GS0309 2:29"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), WRONG.values(), ids=WRONG)
def test_a_wrong_file(text: str, expected: list[str]) -> None:
    assert findings(text) == expected


def test_a_missing_semicolon_is_named() -> None:
    _, found = diagnose(HEAD + "  self: grad\n  other: grad;\n}")
    assert "`;` missing" in found[0].help


def test_every_error_of_a_file_is_found() -> None:
    text = """library a b;
op f(Tensor self) -> Tensor {
  self: grad * (;
  result: slf_t;
  dispatch AutogradCPU {
    self: grad grad;
    slef: grad;
  }
}
junk
op g(Tensor self -> Tensor { self: grad; }
op h(Tensor self) -> Tensor {
  self: grda;
op i(Tensor self) -> Tensr {
  self: 08;
}
"""
    places = ["GS0203 1:11", "GS0206 3:16", "GS0401 4:11", "GS0201 6:16", "GS0307 7:5", "GS0203 10:1"]
    assert findings(text) == [*places, "GS0206 11:5", "GS0206 12:29", "GS0401 13:9", "GS0302 14:22", "GS0207 15:9"]


def test_ops_on_one_line_are_told_apart() -> None:
    formulas = {"f": "grda", "g": "(", "h": "gard"}
    text = " ".join(f"op {name}(Tensor self) -> Tensor {{ self: {formula}; }}" for name, formula in formulas.items())
    assert findings(text) == ["GS0401 1:37", "GS0206 1:81", "GS0401 1:122"]


def test_many_wrong_ops_take_time_in_proportion() -> None:
    text = "".join([f"op f{i}(Tensor self) -> Tensor {{\n  self: grad * (;\n}}\n" for i in range(3000)])
    assert findings(text) == [f"GS0206 {3 * i + 2}:16" for i in range(3000)]
