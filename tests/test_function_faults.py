"""What is wrong with functions: every fault of a file at its place, no fault twice, and what to write in its place."""

from __future__ import annotations

import time

import pytest
from compiling import diagnose, findings

from gradspec.diagnostics import SpecError
from gradspec.pipeline import compile_sources
from gradspec.source import Source

HEAD = "fn f(Tensor x, int n, Tensor[] xs) -> Tensor {\n  "

HABITS = {
    # A statement that is none.
    "for y in xs: return y;": ("GS0201 2:3", "no loops"),
    "for (int i = 0; i < n; i++) { x = x + 1; } return x;": ("GS0201 2:3", "no loops"),
    "while (n > 0) { } return x;": ("GS0201 2:3", "no loops"),
    "switch (n) { } return x;": ("GS0201 2:3", "`if (COND) return EXPR;`"),
    "y = x * 2; return y;": ("GS0201 2:3", "`let y = EXPR;`"),
    "a, b = x.max(0); return a;": ("GS0201 2:3", "`let a, b = EXPR;`"),
    "x += 1; return x;": ("GS0201 2:3", "`let another = x + EXPR;`"),
    "auto y = x * 2; return y;": ("GS0201 2:3", "without a type"),
    "const Tensor y = x; return y;": ("GS0201 2:3", "without a type"),
    "std::vector<Tensor> v; return x;": ("GS0201 2:3", "without a type"),
    "x.push_back(x); return x;": ("GS0201 2:3", "alone does nothing"),
    "x;": ("GS0201 2:3", "`return EXPR;`"),
    "self: grad * 2;": ("GS0201 2:3", "a rule stands in an op"),
    "{ return x; }": ("GS0201 2:3", "braces hold no statements"),
    "fn g(Tensor y) -> Tensor { return y; } return x;": ("GS0201 2:3", "beside each other"),
    "op g(Tensor y) -> Tensor { y: grad; } return x;": ("GS0201 2:3", "beside each other"),
    "throw x;": ("GS0201 2:3", "`if (COND) return not_implemented("),
    "pass": ("GS0201 2:3", "`return EXPR;`"),
    "; return x;": ("GS0201 2:3", "one too many"),
    "return x;;": ("GS0201 2:12", "one too many"),
    # `let`, `if` and `return` in another spelling.
    "let (a, b) = x.max(0); return a;": ("GS0201 2:7", "without brackets"),
    "let Tensor y = x; return y;": ("GS0201 2:14", "without a type"),
    "let y: Tensor = x; return y;": ("GS0201 2:8", "without a type"),
    "let y; return x;": ("GS0201 2:8", "with its value"),
    "let = 3; return x;": ("GS0201 2:7", "a name comes first"),
    "let y == x; return y;": ("GS0201 2:10", "one `=`"),
    "if n > 0: return x; return x;": ("GS0201 2:6", "stands in brackets"),
    "if (n > 0) { return x; } return x;": ("GS0201 2:14", "without braces"),
    "if (n > 0) return x; else return x * 2;": ("GS0201 2:24", "needs no `else`"),
    "if (n > 0) let y = x; return x;": ("GS0201 2:14", "one result"),
    "return;": ("GS0201 2:9", "gives a value"),
    "return x, x;": ("GS0201 2:11", "`return (a, b);`"),
    "return x; return x;": ("GS0201 2:13", "at the end"),
    "let y = x;": ("GS0201 2:12", "`return EXPR;`"),
    "": ("GS0201 2:3", "`return EXPR;`"),
    "// nothing": ("GS0201 2:13", "`return EXPR;`"),
    # A `;` that is missing.
    "return x": ("GS0203 2:10", "ends with `;`"),
    "let y = x return y;": ("GS0201 2:13", "`;` missing"),
    "let y = x\n  return y;": ("GS0201 3:3", "`;` missing"),
    "let y = x\n  if (n > 0) return y; return x;": ("GS0201 3:3", "`;` missing"),
    "return n // 2;": ("GS0203 2:16", "begins a comment"),
    # Expressions.
    "return x[1:];": ("GS0201 2:13", "`x.select(dim, i)`"),
    "return x if n > 0 else x;": ("GS0201 2:12", "`test ? one : other`"),
    "return x.sum(dim=0);": ("GS0201 2:19", "by position"),
    "return (x,);": ("GS0201 2:13", "two parts"),
    "return [];": ("GS0201 2:12", "`{}`"),
    "return [x, x];": ("GS0201 2:12", "`{a, b}`"),
    "return {x, x};": ("GS0907 2:10", ""),
    "return (x, x);": ("GS0907 2:10", "`-> (Tensor, Tensor)`"),
    "return [y for y in xs for z in xs];": ("GS0201 2:25", "side by side"),
    "return [y for (y, z) in zip(xs, xs)];": ("GS0201 2:17", "without brackets"),
    "return [y for y in xs if y.defined() else x];": ("GS0201 2:40", "`if`"),
    "return fold(acc = x, y in xs, acc + y);": ("GS0201 2:22", "`fold(acc = START; x in LIST; EXPR)`"),
    "return fold(acc = x; y : xs; acc + y);": ("GS0201 2:26", "`fold(acc = START; x in LIST; EXPR)`"),
    "return fold(acc = x; y in xs);": ("GS0201 2:31", "`fold(acc = START; x in LIST; EXPR)`"),
    "return n < 0 ? x;": ("GS0201 2:19", "`test ? one : other`"),
    "return x.sum(0,);": ("GS0201 2:18", "behind the last"),
    "return x.to(torch.float32);": ("GS0201 2:21", "`at::kFloat`"),
    "return at::cat(y for y in xs);": ("GS0201 2:20", "`[EXPR for x in LIST]`"),
    "let a = x, b = x; return a;": ("GS0201 2:12", "its own `let"),
    "if (n > 0) return; return x;": ("GS0201 2:20", "gives a value"),
    "return xs.map(n)[0];": ("GS0901 2:13", "`[EXPR for x in LIST]`"),
    "return x.relu_();": ("GS0414 2:12", "`relu`"),
    "return at::add_(x, 1);": ("GS0414 2:10", "`at::add`"),
    "return at::add_out(x, x, x);": ("GS0414 2:10", "`at::add`"),
    "return zip(xs, xs)[0];": ("GS0410 2:10", "`[EXPR for x, y in zip(xs, ys)]`"),
    "let r = range(); return x;": ("GS0902 2:11", ""),
    "let r = range(1, 2, 3); return x;": ("GS0902 2:11", ""),
    "return xs[-1];": ("GS0903 2:13", "`xs.back()`"),
    "return f;": ("GS0903 2:10", "`f(...)`"),
    "return x != nullopt ? x : x;": ("GS0904 2:10", ""),
    "return x->neg();": ("GS0901 2:13", "`.neg(...)`"),
    "return [](Tensor y) { return y; };": ("GS0907 2:10", ""),
    "return fmap(xs, [](Tensor x) { return x; })[0];": ("GS0411 2:29", "choose another"),
    "let y = {}; return x;": ("GS0903 2:11", "`std::vector<Tensor>{...}`"),
    "let y = {x, n}; return x;": ("GS0903 2:11", "`std::vector<Tensor>{...}`"),
    "return {x, x}[0];": ("GS0904 2:10", "`let list = {a, b};`"),
    "let y = {x, x}.size(); return x;": ("GS0901 2:18", "`let list = {a, b};`"),
    "return x.sizes() == {1, 2} ? x : x;": ("GS0904 2:23", "`let list = {a, b};`"),
    "return (x, x).neg();": ("GS0901 2:17", "`std::get<0>(value)`"),
    'return x["a"];': ("GS0903 2:12", ""),
    "return xs.back(1);": ("GS0902 2:13", ""),
    "return std::get<0>();": ("GS0902 2:10", ""),
    "return n > 0 ? x : 1;": ("GS0904 2:10", ""),
    "return Tensor(n);": ("GS0903 2:10", "`at::scalar_tensor(n)`"),
    "return std::get<Tensor>((x, x));": ("GS0903 2:10", "`std::get<0>(value)`"),
    "return std::get<0x1>((x, x));": ("GS0207 2:10", ""),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), HABITS.items(), ids=HABITS)
