"""Schemas: what is read, its canonical form, and what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from compiling import place

from gradspec.diagnostics import Diagnostic, Diagnostics
from gradspec.ir import Schema
from gradspec.load import find_torch
from gradspec.parse import parse_schema
from gradspec.source import Excerpt


def parse(text: str) -> Schema:
    """A schema that must be right."""
    diagnostics = Diagnostics()
    schema = parse_schema(Excerpt.of_text(text), diagnostics)
    assert schema is not None, diagnostics.all
    return schema


def diagnose(text: str) -> tuple[Diagnostic, ...]:
    """What is said of a schema that must be wrong."""
    diagnostics = Diagnostics()
    assert parse_schema(Excerpt.of_text(text), diagnostics) is None
    return diagnostics.all


# ------------------------------------------------------------------------------------------------------------ right schemas


def all_schemas() -> list[str]:
    path: Path = find_torch(None).native_functions
    with path.open(encoding="utf-8") as file:
        return [entry["func"] for entry in yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))]


def test_every_schema_of_torch_prints_back() -> None:
    schemas = all_schemas()
    assert len(schemas) == 2584
    assert [text for text in schemas if str(parse(text)) != text] == []


CANONICAL = {
    "f(Tensor self) -> Tensor": "f(Tensor self) -> Tensor",
    "f( Tensor self ,int n = 1 ) ->Tensor": "f(Tensor self, int n=1) -> Tensor",
    "f(Tensor self) -> (Tensor)": "f(Tensor self) -> Tensor",
    "f() -> ()": "f() -> ()",
    "f(*, int n) -> ()": "f(*, int n) -> ()",
    "a::f.b(Tensor self) -> Tensor": "a::f.b(Tensor self) -> Tensor",
    "f(Tensor self, int[2] d=[0, 1]) -> Tensor": "f(Tensor self, int[2] d=[0,1]) -> Tensor",
    "f(Tensor self, int[] d=[ ]) -> Tensor": "f(Tensor self, int[] d=[]) -> Tensor",
    "f(Tensor self, str s=\"a, b)\", *, str q='x') -> Tensor": "f(Tensor self, str s=\"a, b)\", *, str q='x') -> Tensor",
    'f(str s="say \\"hi\\"\\\\n") -> ()': 'f(str s="say \\"hi\\"\\\\n") -> ()',
    "f(Tensor(a!) self, *, Tensor(b!) out) -> (Tensor(a!) x, Tensor(b!))": (
        "f(Tensor(a!) self, *, Tensor(b!) out) -> (Tensor(a!) x, Tensor(b!))"
    ),
    "f(Tensor(a -> *) self) -> Tensor(a)[]": "f(Tensor(a -> *) self) -> Tensor(a)[]",
    "f(Tensor self, /* why */ int n) // so\n -> Tensor": "f(Tensor self, int n) -> Tensor",
}


@pytest.mark.parametrize(("text", "printed"), CANONICAL.items())
def test_canonical_form(text: str, printed: str) -> None:
    assert str(parse(text)) == printed
    assert parse(printed) == parse(text)


def test_parts() -> None:
    schema = parse("lib::f.over(Tensor self, int n=2, *, bool b, Tensor(a!) out) -> Tensor(a!)")
    assert (schema.name.library, schema.name.base, schema.name.overload) == ("lib", "f", "over")
    assert [a.name for a in schema.positional] == ["self", "n"]
    assert [a.name for a in schema.keyword] == ["b"]
    assert [a.name for a in schema.out] == ["out"]
    assert [a.name for a in schema.arguments] == ["self", "n", "b"]
    assert schema.positional[1].default == "2"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("f(Tensor self) -> Tensor", ["result"]),
        ("f(Tensor self) -> (Tensor, Tensor)", ["result0", "result1"]),
        ("f(Tensor self) -> (Tensor a, Tensor)", ["a", "result1"]),
        ("f(Tensor self) -> (Tensor self, Tensor b)", ["self_return", "b"]),
        ("f_(Tensor(a!) self) -> Tensor(a!)", ["result"]),
        ("f(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", ["result"]),
        ("f(Tensor self) -> ()", []),
    ],
)
def test_names_of_outputs(text: str, names: list[str]) -> None:
    assert list(parse(text).output_names) == names


@pytest.mark.parametrize(
    ("text", "inplace", "view"),
    [
        ("f(Tensor self) -> Tensor", False, False),
        ("f_(Tensor(a!) self) -> Tensor(a!)", True, False),
        ("__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", True, False),
        ("__and__.Tensor(Tensor self, Tensor other) -> Tensor", False, False),
        ("__ilshift__(Tensor(a!) self, Tensor other) -> Tensor(a!)", True, False),
        ("__invert__(Tensor self) -> Tensor", False, False),
        ("__index__(Tensor self) -> Tensor", False, False),
        ("__f_(Tensor(a!) self) -> Tensor(a!)", True, False),
        ("f__(Tensor(a!) self) -> Tensor(a!)", True, False),
        ("f(Tensor(a) self) -> Tensor(a)", False, True),
        ("f(Tensor(a -> *) self) -> Tensor(a)[]", False, True),
    ],
)
def test_kinds(text: str, inplace: bool, view: bool) -> None:
    assert (parse(text).is_inplace, parse(text).returns_view) == (inplace, view)


FITTING = [
    "int n=-1", "int n=0x1F", "SymInt n=1", "int? n=None", "int[2] n=1", "int[2] n=[0,1]", "int[2]? n=None",
    "int[2]? n=[0, 1]", "float x=1", "float x=1e-05", "float x=inf", "Scalar x=-1", "Scalar x=True", "complex x=1j",
    "bool b=True", "bool[2] b=[True,False]", "bool[2] b=True", "str s=''", 'str s="a"', "str? s=None",
    "Tensor? t=None", "Tensor[] t=[]", "MemoryFormat m=contiguous_format", "ScalarType t=long", "Layout l=strided",
    "Device d=cpu", "int reduction=Mean", "Generator? g=None",
]  # fmt: skip

UNFITTING = [
    "int n=x", "int n=1.5", "int n=True", "int n=None", "int n=1_000", "int[] n=1", "int[2] n=[0,x]", "int[2] n=None",
    "SymInt n=1.5", "float x=one", "Scalar x=None", "bool b=true", "bool b=1", "bool b=Tr=ue", "str s=x",
    "Tensor t=None", "Tensor t=0", "int n=1-1", "int n=" + "-" * 100_000 + "1", "int n=" + "9" * 10_000,
    "float x=1_0.5",
]  # fmt: skip


@pytest.mark.parametrize("argument", FITTING)
def test_a_default_that_fits(argument: str) -> None:
    assert str(parse(f"f({argument}) -> ()").positional[0]) == argument.replace(", ", ",")


@pytest.mark.parametrize("argument", UNFITTING, ids=lambda a: a[:20])
def test_a_default_that_does_not_fit(argument: str) -> None:
    (found,) = diagnose(f"f({argument}) -> ()")
    assert place(found) == f"GS0301 1:{argument.index('=') + 4}"
    assert f"`{argument.split()[1].partition('=')[0]}`" in found.message


# ------------------------------------------------------------------------------------------------------------ wrong schemas

WRONG = {
    "f(Tensor self) Tensor": "GS0202 1:16",
    "f(Tensor self) ->": "GS0202 1:17",
    "f Tensor self) -> Tensor": "GS0202 1:3",
    "f(Tensor) -> Tensor": "GS0202 1:9",
    "f(Tensor self,) -> Tensor": "GS0202 1:15",
    "f(Tensor self, *) -> Tensor": "GS0202 1:16",
    "f(*, int a, *, int b) -> ()": "GS0202 1:13",
    "f(int a=1, int b) -> ()": "GS0202 1:16",
    "f(float$scale) -> ()": "GS0202 1:8",
    "f(Tensor self) -> Tensor extra more": "GS0202 1:32",
    "f(int n=) -> ()": "GS0202 1:9",
    "f(int[] n=[0,1) -> ()": "GS0202 1:11",
    "f(Tenser self) -> Tensor": "GS0302 1:3",
    "f(Tensor self) -> Tenser": "GS0302 1:19",
    "f(Tensor self, Tensor self) -> Tensor": "GS0303 1:23",
    "f(Tensor self) -> (Tensor a, Tensor a)": "GS0303 1:37",
    "../../x(Tensor self) -> Tensor": "GS0311 1:1",
    "größe(Tensor self) -> Tensor": "GS0311 1:1",
    "1f(Tensor self) -> Tensor": "GS0311 1:1",
    "(Tensor self) -> Tensor": "GS0311 1:1",
    "a::b::f(Tensor self) -> Tensor": "GS0311 1:1",
    "f.a.b(Tensor self) -> Tensor": "GS0311 1:1",
    "f(Tensor ß) -> Tensor": "GS0204 1:10",
    "f(Tensor\u00a0self) -> Tensor": "GS0204 1:9",
    "f(Tensor self) -> Tensor\x00": "GS0204 1:25",
    "": "GS0202 1:1",
}


@pytest.mark.parametrize(("text", "expected"), WRONG.items())
def test_a_wrong_schema(text: str, expected: str) -> None:
    assert [place(d) for d in diagnose(text)] == [expected]


def test_all_that_is_wrong_is_said() -> None:
    found = diagnose("f(Tenser self, int n=x, int n) -> (Tensor a, Tensor a, Tensr)")
    assert [place(d) for d in found] == ["GS0302 1:3", "GS0301 1:22", "GS0303 1:53", "GS0302 1:56"]


def test_lists_need_no_default_after_one() -> None:
    assert str(parse("f(int a=1, Tensor[] b) -> ()")) == "f(int a=1, Tensor[] b) -> ()"


def test_the_nearest_type_is_named() -> None:
    assert "`Tensor`" in diagnose("f(Tenser self) -> Tensor")[0].help
