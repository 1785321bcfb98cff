"""Functions of the language, and what an op computes: what they mean, and what is wrong with them at which place."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner
from compiling import diagnose, findings

from gradspec.backend import load_backend
from gradspec.cli import cli
from gradspec.diagnostics import Diagnostics
from gradspec.fmt import format_spec
from gradspec.ir import Comprehension, Fold, Guard, Let, Local, called_functions, no_operators
from gradspec.load import TorchFiles, find_torch
from gradspec.pipeline import compile_files
from gradspec.prelude import prelude_files
from gradspec.printer import print_function, print_json, print_program
from gradspec.read_ir import read_program
from gradspec.signatures import Signature, Signatures, declared_functions
from gradspec.source import Source

SOME = """\
// What is there.
// And more.
fn total(Tensor[] grads) -> Tensor {
  let there = [g for g in grads if g.defined()];
  if (there.empty()) return Tensor();
  return fold(sum = at::zeros_like(there[0]); g in there; sum + g);
}

fn both(Tensor a, Tensor? b, int n=2) -> (Tensor, Tensor[]) {
  let x, y = halves(a);
  return (x, [y * i for z, i in zip({a, b}, range(n))]);
}

fn halves(Tensor a) -> (Tensor, Tensor) {
  return (a / 2, a - a / 2);
}

op lab::f(Tensor[] xs) -> Tensor[] {
  xs: both(total(grads), {}).std::get<1>();
}
"""
FUNCTIONS = SOME[: SOME.index("op lab")]
OP = "op lab::f(Tensor self, Tensor other) -> Tensor {\n  self, other: FORMULA;\n}\n"


def test_the_parts_of_a_function() -> None:
    program, found = diagnose(FUNCTIONS)
    assert program is not None
    assert not found
    total, both, _ = program.functions
    assert total.doc == ("What is there.", "And more.")
    assert both.doc == ()
    let, guard = total.statements
    assert isinstance(let, Let)
    assert isinstance(let.value, Comprehension)
    assert isinstance(guard, Guard)
    assert isinstance(total.result, Fold)
    assert total.result.accumulator == "sum"
    assert [str(p) for p in both.parameters] == ["Tensor a", "Tensor? b", "int n=2"]
    assert {e.name for e in both.walk() if isinstance(e, Local)} == {"a", "b", "n", "x", "y", "i"}


def test_functions_are_printed_and_read_back() -> None:
    program, _ = diagnose(FUNCTIONS)
    assert program is not None
    text = print_program(program)
    read = read_program(text)
    assert print_program(read) == text
    assert [f.expressions for f in read.functions] == [f.expressions for f in program.functions]
    # It is the language itself.
    diagnostics = Diagnostics()
    assert format_spec(Source("x.grad", text), diagnostics) == text
    assert "for z, i in zip({a, b}, range(n))" in print_function(program.functions[1])


def test_an_op_calls_a_function() -> None:
    formula = "pair(grad, other)"
    program, found = diagnose(
        "fn pair(Tensor a, Tensor b) -> (Tensor, Tensor) { return (a, b); }\n" + OP.replace("FORMULA", formula)
    )
    assert program is not None
    assert not found
    (called,) = called_functions(program.functions, [program.ops[0].derivatives[0].formula])
    assert called.name == "pair"


def test_a_function_hides_the_helper_of_its_name() -> None:
    """PyTorch's `sum_backward` takes four arguments, ours one."""
    function = "fn sum_backward(Tensor grad) -> Tensor {\n  return grad;\n}\n"
    assert findings(f"{function}op lab::f(Tensor self) -> Tensor {{\n  self: sum_backward(grad);\n}}\n") == []


def test_overloads_are_told_apart_by_types() -> None:
    text = """\
fn scaled(Tensor grad, Tensor by) -> Tensor { return grad * by; }
fn scaled(Tensor grad, int by) -> Tensor { return by == 1 ? grad : scaled(grad, at::scalar_tensor(by)); }
"""
    assert findings(text) == []


BODIES = {
    "return missing;": "GS0401 2:10",
    "return missing(x);": "GS0402 2:10",
    "return y; let y = x;": "GS0201 2:13",
    "let y = x;": "GS0201 2:12",
    "let y = y; return y;": "GS0401 2:11",
    "let x = x; return x;": "GS0411 2:7",
    "let y, y = at::max(x, 0); return y;": "GS0411 2:10",
    "let a, b, c = (x, x); return a;": "GS0903 2:17",
    "let a, b = x; return a;": "GS0903 2:14",
    "return [x for x in xs];": "GS0411 2:17",
    "return xs;": "GS0907 2:10",
    "return [y for y in x][0];": "GS0903 2:22",
    "return [y for y, z in xs][0];": "GS0903 2:10",
    "return [y for y in xs if x][0];": "GS0904 2:28",
    "if (x) return x; return x;": "GS0904 2:7",
    "if (n == 0) return n; return x;": "GS0907 2:22",
    "return fold(y = 0; z in xs; y + z);": "GS0903 2:31",
    "return x.add_(1);": "GS0414 2:12",
    "return grad;": "GS0401 2:10",
    "return x.mul(self);": "GS0401 2:16",
    "n = 2; return x;": "GS0201 2:3",
    "return fold(y = x, z in xs, y + z);": "GS0201 2:20",
    "return [x in xs];": "GS0201 2:13",
    "return (x, n);": "GS0907 2:10",
    "return f(x, n, xs);": "GS0412 1:4",
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), BODIES.items(), ids=BODIES)
def test_a_wrong_body(body: str, expected: str) -> None:
    assert findings(f"fn f(Tensor x, int n, Tensor[] xs) -> Tensor {{\n  {body}\n}}\n") == [expected]