def test_a_habit_is_answered(body: str, expected: tuple[str, str]) -> None:
    text = f"{HEAD}{body}\n}}\n"
    place, said = expected
    assert findings(text) == [place]
    assert said in diagnose(text)[1][0].help


FOREIGN_FUNCTIONS = {"len(xs)": "`xs.size()`", "map(xs)": "`[EXPR for x in LIST]`", "isinstance(x)": "`x.defined()`"}


@pytest.mark.parametrize(("call", "said"), FOREIGN_FUNCTIONS.items())
def test_functions_of_python(call: str, said: str) -> None:
    (found,) = diagnose(f"{HEAD}let y = {call}; return x;\n}}\n")[1]
    assert said in found.help


OPTIONAL = "fn f(Tensor? x, Tensor y) -> Tensor {{\n  return {} ? y : y;\n}}\n"


@pytest.mark.parametrize("asked", ["x.has_value()", "x.value().dim() > 0", "x->dim() > 0", "x == nullopt", "(*x).dim() > 0"])
def test_an_absent_tensor_is_an_undefined_one(asked: str) -> None:
    (found,) = diagnose(OPTIONAL.format(asked))[1]
    assert "`x.defined()`" in found.help
    assert findings(OPTIONAL.format("x.defined() && x.dim() > 0")) == []


