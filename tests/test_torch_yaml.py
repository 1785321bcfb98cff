"""PyTorch's YAML pair: what is read of it, and what is said of a wrong file."""

from __future__ import annotations

import pytest
from compiling import compile_op, diagnose, findings, place

from gradspec.diagnostics import Diagnostics
from gradspec.ir import Op
from gradspec.load import decode_source
from gradspec.pipeline import compile_sources
from gradspec.printer import print_expr
from gradspec.source import Source
from gradspec.syntax import Entry
from gradspec.torch_yaml import parse_derivatives, parse_native_functions

SCHEMAS = """\
- func: foo(Tensor self, Tensor other) -> Tensor
  variants: function, method
- func: two(Tensor self) -> (Tensor a, Tensor b)
- func: bar(Tensor on, Tensor yes, Tensor null) -> Tensor
"""
HEAD = "- name: foo(Tensor self, Tensor other) -> Tensor\n"


def entries(text: str) -> tuple[Entry, ...]:
    """The entries of a derivatives.yaml that must be right."""
    diagnostics = Diagnostics()
    spec = parse_derivatives(Source("d.yaml", text), diagnostics)
    assert not diagnostics.has_errors, diagnostics.all
    return spec.entries


def formulas(op: Op) -> dict[str, str]:
    return {", ".join(d.inputs): print_expr(d.written) for d in op.derivatives}


# -------------------------------------------------------------------------------------------------------------- right files

SPELLINGS = {
    "plain": "self: grad * other",
    "plain, in two lines": "self: grad *\n    other",
    "single quotes": "self: 'grad * other'",
    "double quotes": 'self: "grad * other"',
    "double quotes, in two lines": 'self: "grad *\n    other"',
    "an escaped line break": 'self: "grad * ot\\\n    her"',
    "literal": "self: |\n    grad *\n      other",
    "folded": "self: >-\n    grad *\n\n    other",
    "quoted key": '"self": grad * other',
    "escaped key": '"\\x73elf": grad * other',
    "explicit key": "? self\n  : grad * other",
    "a comment behind": "self: grad * other # twice",
    "comments of the formula": "self: grad /* the gradient */ * other // twice",
}


@pytest.mark.parametrize("rule", SPELLINGS.values(), ids=SPELLINGS)
def test_every_style_of_scalar(rule: str) -> None:
    assert formulas(compile_op(f"{HEAD}  {rule}\n", SCHEMAS)) == {"self": "grad * other"}


def test_flow_style() -> None:
    text = "[{name: 'foo(Tensor self, Tensor other) -> Tensor', self: grad, 'other': \"grad\"}]"
    assert formulas(compile_op(text, SCHEMAS)) == {"self": "grad", "other": "grad"}


@pytest.mark.parametrize("key", ["self, other", "self,other", "' self ,  other '", '"self, other"'])
def test_a_key_of_several_names(key: str) -> None:
    (entry,) = entries(f"{HEAD}  {key}: h(grad)\n")
    (rule,) = entry.blocks[0].rules
    assert [n.text for n in rule.names] == ["self", "other"]
    assert rule.names[1].span.source.text[rule.names[1].span.start : rule.names[1].span.end] == "other"


def test_keys_are_text() -> None:
    """To YAML 1.1 they are two booleans and nothing at all."""
    text = "- name: bar(Tensor on, Tensor yes, Tensor null) -> Tensor\n  on: grad * yes\n  yes: grad * on\n  null: grad * on\n"
    assert formulas(compile_op(text, SCHEMAS)) == {"on": "grad * yes", "yes": "grad * on", "null": "grad * on"}


@pytest.mark.parametrize("flags", ["[True, False]", "[true, FALSE]", "\n  - True\n  - False"])
def test_flags(flags: str) -> None:
    op = compile_op(
        f"- name: two(Tensor self) -> (Tensor a, Tensor b)\n  output_differentiability: {flags}\n  self: grad\n", SCHEMAS
    )
    assert [o.differentiable for o in op.outputs] == [True, False]


@pytest.mark.parametrize("condition", ["self.dim() > 0", "[self.dim() > 0]", "'self.dim() > 0'"])
def test_a_condition(condition: str) -> None:
    op = compile_op(f"{HEAD}  output_differentiability: {condition}\n  self: grad\n", SCHEMAS)
    assert op.differentiable_if is not None
    assert print_expr(op.differentiable_if) == "self.dim() > 0"


def test_blocks() -> None:
    (entry,) = entries(f"{HEAD}  dispatch:\n    Default:\n      self: grad\n    AutogradCUDA:\n      other: grad\n")
    assert [(b.dispatch, [r.key for r in b.rules], b.dispatch_span.line) for b in entry.blocks] == [
        ("Default", ["self"], 3),
        ("AutogradCUDA", ["other"], 5),
    ]