HEADERS = {
    "f(Tensor x, *, int n)": "GS0413 1:4",
    "f(Tensor(a!) x)": "GS0413 1:4",
    "f.one(Tensor x)": "GS0413 1:4",
    "lab::f(Tensor x)": "GS0413 1:4",
    "f(Tensor[] x=[], Tensor y)": "GS0202 1:28",
    "f(Tenser x)": "GS0302 1:6",
    "f(Tensor x, Tensor x)": "GS0303 1:23",
}


@pytest.mark.parametrize(("header", "expected"), HEADERS.items(), ids=HEADERS)
def test_a_wrong_header(header: str, expected: str) -> None:
    found = findings(f"fn {header} -> Tensor {{\n  return x;\n}}\n")
    assert found[:1] == [expected]


def test_a_function_twice() -> None:
    one = "fn f(Tensor x) -> Tensor { return x; }\n"
    assert findings(one + one) == ["GS0413 2:4"]


def test_functions_that_call_each_other() -> None:
    text = "".join(f"fn {a}(Tensor x) -> Tensor {{ return {b}(x); }}\n" for a, b in ("fg", "gf", "hg"))
    assert findings(text) == ["GS0412 1:4"]
    assert "`f` comes to call itself, by way of `g`" in diagnose(text)[1][0].message


def test_what_stands_only_in_functions() -> None:
    assert findings("op lab::f(Tensor[] xs) -> Tensor[] {\n  xs: [g for g in grads];\n}\n") == ["GS0410 2:7"]
    assert findings("op lab::f(Tensor[] xs) -> Tensor[] {\n  xs: fold(a = grads; b in grads; a);\n}\n") == ["GS0410 2:7"]


def test_every_wrong_function_is_reported() -> None:
    bodies = {"f": "return (x;", "g": "return y;", "h": "let = 3;"}
    text = "".join(f"fn {name}(Tensor x) -> Tensor {{\n  {body}\n}}\n" for name, body in bodies.items())
    assert findings(text) == ["GS0206 2:10", "GS0401 5:10", "GS0201 8:7"]


def test_the_layout_of_a_function() -> None:
    long = "a_rather_long_function_name(grad, self.sym_sizes(), dim, keepdim)"
    text = f"""\
fn f(Tensor grad,Tensor self,int dim,bool keepdim)->(Tensor,Tensor){{
let g=keepdim?grad:grad.unsqueeze(dim); // as it was


  // A remark.
  if(dim<0)return (g,g);
  let a,b={long}.mul({long});
  let xs = [{long} for x, y in zip(self.unbind(0), grad.unbind(0)) if x.defined() && y.defined()];
  return (fold(sum=g;x in xs;sum+x),a+b);
}}
"""
    expected = f"""\
fn f(Tensor grad, Tensor self, int dim, bool keepdim) -> (Tensor, Tensor) {{
  let g = keepdim ? grad : grad.unsqueeze(dim);  // as it was

  // A remark.
  if (dim < 0) return (g, g);
  let a, b = {long}.mul(
      {long});
  let xs = [{long}
            for x, y in zip(self.unbind(0), grad.unbind(0)) if x.defined() && y.defined()];
  return (fold(sum = g; x in xs; sum + x), a + b);
}}
"""
    diagnostics = Diagnostics()
    text = text.replace("a_rather_long_function_name", "at::sum_to_long_name_of_it")
    expected = expected.replace("a_rather_long_function_name", "at::sum_to_long_name_of_it")
    assert format_spec(Source("x.grad", text), diagnostics) == expected
    assert format_spec(Source("x.grad", expected), diagnostics) == expected


# ----------------------------------------------------------------------------------------------------------------- prelude


@pytest.mark.parametrize("path", prelude_files(), ids=lambda p: p.stem)
def test_a_file_of_the_prelude_is_laid_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_spec(Source(str(path), text), Diagnostics()) == text