# ------------------------------------------------------------------------------------------------------------------ names


@pytest.mark.parametrize("word", ["fold", "range", "zip", "let", "if", "in", "for", "return", "true", "Tensor", "M_PI"])
def test_words_of_the_language_name_nothing_else(word: str) -> None:
    for text in (
        f"fn f(Tensor {word}, Tensor x) -> Tensor {{\n  return x;\n}}\n",
        f"fn f(Tensor x) -> Tensor {{\n  let {word} = x;\n  return x;\n}}\n",
        f"fn f(Tensor[] xs, Tensor x) -> Tensor {{\n  let y = [x for {word} in xs];\n  return x;\n}}\n",
    ):
        (found,) = diagnose(text)[1]
        assert (found.code.id, found.message) == ("GS0411", f"`{word}` is a word of the language")
        assert found.span is not None
        assert text[found.span.start : found.span.end] == word
    (found,) = diagnose(f"fn {word}(Tensor x) -> Tensor {{\n  return x;\n}}\n")[1]
    assert found.code.id == "GS0413"


def test_other_words_are_names() -> None:
    for word in (
        "fn",
        "op",
        "library",
        "lambda",
        "template",
        "self",
        "grad",
        "grads",
        "result",
        "folded",
        "lets",
        "iffy",
        "torch",
    ):
        text = f"fn {word}_(Tensor {word}) -> Tensor {{\n  let {word}2 = {word};\n  return {word}2;\n}}\n"
        assert findings(text) == [], word


NATIVE = (
    "- func: foo(Tensor self) -> Tensor\n  variants: function, method\n- func: add.Tensor(Tensor self, Tensor other) -> Tensor\n"
)


def test_no_function_has_the_name_of_an_operator() -> None:
    spec = Source("x.grad", "fn foo(Tensor x) -> Tensor {\n  return at::foo(x);\n}\n")
    with pytest.raises(SpecError) as error:
        compile_sources([spec], Source("n.yaml", NATIVE))
    (found,) = error.value.diagnostics
    assert found.code.id == "GS0413"
    assert "an operator of that name" in found.help


# ----------------------------------------------------------------------------------------------------------- whole files

NEXT = "fn g(Tensor x) -> Tensor {\n  return nope;\n}\nop lab::o(Tensor self) -> Tensor {\n  self: f(grad) + f(nope);\n}\n"