def test_an_entry_that_only_sets_flags_has_no_node() -> None:
    op = compile_op(f"{HEAD}  output_differentiability: [False]\n", SCHEMAS)
    assert op.node is None
    assert not op.outputs[0].differentiable


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "---\n", "---\n...\n", "[]\n"])
def test_nothing_is_no_error(text: str) -> None:
    assert findings(text, SCHEMAS) == ["GS0111 1:1"]


def test_line_ends_and_byte_order_mark_change_nothing() -> None:
    plain = f"{HEAD}  self: grad *\n    other\n"
    diagnostics = Diagnostics()
    source = decode_source("d.yaml", b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode(), diagnostics)
    assert source is not None
    assert source.text == plain
    schemas = Source("n.yaml", SCHEMAS)
    assert compile_sources([source], schemas).program == compile_sources([Source("d.yaml", plain)], schemas).program


def test_other_keys_of_operators_are_not_looked_at() -> None:
    text = "- func: foo(Tensor self) -> Tensor\n  tags: [a, {b: c}]\n  dispatch:\n    CPU, CUDA: foo_cpu\n"
    diagnostics = Diagnostics()
    table = parse_native_functions(Source("n.yaml", text), diagnostics)
    assert diagnostics.all == ()
    (op,) = table.all()
    assert (op.has_function, op.has_method) == (True, False)


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        ("function", (True, False)),
        ("method", (False, True)),
        ("function, method", (True, True)),
        ("method,function", (True, True)),
    ],
)
def test_variants(variants: str, expected: tuple[bool, bool]) -> None:
    diagnostics = Diagnostics()
    table = parse_native_functions(Source("n.yaml", f"- func: foo() -> ()\n  variants: {variants}\n"), diagnostics)
    (op,) = table.named("foo")
    assert (op.has_function, op.has_method) == expected


def test_schemas_are_read_when_they_are_asked_for() -> None:
    diagnostics = Diagnostics()
    table = parse_native_functions(Source("n.yaml", "- func: foo(Tenser x) -> ()\n- func: bar() -> ()\n"), diagnostics)
    assert len(table.named("bar")) == 1
    assert not diagnostics.has_errors
    assert table.named("foo") == ()
    assert [place(d) for d in diagnostics.all] == ["GS0302 1:13"]


# -------------------------------------------------------------------------------------------------------------- wrong files

BOMB = "a: &a [x, x]\n" + "".join(f"{n}: &{n} [*{m}, *{m}]\n" for m, n in zip("abcdefghi", "bcdefghij", strict=True))

