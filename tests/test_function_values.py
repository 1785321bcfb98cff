"""What functions give in Python: what C++ gives for the same values, whatever names they use."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from gradspec.backend import emit_files
from gradspec.diagnostics import Diagnostics, SpecError
from gradspec.load import find_torch, load_source
from gradspec.pipeline import compile_sources
from gradspec.source import Source
from gradspec_python import BACKEND
from gradspec_python.emit import PythonOptions

ONES = torch.ones(2, 3)


@pytest.fixture(scope="module")
def native() -> Source:
    source = load_source(find_torch(None).native_functions, Diagnostics())
    assert source is not None
    return source


def run(native: Source, text: str) -> dict[str, Any]:
    """The module that is emitted for a text of functions."""
    program = compile_sources([Source("x.grad", text)], native).program
    module: dict[str, Any] = {}
    exec(emit_files(BACKEND, program, PythonOptions())["x.py"], module)
    return module


# Parameters and result, body, arguments, and what comes out.
NUMBERS: list[tuple[str, str, tuple[Any, ...], Any]] = [
    # C++ rounds whole quotients towards 0.
    ("(int n) -> int", "return n / 2;", (-7,), -3),
    ("(int n) -> int", "return n % 4;", (-7,), -3),
    ("(int n, int m) -> int", "return n / m;", (7, -2), -3),
    ("(int n) -> int", "return fold(s = n; i in range(3); s / 2);", (-7,), 0),
    ("(float v) -> float", "return v / 2;", (7,), 3.5),
    # A number becomes what is declared.
    ("(int n) -> float", "return n;", (7,), 7.0),
    ("(int n) -> bool", "return n;", (7,), True),
    ("(bool k) -> int", "return k;", (True,), 1),
    ("(int n) -> float", "return n > 0 ? n : 2.5;", (7,), 7.0),
    ("(int n) -> (float, int)", "return (n, n);", (7,), (7.0, 7)),
    ("(int n) -> float", "return one(n);", (7,), 7.0),
    ("(int[] ns) -> float", "return fold(s = 0; n in ns; s / 2 + n * 0.5);", ([1, 2, 3],), 2.125),
    ("(int[] ns) -> float", "return fold(s = 1; n in ns; s * 0.5);", ([],), 1.0),
    # Comparisons of comparisons.
    ("(int a, int b, int c) -> bool", "return a < b < c;", (3, 2, 1), True),
    ("(int a, int b, int c) -> bool", "return a == b == c;", (3, 3, 1), True),
    # Lists.
    ("(int n) -> int[]", "return range(n);", (3,), [0, 1, 2]),
    ("(int n) -> int[]", "return range(n);", (-3,), []),
    ("(int a, int b) -> int[]", "return range(a, b);", (2, 4), [2, 3]),
    ("(int[] a, int[] b) -> int[]", "return [x * y for x, y in zip(a, b)];", ([1, 2, 3], [1, 2]), [1, 4]),
    ("(int[] a, int[] b) -> int", "return fold(s = 0; x, y in zip(a, b); s + x * y);", ([1, 2, 3], [1, 2]), 5),
    ("(int[] a) -> int[][]", "return [[x * y for y in a] for x in a];", ([1, 2],), [[1, 2], [2, 4]]),
    ("(int[] a) -> int[]", "let b = [x for x in a]; return [x for x in b if x > 1 && x < 3];", ([1, 2, 3],), [2]),
    ("(int[] a) -> int", "return a.empty() ? -1 : a.back();", ([],), -1),
    ("(Tensor x, int[] s) -> bool", "return x.sizes() == s && s == x.sizes();", (ONES, [2, 3]), True),
    ("(Tensor x) -> bool", "let s = {2, 3}; return x.sizes() == s;", (ONES,), True),
    ("(int n) -> int[]", "return fold(s = {n}; i in range(2); {i, n});", (7,), [1, 7]),
    ("(int n) -> float", "return n * 0x1p3 + std::abs(-2) / 4 + std::tgamma(3);", (7,), 58.0),
    ("(bool[3] m) -> bool", "return m[0] && !m[2];", ((True, False, False),), True),
    # What may be absent.
    ("(int? n) -> int", "return n.value_or(3);", (None,), 3),
    ("(int? n) -> int", "if (n) return *n; return -1;", (0,), 0),
    ("(bool? k) -> bool", "return k.has_value() && *k;", (False,), False),
    ("(Tensor? x) -> bool", "return x.defined();", (None,), False),
    ("(Tensor? x=None, int n=0x10, float v=1e3) -> float", "return n * v;", (), 16000.0),
    # Defaults.
    ("(str s='a\"b') -> bool", 'return s == "a\\"b";', (), True),
    ('(str s="it\'s") -> bool', 'return s == "it\'s";', (), True),
    ("(float v=inf, int r=Mean) -> bool", "return v > 1e308 && r == 1;", (), True),
    ("(int[2] s=1, bool[2] m=[True,False]) -> int", "return s[1] + m[0];", (), 2),
    ("(Tensor x={}) -> bool", "return x.defined();", (), False),
    ("(ScalarType d=double) -> bool", "return d == at::kDouble;", (), True),
    # Names that mean something in Python, or that the module uses itself.
    ("(int lambda, int lambda_) -> int", "return lambda - lambda_;", (3, 1), 2),
    ("(int len, int list, int[] ns) -> int", "return len + list + ns.size();", (1, 2, [0]), 4),
    ("(int functools, int[] ns) -> int", "return fold(s = functools; n in ns; s + n);", (3, [1]), 4),
    ("(int _one, int n) -> float", "return one(n) * _one;", (2, 3), 6.0),
    ("(int _quotient, float v) -> float", "return v / _quotient;", (2, 3.0), 1.5),
    ("(int local__one, int _one) -> float", "return one(1) * local__one - _one;", (5, 3), 2.0),
    ("(int[] ns, int each) -> int", "return fold(s = 0; a, b in zip(ns, ns); s + a * b + each);", ([1, 2], 100), 205),
    ("(int[] ns, int _) -> int", "return fold(s = 0; a, b in zip(ns, ns); s + a * b + _);", ([1, 2], 100), 205),
    ("(int math, int torch, int aten, int Tensor_) -> int", "return math + torch + aten + Tensor_;", (1, 2, 3, 4), 10),
    ("(float v) -> float", "return quotient(v) / v;", (2.0,), 0.5),
]  # fmt: skip
OTHERS = "fn one(float v) -> float { return v; }\nfn quotient(float v) -> float { return v / v; }\n"


@pytest.fixture(scope="module")
def values(native: Source) -> dict[str, Any]:
    """All of them in one module, which takes a second to compile."""
    return run(native, OTHERS + "".join(f"fn f{i}{head} {{\n  {body}\n}}\n" for i, (head, body, _, _) in enumerate(NUMBERS)))


@pytest.mark.parametrize("number", range(len(NUMBERS)), ids=[f"{head} {body}" for head, body, _, _ in NUMBERS])
def test_a_value(values: dict[str, Any], number: int) -> None:
    _, _, arguments, expected = NUMBERS[number]
    given = values[f"_f{number}"](*arguments)
    assert given == expected
    assert type(given) is type(expected)


def test_a_number_of_a_parameter_decides_what_a_tensor_becomes(native: Source) -> None:
    """A whole number for a `float` is one, so that a tensor of whole numbers becomes one of fractions, as in C++."""
    text = "fn by(Tensor x, float v) -> Tensor { return x * v; }\nfn f(Tensor x) -> Tensor {\n  return by(x, 2);\n}\n"
    given: Tensor = run(native, text)["_f"](torch.tensor([1, 2]))
    assert given.dtype == torch.float32


def test_a_range_is_a_list_where_torch_wants_one(native: Source) -> None:
    given: Tensor = run(native, "fn f(Tensor x, int n) -> Tensor {\n  return x.permute(range(n));\n}\n")["_f"](ONES, 2)
    assert given.shape == (2, 3)


def test_names_of_functions_do_not_meet(native: Source) -> None:
    """`_h` cannot be `__h`, overloads are numbered, and each of these could be the name of another."""
    names = ["h(Tensor x)", "h(Tensor x, int n)", "h__2(Tensor x)", "_h(Tensor x)", "aten_h(Tensor x)", "h_(Tensor x)"]
    parts = [f"fn {name} -> int {{ return {i}; }}\n" for i, name in enumerate(names)]
    calls = ["h(x)", "h(x, 1)", "h__2(x)", "_h(x)", "aten_h(x)", "h_(x)"]
    module = run(native, f"{''.join(parts)}fn f(Tensor x) -> int[] {{\n  return {{{', '.join(calls)}}};\n}}\n")
    assert module["_f"](ONES) == [0, 1, 2, 3, 4, 5]


def test_what_python_cannot_hold_is_refused(native: Source) -> None:
    """CPython reads no more than 200 brackets inside of each other, and each of these folds has two."""
    part = "x"
    for i in range(120):
        part = f"fold(a{i} = x; b{i}, c{i} in zip(xs, xs); {part})"
    op = "op lab::o(Tensor self) -> Tensor {\n  self: f(grad, {});\n}\n"
    text = f"fn f(Tensor x, Tensor[] xs) -> Tensor {{\n  return {part};\n}}\n{op}"
    with pytest.raises(SpecError) as error:
        run(native, text)
    (found,) = error.value.diagnostics
    assert found.code.id == "GS0906"
    assert "brackets" in found.message
