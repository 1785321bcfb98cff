"""Habits from Python and C++, and files of another kind: each is answered with what to write in its place."""

from __future__ import annotations

import pytest
from compiling import diagnose, findings

SCHEMA = "foo(Tensor self, Tensor other, bool k, Tensor? b, int n) -> Tensor"

FORMULAS = {
    "grad if k else grad": ("`if` cannot", "`test ? one : other`"),
    "not k ? grad : self": ("`k` cannot", "`!`"),
    "k and k ? grad : self": ("`and` cannot", "`&&`"),
    "k or k ? grad : self": ("`or` cannot", "`||`"),
    "b is None ? grad : self": ("`is` cannot", "`x.defined()`"),
    "self ** 2 * grad": ("no `*` of int", "`x.pow(2)`"),
    "grad @ other": ("`@` cannot", "`a.matmul(b)`"),
    "b == None ? grad : grad * 2": ("unknown name `None`", "`x.defined()`"),
    "b == nullopt ? grad : grad * 2": ("`b` is Tensor?", "`b.defined()`"),
    "nullopt != b ? grad : grad * 2": ("`b` is Tensor?", "`b.defined()`"),
    "grad * self.shape[0]": ("`shape` is not called", "`sym_sizes()`"),
    "grad * self.shape": ("`shape` is not called", "`sym_sizes()`"),
    "(grad . T) * 2": ("`T` is not called", "`t()`"),
    "grad * other.numel": ("`numel` is not called", "`numel()`"),
    "grad * b->numel + 1": ("`numel` is not called", "`numel()`"),
    "grad * math.pi": ("`pi` is not called", "`M_PI`"),
    "grad * inf": ("unknown name `inf`", "`INFINITY`"),
    "grad * nan": ("unknown name `nan`", "`NAN`"),
    "torch.sigmoid(grad)": ("unknown name `torch`", "`at::name(...)`"),
    "np.exp(self) * grad": ("unknown name `np`", "`at::name(...)`"),
    "grad[..., 0]": ("`.` cannot", "`x.select(dim, i)`"),
    "grad[:, 0]": ("`:` cannot", "`x.select(dim, i)`"),
    "grad[0, 0]": ("`,` cannot", "`x.select(dim, i)`"),
    "grad * (double)n": ("`n` cannot", "`static_cast<double>(...)`"),
    "at:sigmoid(grad)": ("`:` cannot", "`at::sigmoid`"),
    "auto t = grad": ("`t` cannot", "move more into a function, `fn "),
    "lambda x: x": ("`x` cannot", "`[](T x) { return x; }`"),
}


@pytest.mark.parametrize(("formula", "said"), FORMULAS.items(), ids=FORMULAS)
def test_formulas(formula: str, said: tuple[str, str]) -> None:
    (found,) = diagnose(f"op {SCHEMA} {{ self: {formula}; }}\n")[1]
    assert said[0] in found.message
    assert said[1] in found.help


def test_members_are_marked_by_name() -> None:
    assert findings(f"op {SCHEMA} {{\nself: grad * self.shape[0];\n}}\n") == ["GS0201 2:19"]


SCHEMAS = {
    "f(TensorList a) -> Tensor": "`Tensor[]`",
    "f(IntArrayRef a) -> Tensor": "`int[]`",
    "f(int64_t a) -> Tensor": "`int`",
    "f(double a) -> Tensor": "`float`",
    "f(Optional[Tensor] a) -> Tensor": "`Tensor?`",
    "f(std::optional<Tensor> a) -> Tensor": "`Tensor?`",
    "f(Tensor a) -> List[Tensor]": "`Tensor[]`",
    "f(a: Tensor) -> Tensor": "`Tensor a`",
    "f(const Tensor& a) -> Tensor": "without `const` and `&`",
    "f(const Tensor a) -> Tensor": "without `const` and `&`",
    "f(Tensor& a) -> Tensor": "without `const` and `&`",
    "f(Tensor a) => Tensor": "behind `->`",
    "f(Tensor a): Tensor": "behind `->`",
    "f(Tensor a Tensor b) -> Tensor": "is a `,` missing before it?",
    "f(Tensor self, n=1) -> Tensor": "`int n=...`",
}


@pytest.mark.parametrize(("schema", "said"), SCHEMAS.items(), ids=SCHEMAS)
def test_schemas(schema: str, said: str) -> None:
    (found,) = diagnose(f"op {schema} {{ a: grad; }}\n")[1]
    assert said in found.help


def test_rules() -> None:
    for rules, at, said in [
        ("dispatch: AutogradCUDA { self: grad; }", ["GS0203 2:38"], "`dispatch KEY { ... }`, without `:`"),
        ("self: grad,\nother: grad;", ["GS0201 2:11"], "a rule ends with `;`"),
    ]:
        text = f"op {SCHEMA} {{\n{rules}\n}}\n"
        assert findings(text) == at
        assert said in diagnose(text)[1][0].help


def test_what_cannot_be_read_is_not_missed() -> None:
    unclosed = f"op {SCHEMA} {{\nself: (grad * self;\nresult: self_t;\n}}\n"
    assert findings(unclosed) == ["GS0206 2:7"]
    assert findings(f"op {SCHEMA} {{\nself: grad *;\nresult: self_t + self_p;\n}}\n") == ["GS0201 2:12"]
    # Another op is none of its business.
    other = "op bar(Tensor self) -> Tensor {\nresult: self_t;\n}\n"
    assert findings(unclosed + other) == ["GS0206 2:7", "GS0401 6:9"]
    assert findings(other + unclosed) == ["GS0401 2:9", "GS0206 5:7"]


def test_flags_below_a_misspelt_key_are_no_formula() -> None:
    for flags in ("True", "[True]"):
        assert findings(f"op {SCHEMA} {{\noutput_diferentiability: {flags};\nself: grad;\n}}\n") == ["GS0307 2:1"]


NATIVE = "- func: foo(Tensor a) -> Tensor\n"
ENTRY = "- name: foo(Tensor a) -> Tensor\n"


def test_yaml_in_a_grad_file() -> None:
    assert "`gradspec import`" in diagnose(f"{ENTRY}  a: grad\n")[1][0].help


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("op foo(Tensor a) -> Tensor {\n  a: grad;\n}\n", "in .grad"),
        ("// a comment\nextern h;\n", "in .grad"),
        (f"{ENTRY}   a: grad\n", "below each other"),
        (f"{ENTRY} a: grad\n", "below each other"),
        (f"{ENTRY}  a: grad ? b: c\n", "quotes"),
        (NATIVE, "--schemas"),
    ],
)
def test_wrong_yaml(text: str, said: str) -> None:
    assert said in diagnose(text, NATIVE)[1][0].help


def test_swapped_files() -> None:
    found = diagnose(NATIVE, f"{ENTRY}  a: grad\n")[1]
    assert [d.code.id for d in found] == ["GS0110", "GS0110"]
    assert "derivatives.yaml" in found[1].help