def test_the_prelude_is_right(torch: TorchFiles) -> None:
    compiled = compile_files(prelude_files(), torch.native_functions)
    assert compiled.diagnostics == ()
    names = {f.name for f in compiled.program.functions}
    assert [f.name for f in compiled.program.functions if not f.doc] == []
    assert len(names) > 189


def test_functions_take_what_pytorch_declares(torch: TorchFiles) -> None:
    """A function of the prelude can stand for the helper of its name: same parameters, same result."""
    functions = compile_files(prelude_files(), torch.native_functions).program.functions
    ours, theirs = Signatures(no_operators, functions), declared_functions()
    for name in sorted({f.name for f in functions} & theirs.keys()):
        assert forms(theirs[name]) <= forms(ours.functions(name)), name


def forms(signatures: Iterable[Signature]) -> set[tuple[str, ...]]:
    return {(*[str(p.type) for p in s.parameters], str(s.result)) for s in signatures}


@pytest.fixture(scope="module")
def torch() -> TorchFiles:
    return find_torch(None)


AWKWARD = """\
fn f(Tensor template, Tensor template_, Tensor?[] gs, int[] d=[1, 2], bool[2] m=[True,False], Scalar s=1j, float p=inf,
    MemoryFormat g=contiguous_format, ScalarType t=long, int[2] i=1, str q='a', int? o=None) -> Tensor {
  let there = [g2 for g2 in gs if g2.defined()];
  let x, y = (template * fold(sum = 0; k in d; sum * 0.5 + k), template_);
  let x_and_y = x + y;
  return gs[0].defined() ? there[0] + gs[0] : x_and_y;
}
op lab::h(Tensor self, Tensor?[] gs) -> Tensor { self: f(grad, self, gs); }
"""


def test_awkward_names_and_defaults_in_cpp(tmp_path: Path) -> None:
    program, _ = diagnose(AWKWARD)
    assert program is not None
    backend = load_backend("cpp")
    for name, text in backend.emit(program, backend.Options()).items():
        (tmp_path / name).write_text(text)
    include = find_torch(None).derivatives.parents[3] / "torch" / "include"
    systems = [f"-isystem{include}", f"-isystem{include / 'torch/csrc/api/include'}"]
    command = ["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *systems, str(tmp_path / "Helpers.cpp")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


# ---------------------------------------------------------------------------------------------------- what an op computes

COMPUTED = "op lab::f(Tensor self, int n) -> Tensor {\n  forward: FORMULA;\n  self: grad;\n}\n"


@pytest.mark.parametrize(
    ("formula", "expected"),
    {
        "self * n": [],
        "self * result": ["GS0403 2:19"],
        "grad": ["GS0403 2:12"],
        "self_p": ["GS0403 2:12"],
        "(self, self)": ["GS0907 2:12"],
        "n": ["GS0907 2:12"],
        "auto_linear": ["GS0312 2:12"],
        "": ["GS0208 2:11"],
    }.items(),
)
def test_what_an_op_computes(formula: str, expected: list[str]) -> None:
    assert findings(COMPUTED.replace("FORMULA", formula)) == expected


def test_an_argument_may_be_called_forward() -> None:
    program, found = diagnose("op lab::f(Tensor forward) -> Tensor {\n  forward: grad * forward;\n}\n")
    assert program is not None
    assert not found
    assert program.ops[0].forward is None
    assert [d.inputs for d in program.ops[0].derivatives] == [("forward",)]


# -------------------------------------------------------------------------------------------------------------- by command


def test_functions_from_stdin_and_of_several_files(tmp_path: Path) -> None:
    checked = CliRunner().invoke(cli, ["check", "-"], input=SOME.replace("halves(a)", "halves(aa)", 1))
    assert checked.exit_code == 1
    assert "<stdin>.grad:10:21" in checked.output
    a, b = tmp_path / "a.grad", tmp_path / "b.grad"
    a.write_text("fn f(Tensor x) -> Tensor {\n  return g(x);\n}\n")
    b.write_text("fn g(Tensor x) -> Tensor {\n  return h(x);\n}\nfn f(Tensor x) -> Tensor {\n  return x;\n}\n")
    checked = CliRunner().invoke(cli, ["check", str(a), str(b)])
    assert checked.exit_code == 1
    assert f"{b}:4:4" in checked.output
    assert f"{a}:1:4" in checked.output


def test_functions_as_json() -> None:
    program, _ = diagnose(FUNCTIONS)
    assert program is not None
    total, both, _ = json.loads(print_json(program))["functions"]
    assert (total["name"], total["doc"]) == ("total", "What is there.\nAnd more.")
    assert both["text"] == print_function(program.functions[1])


def test_a_string_may_hold_what_ends_lines_elsewhere() -> None:
    text = 'fn f(str s) -> bool {\n  return s == "a\u2028b\x85c";\n}\n'
    program, _ = diagnose(text)
    assert program is not None
    assert read_program(print_program(program)).functions[0].result == program.functions[0].result