ITEMS = {
    "fn f(Tensor x) -> Tensor {\n  return (x;\n}\n": ["GS0206 2:10"],
    "fn f(Tensor x) -> Tensor {\n  let a = (x;\n  let b = [x;\n  let = x;\n  return y;\n}\n": [
        "GS0206 2:11", "GS0206 3:11", "GS0201 4:7"
    ],
    "fn f(const Tensor& x) -> Tensor {\n  return x;\n}\n": ["GS0202 1:18"],
    "fn f(const Tensor& x) -> Tensor {\n  let a = (x;\n  return x;\n}\n": ["GS0202 1:18", "GS0206 2:11"],
    "fn f(Tensor x) {\n  return x;\n}\n": ["GS0202 1:14"],
    "fn f(Tensor x, Tensor x) -> Tensor {\n  return x;\n}\n": ["GS0303 1:23"],
    "fn f(Tensor x) -> Tensor {\n  return x;\n\n": ["GS0206 1:26"],
    "fn f(Tensor x) -> Tensor\n  return x;\n}\n": ["GS0203 2:10"],
    "fn f(Tensor x) -> Tensor;\n": ["GS0203 1:24"],
    "fn f(Tensor x) -> Tensor {\n  return x;\n};\n": ["GS0203 3:2"],
    "fn f(Tensor x) -> Tensor {\n  return x;\n}}\n": ["GS0203 3:2"],
    "fn f Tensor x -> Tensor {\n  return x;\n}\n": ["GS0202 1:6"],
    "def f(x):\n  return x\n": ["GS0203 1:1"],
    "Tensor f(const Tensor& x) {\n  return x;\n}\n": ["GS0203 1:1"],
    "static fn f(Tensor x) -> Tensor {\n  return x;\n}\n": ["GS0203 1:1"],
    'fn f(Tensor x) -> Tensor {\n  return g("a);\n}\n': ["GS0205 2:12"],
    "op lab::p(Tensor self) -> Tensor {\n  fn f(Tensor x) -> Tensor { return x; }\n  self: f(grad);\n}\n": ["GS0203 2:3"],
    "fn f(Tensor x) -> Tensor {\n  return 2;\n}\n": ["GS0907 2:10"],
}  # fmt: skip


@pytest.mark.parametrize(("item", "expected"), ITEMS.items(), ids=[repr(i)[:60] for i in ITEMS])
def test_a_wrong_item_hides_nothing_and_leads_to_nothing_else(item: str, expected: list[str]) -> None:
    line = item.count("\n")
    found = findings(item + NEXT)
    assert found == [*expected, f"GS0401 {line + 2}:10", f"GS0401 {line + 5}:21"]


def test_errors_of_types_are_found_beside_errors_of_syntax() -> None:
    text = (
        "fn f(Tensor x) -> Tensor {\n  return (x;\n}\n"
        "fn g(Tensor x) -> Tensor {\n  return 2;\n}\n"
        "op lab::o(Tensor self) -> Tensor {\n  self: f(grad, 2) * self.sym_size(0)[1];\n}\n"
        "op lab::p(Tensor self) -> Tensor {\n  self: grad +;\n}\n"
    )
    assert findings(text) == ["GS0206 2:10", "GS0907 5:10", "GS0904 8:22", "GS0201 11:14"]


def test_a_circle_is_one_error() -> None:
    text = "".join(f"fn f{i}(Tensor x) -> Tensor {{\n  return f{(i + 1) % 40}(x);\n}}\n" for i in range(40))
    other = "fn g(Tensor x) -> Tensor {\n  return h(x) + f0(x);\n}\nfn h(Tensor x) -> Tensor {\n  return g(x);\n}\n"
    assert findings(text + other) == ["GS0412 1:4", "GS0412 121:4"]


# ----------------------------------------------------------------------------------------------------------------- limits


def test_many_errors_take_no_time() -> None:
    """Each looked for its own place in all that is written, which took a minute."""
    text = f"{HEAD}return at::cat({{{', '.join(['!x'] * 4000)}}});\n}}\n"
    start = time.process_time()
    assert len(findings(text)) == 4000
    assert time.process_time() - start < 10


def test_a_type_does_not_grow_without_end() -> None:
    doubled = "".join(f"let a{i + 1} = (a{i}, a{i}); let b{i + 1} = (b{i}, b{i});\n" for i in range(40))
    text = f"{HEAD}let a0 = (x, x);\nlet b0 = (x, x);\n{doubled}\nlet c = n > 0 ? a40 : b40;\nreturn x;\n}}\n"
    assert {place.split()[0] for place in findings(text)} == {"GS0801"}


def test_a_function_that_is_too_long() -> None:
    text = f"{HEAD}{'let a = x;' * 100_000}\n}}\n{NEXT}"
    start = time.process_time()
    assert findings(text) == ["GS0802 1:47", "GS0401 5:10", "GS0401 8:21"]
    assert time.process_time() - start < 10


def test_a_chain_of_calls() -> None:
    text = "".join(f"fn f{i}(Tensor x) -> Tensor {{ return {f'f{i + 1}(x)' if i < 999 else 'x'}; }}\n" for i in range(1000))
    assert findings(f"{text}op lab::o(Tensor self) -> Tensor {{\n  self: f0(grad);\n}}\n") == []