WRONG = {
    "a mapping": ("backward:\n- name: foo\n", ["GS0105 1:1"]),
    "a word": ("foo\n", ["GS0105 1:1"]),
    "a quote not closed": (HEAD + '  self: "grad\n', ["GS0103 2:9"]),
    "a tab as indentation": (HEAD + "\tself: grad\n", ["GS0103 2:1"]),
    "a colon in a formula": (HEAD + '  self: not_implemented("a: b")\n', ["GS0103 2:27"]),
    "a line that is no key": ("- name\n  foo\nbar\n", ["GS0103 3:1"]),
    "a bracket not closed": ("[a\n", ["GS0103 1:2"]),
    "two documents": (HEAD + "  self: grad\n---\n[]\n", ["GS0106 3:1"]),
    "a merge conflict": (HEAD + "<<<<<<< HEAD\n  self: grad\n=======\n>>>>>>> b\n", ["GS0104 2:1", "GS0104 4:1", "GS0104 5:1"]),
    "an anchor": (HEAD + "  self: &f grad\n", ["GS0107 2:9"]),
    "an alias": (HEAD + "  self: *f\n", ["GS0107 2:9"]),
    "a merge key": (HEAD + "  <<: {a: b}\n", ["GS0107 2:3"]),
    "a tag": (HEAD + "  self: !!str grad\n", ["GS0107 2:9"]),
    "a tag that would run a program": ('- name: !!python/object/apply:os.system ["exit 7"]\n', ["GS0107 1:9"]),
    "an alias bomb": (BOMB, ["GS0107 1:4"]),
    "a number": (HEAD + "  self: 1\n  other: 1.5\n", ["GS0108 2:9", "GS0108 3:10"]),
    "a truth value": (HEAD + "  self: true\n", ["GS0108 2:9"]),
    "nothing": (HEAD + "  self: null\n  other: ~\n", ["GS0108 2:9", "GS0108 3:10"]),
    "a date": (HEAD + "  self: 2020-01-01\n", ["GS0108 2:9"]),
    "a list": (HEAD + "  self: [grad]\n", ["GS0108 2:9"]),
    "a mapping for a formula": (HEAD + "  self: {a: b}\n", ["GS0108 2:9"]),
    "an entry that is text": ("- foo\n", ["GS0108 1:3"]),
    "an entry that is a list": ("- [foo]\n", ["GS0108 1:3"]),
    "a list as key": (HEAD + "  ? [a]\n  : grad\n", ["GS0108 2:5"]),
    "no name": ("- self: grad\n", ["GS0110 1:3"]),
    "a name that is a list": ("- name: [foo]\n", ["GS0110 1:3"]),
    "an empty entry": ("- {}\n", ["GS0110 1:3"]),
    "a key twice": (HEAD + "  self: grad\n  self: grad * 2\n", ["GS0109 3:3"]),
    "a name twice": (HEAD + "  name: again\n  self: grad\n", ["GS0109 2:3"]),
    "dispatch that is nothing": (HEAD + "  dispatch:\n", ["GS0108 2:12"]),
    "dispatch that is a list": (HEAD + "  dispatch: [a]\n", ["GS0108 2:13"]),
    "dispatch that is a formula": (HEAD + "  dispatch:\n    Default: grad\n", ["GS0108 3:14"]),
    "rules beside dispatch": (HEAD + "  self: grad\n  dispatch: {Default: {self: grad}}\n", ["GS0307 2:3"]),
    "flags beside rules": (HEAD + "  dispatch: {Default: {output_differentiability: [True]}}\n", ["GS0307 2:24"]),
    "flags that are words": (HEAD + "  output_differentiability: [maybe, True]\n", ["GS0309 2:30"]),
    "flags that are a mapping": (HEAD + "  output_differentiability: {a: b}\n", ["GS0309 2:29"]),
    "no flags": (HEAD + "  output_differentiability: []\n", ["GS0309 2:29"]),
    "a comma at the end of a key": (HEAD + "  self,: grad\n", ["GS0307 2:8"]),
    "a control character": (HEAD + "  # é\n  self: grad \x01\n", ["GS0204 3:14"]),
    "a NUL, escaped": (HEAD + '  self: "grad \\x00"\n', ["GS0204 2:15"]),
    "an error in a folded line": (HEAD + "  self: grad *\n    othr\n", ["GS0401 3:5"]),
    "an error in an escaped line": (HEAD + '  self: "grad \\\n    * othr"\n', ["GS0401 3:7"]),
    "an error in a literal": (HEAD + "  self: |\n    grad *\n      othr\n", ["GS0401 4:7"]),
    "an error behind quotes": (HEAD + "  self: 'h(\"it''s\") * othr'\n", ["GS0402 2:10", "GS0401 2:23"]),
    "deep lists": ("- " * 40 + "a\n", ["GS0801 1:35"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), WRONG.values(), ids=WRONG)
def test_a_wrong_file(text: str, expected: list[str]) -> None:
    assert findings(text, SCHEMAS) == expected


def test_very_deep_lists() -> None:
    (found,) = diagnose("[" * 1_000_000, SCHEMAS)[1]
    # libyaml has a limit of its own, and reads ahead.
    assert found.code.id in ("GS0801", "GS0103")


def test_every_wrong_entry_is_said() -> None:
    text = (
        f"- foo\n{HEAD}  self: 0\n  slef: grad\n  other: grad +\n- self: grad\n- name: two(Tensor self) -> Tensr\n  self: grad\n"
    )
    assert findings(text, SCHEMAS) == ["GS0108 1:3", "GS0108 3:9", "GS0307 4:3", "GS0201 5:15", "GS0110 6:3", "GS0302 7:29"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + '  self: not_implemented("a: b")\n', "quotes"),
        (HEAD + "\tself: grad\n", "blanks"),
        (HEAD + "  self: 0\n", "quotes"),
        (HEAD + "  self: grad # 2\n", "quotes"),
        ("a: b\n", ""),
    ],
)
def test_help(text: str, said: str) -> None:
    assert said in diagnose(text, SCHEMAS)[1][0].help


def test_a_bomb_is_not_expanded_in_its_message() -> None:
    (found,) = diagnose(BOMB, SCHEMAS)[1]
    assert len(found.message) < 100


WRONG_OPERATORS = {
    "an operator that is text": ("- foo\n", ["GS0108 1:3"]),
    "no func": ("- name: foo() -> ()\n", ["GS0110 1:3"]),
    "func that is a list": ("- func: [a]\n", ["GS0110 1:9"]),
    "a bad name": ("- func: ../x() -> ()\n", ["GS0311 1:9"]),
    "no name": ("- func: () -> ()\n", ["GS0311 1:9"]),
    "a mapping": ("a: b\n", ["GS0105 1:1"]),
    "a name with a letter of another alphabet": ("- func: größe(Tensor self) -> Tensor\n", ["GS0311 1:9"]),
}


@pytest.mark.parametrize(("schemas", "expected"), WRONG_OPERATORS.values(), ids=WRONG_OPERATORS)
def test_wrong_operators(schemas: str, expected: list[str]) -> None:
    found = [f for f in findings(HEAD, schemas) if not f.startswith(("GS0304", "GS0111"))]
    assert found == expected
