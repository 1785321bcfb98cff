"""Formulas: the tree that each construct makes, C++'s precedence and meaning, and what is said of a wrong one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from compiling import place
from shapes import diagnose, parse, shape

from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.ir import TypeRef
from gradspec.load import find_torch, load_source
from gradspec.parse import MAX_FORMULA_LENGTH, MAX_NESTING, parse_formula
from gradspec.parse.formula import expr_children, number_problem, string_value
from gradspec.source import Excerpt
from gradspec.torch_yaml import parse_derivatives

# ------------------------------------------------------------------------------------------------------------------- trees

A, B, C = ("name", "a"), ("name", "b"), ("name", "c")
ONE = ("number", "1")
TENSOR = TypeRef("Tensor")

TREES = {
    "a": A,
    "at::kLong": ("name", "at::kLong"),
    ":: std :: nullopt": ("name", "::std::nullopt"),
    "f()": ("call", "f", ()),
    "at :: f(a, 1)": ("call", "at::f", (), A, ONE),
    "std::get<0>(f(a))": ("call", "std::get", ("0",), ("call", "f", (), A)),
    "static_cast<int64_t>(a)": ("call", "static_cast", (TypeRef("int64_t"),), A),
    "std::max<int64_t>(a, b)": ("call", "std::max", (TypeRef("int64_t"),), A, B),
    "a.f()": ("method", A, "f", ()),
    "a.f(b).g(1)": ("method", ("method", A, "f", (), B), "g", (), ONE),
    "a->f()": ("arrow", A, "f", ()),
    "a.item<double>()": ("method", A, "item", (TypeRef("double"),)),
    "a[1]": ("index", A, ONE),
    "a[b[1]].f()[c]": ("index", ("method", ("index", A, ("index", B, ONE)), "f", ()), C),
    "{}": ("braces",),
    "{a, {b}}": ("braces", A, ("braces", B)),
    "Tensor()": ("call", "Tensor", ()),
    "std::tuple<Tensor, Tensor>()": ("construct", TypeRef("std::tuple", (TENSOR, TENSOR)), False),
    "std::vector<int64_t>{1}": ("construct", TypeRef("std::vector", (TypeRef("int64_t"),)), True, ONE),
    "std::vector<std::vector<int64_t>>{{a}}[1]": (
        "index",
        ("construct", TypeRef("std::vector", (TypeRef("std::vector", (TypeRef("int64_t"),)),)), True, ("braces", A)),
        ONE,
    ),
    "std::array<bool, 2>{a, b}": ("construct", TypeRef("std::array", (TypeRef("bool"), "2")), True, A, B),
    "IntArrayRef{a}": ("construct", TypeRef("IntArrayRef"), True, A),
    "std::vector": ("name", "std::vector"),
    "int(a)": ("call", "int", (), A),
    "[](Tensor x) { return x + a; }": ("lambda", TENSOR, "x", ("+", ("name", "x"), A)),
    "f([] ( at::Tensor x ){return x;})": ("call", "f", (), ("lambda", TypeRef("at::Tensor"), "x", ("name", "x"))),
    "-a": ("-", A),
    "- -a": ("-", ("-", A)),
    "!~+-a": ("!", ("~", ("+", ("-", A)))),
    "*a": ("*", A),
    "*a * *b": ("*", ("*", A), ("*", B)),
    "-a.f()": ("-", ("method", A, "f", ())),
    "-a[1]": ("-", ("index", A, ONE)),
    "(-a).f()": ("method", ("-", A), "f", ()),
    "-a * b": ("*", ("-", A), B),
    "a ? b : c": ("?", A, B, C),
    "a ? b : c ? 1 : b": ("?", A, B, ("?", C, ONE, B)),
    "a ? b ? c : 1 : b": ("?", A, ("?", B, C, ONE), B),
    "a || b ? c : 1": ("?", ("||", A, B), C, ONE),
    "(a ? b : c) + 1": ("+", ("?", A, B, C), ONE),
    "a<b": ("<", A, B),
    "a < b > c": (">", ("<", A, B), C),
    "a<<1": ("<<", A, ONE),
    "a>>1": (">>", A, ONE),
    "((a))": A,
    "((((a) + b)))": ("+", A, B),
    '"a;b"': ("string", "a;b"),
    'f("")': ("call", "f", (), ("string", "")),
    "a /* b */ + /**/ c": ("+", A, C),
    "a // b\n + c": ("+", A, C),
    "a + c // b": ("+", A, C),
    "a /* // */ + c": ("+", A, C),
    "a /* * / ** */ + c": ("+", A, C),
    'f("/* no */ // no")': ("call", "f", (), ("string", "/* no */ // no")),
    "f(a, /*b=*/ c)": ("call", "f", (), A, C),
    "\t a\n\r\f\v+ c ": ("+", A, C),
}


@pytest.mark.parametrize(("text", "tree"), TREES.items())
def test_tree(text: str, tree: tuple[object, ...]) -> None:
    assert shape(parse(text)) == tree


@pytest.mark.parametrize("value", ["non_differentiable", "auto_linear", "auto_element_wise"])
def test_special_values(value: str) -> None:
    formula = parse_formula(Excerpt.of_text(f" {value}\n"), Diagnostics())
    assert formula is not None
    assert formula.value == value


def test_a_special_value_inside_is_a_name() -> None:
    assert shape(parse("f(auto_linear)")) == ("call", "f", (), ("name", "auto_linear"))


def places(expr: s.Expr, text: str) -> Iterator[str]:
    """What the text spells at the place of each node."""
    yield text[expr.start : expr.end]
    for child in expr_children(expr):
        yield from places(child, text)


def test_every_node_knows_its_place() -> None:
    text = 'f(a, -b) + c.g<int>("x")->h()[1] * (a ? {b} : std::tuple<T>())'
    assert list(places(parse(text), text)) == [
        text,
        "f(a, -b)",
        "a",
        "-b",
        "b",
        'c.g<int>("x")->h()[1] * (a ? {b} : std::tuple<T>())',
        'c.g<int>("x")->h()[1]',
        'c.g<int>("x")->h()',
        'c.g<int>("x")',
        "c",
        '"x"',
        "1",
        "(a ? {b} : std::tuple<T>())",
        "a",
        "{b}",
        "b",
        "std::tuple<T>()",
    ]


def test_equal_texts_share_a_tree() -> None:
    assert parse("a + b * c") is parse("a + b * c")


def test_every_formula_of_torch_is_read() -> None:
    diagnostics = Diagnostics()
    source = load_source(find_torch(None).derivatives, diagnostics)
    assert source is not None
    spec = parse_derivatives(source, diagnostics)
    rules = [r for e in spec.entries for b in e.blocks for r in b.rules]
    assert not diagnostics.has_errors
    assert len(rules) == 1378
    expressions = [r for r in rules if not isinstance(r.formula.value, str)]
    refused = [r for r in expressions if r.formula.excerpt.text.startswith("not_implemented")]
    assert len(expressions) - len(refused) == 989
    assert len(refused) == 48


# ---------------------------------------------------------------------------------------------------------------- literals

NUMBERS = [
    "0", "1", "00", "0777", "0x1F", "0Xff", "0b101", "0B1", "1u", "1U", "1l", "1ull", "1LLU", "1uz", "1'000", "0'7",
    "0x1'F", "0b1'0", "1.", ".5", "1.5", "1e5", "1E-5", "1.e+5", "08.5", "09e1", "1.f", "1.0F", "1e5L", "0x1p3",
    "0x1.8p-1", "0x.8p1", "1'0.0'5", "1e1'0", "9223372036854775807", "18446744073709551615u", "0xffffffffffffffff",
    "1.7976931348623157e308",
]  # fmt: skip

NO_NUMBERS = [
    "08", "019", "0o17", "0x", "0xg", "0b2", "0b", "1e", "1e+", "1..", "1.2.3", "1f", "1.0u", "1lul", "1lL", "1x", "1_0", "1_km",
    "0x1.8", "0x1p", "0x.p1", "1'e5", "1e400", "0x1p1024", "9223372036854775808", "18446744073709551616u", "0x10000000000000000",
    "9" * 5000, "1p3", "0b1.0", "1i", "0x'1", "1''0", "1'",
]  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number(text: str) -> None:
    assert number_problem(text) == ""
    assert shape(parse(f"a * {text}")) == ("*", A, ("number", text))


@pytest.mark.parametrize("text", NO_NUMBERS, ids=lambda t: t[:22])
def test_no_number(text: str) -> None:
    assert number_problem(text)


@pytest.mark.parametrize("text", [t for t in NO_NUMBERS if "''" not in t and not t.endswith("'")], ids=lambda t: t[:22])
def test_a_wrong_number_is_named_whole(text: str) -> None:
    (found,) = diagnose(f"a * {text}")
    assert place(found) == "GS0207 1:5"
    assert found.message.startswith(f"`{text[:20]}")


def test_every_wrong_number_is_said() -> None:
    assert [place(d) for d in diagnose("08 + f(1e400, 1)[09]")] == ["GS0207 1:1", "GS0207 1:8", "GS0207 1:18"]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (r'"a"', "a"),
        (r'"\"\\\'\?"', "\"\\'?"),
        (r'"\n\t\r\a\b\f\v"', "\n\t\r\a\b\f\v"),
        (r'"\0"', "\0"),
        (r'"\033[0m"', "\033[0m"),
        (r'"\1234"', "S4"),
        (r'"\x41"', "A"),
        (r'"\x41g"', "Ag"),
        (r'"\u00e9\U0001F600"', "é\N{GRINNING FACE}"),
        (r'"\ud800"', "ud800"),
        ('"é"', "é"),
    ],
)
def test_a_string(literal: str, value: str) -> None:
    assert string_value(literal) == value
    assert shape(parse(literal)) == ("string", value)


# ------------------------------------------------------------------------------------------------------------------- wrong

WRONG = {
    "": "GS0208 1:1",
    " \t": "GS0208 1:1",
    "a +": "GS0201 1:3",
    "a + ": "GS0201 1:3",
    "a b": "GS0201 1:3",
    "a + * ": "GS0201 1:5",
    "a = b": "GS0201 1:3",
    "a += b": "GS0201 1:4",
    "a++": "GS0201 1:3",
    "a; b": "GS0201 1:2",
    "a, b": "GS0201 1:2",
    "a.b": "GS0201 1:3",
    "a..b()": "GS0201 1:3",
    "a.1": "GS0201 1:3",
    "a::": "GS0201 1:2",
    "f(,)": "GS0201 1:3",
    "f(a,)": "GS0201 1:5",
    "a[]": "GS0201 1:3",
    "a[1,2]": "GS0201 1:4",
    "a ? b": "GS0201 1:5",
    "a ? : b": "GS0201 1:5",
    "a : b": "GS0201 1:3",
    "std::tuple<>()": "GS0201 1:12",
    "new T()": "GS0201 1:5",
    "[x](T a) { return a; }": "GS0201 1:3",
    "[](T a) { a; }": "GS0201 1:11",
    "#include <x>": "GS0201 1:1",
    "throw(a)": "GS0201 1:1",
    "f(sizeof(a))": "GS0201 1:3",
    '__asm__("nop")': "GS0201 1:1",
    "a.delete(b)": "GS0201 1:3",
    "std::operator(a)": "GS0201 1:1",
    "a + return(b)": "GS0201 1:5",
    "a @ b": "GS0201 1:3",
    "a \\ b": "GS0201 1:3",
    "'a'": "GS0201 1:1",
    "grаd": "GS0204 1:3",
    "a\u00a0+ b": "GS0204 1:2",
    "a\u2028+ b": "GS0204 1:2",
    "a × b": "GS0204 1:3",
    "a \x00 b": "GS0204 1:3",
    "a \x1c b": "GS0204 1:3",
    "a /* b": "GS0205 1:3",
    "a /*/": "GS0205 1:3",
    'f("a)': "GS0205 1:3",
    'f("a\\")': "GS0205 1:3",
    'f("a\n")': "GS0205 1:3",
    "(a": "GS0206 1:1",
    "a)": "GS0206 1:2",
    "f({a, 1)": "GS0206 1:8",
    "f((a]": "GS0206 1:5",
    "a[1)": "GS0206 1:4",
    'f(")", "(" }': "GS0206 1:12",
    "f(/* ) */ a // )\n}": "GS0206 2:1",
    "a); system(": "GS0206 1:2",
    "a; } } namespace x { int y = (1": "GS0201 1:2",
    "a ??/ b": "GS0209 1:3",
    "a ??= b": "GS0209 1:3",
    "f(<%a%>)": "GS0209 1:3",
    "a<:1:>": "GS0209 1:2",
    'R"x()x"': "GS0209 1:1",
    'f(u8R"()")': "GS0209 1:5",
}


@pytest.mark.parametrize(("text", "expected"), WRONG.items())
def test_a_wrong_formula(text: str, expected: str) -> None:
    assert [place(d) for d in diagnose(text)] == [expected]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = b", "=="),
        ("a; b", "one expression"),
        ("#include", "preprocessor"),
        ("'a'", "double quotes"),
        ("a /* b", "*/"),
        ("grаd", "look-alike"),
    ],
)
def test_help(text: str, said: str) -> None:
    assert said in diagnose(text)[0].help


def test_a_bracket_is_shown_with_its_fellow() -> None:
    (found,) = diagnose("f(a, {b, c)")
    assert [(span.start, label) for span, label in found.others] == [(5, "opened here")]


# ------------------------------------------------------------------------------------------------------------------ limits

DEEP = {
    "signs": lambda n: "-" * n + "a",
    "sum": lambda n: " + ".join(["a"] * (n + 1)),
    "calls": lambda n: "f(" * n + "a" + ")" * n,
    "methods": lambda n: "a" + ".f()" * n,
    "braces": lambda n: "{" * n + "a" + "}" * n,
    "indices": lambda n: "a[" * n + "a" + "]" * n,
    "conditionals": lambda n: "a ? b : " * n + "a",
}


@pytest.mark.parametrize("make", DEEP.values(), ids=DEEP)
def test_nesting(make: object) -> None:
    assert callable(make)
    parse(make(MAX_NESTING - 1))
    assert [d.code.id for d in diagnose(make(MAX_NESTING))] == ["GS0801"]
    assert [d.code.id for d in diagnose(make(10_000))] == ["GS0801"]


def test_parentheses_alone_are_no_nesting() -> None:
    assert shape(parse("(" * 10_000 + "a" + ")" * 10_000)) == A


def test_ten_thousand_open_brackets() -> None:
    (found,) = diagnose("(" * 10_000)
    assert place(found) == "GS0206 1:10000"


def test_length() -> None:
    parse("a".ljust(MAX_FORMULA_LENGTH))
    assert [place(d) for d in diagnose("a".ljust(MAX_FORMULA_LENGTH + 1))] == ["GS0802 1:1"]
    assert [d.code.id for d in diagnose("a + " * 250_000 + "a")] == ["GS0802"]
