"""The Python backend: spelling, what is refused, and snapshots of what our specs become."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch
from running import run
from snapshots import as_file
from syrupy.assertion import SnapshotAssertion

from gradspec.backend import Backend, emit_files
from gradspec.diagnostics import Diagnostics, SpecError
from gradspec.ir import Program
from gradspec.load import find_torch, load_source
from gradspec.pipeline import compile_sources
from gradspec.source import Source
from gradspec_python import BACKEND
from gradspec_python.emit import PythonOptions

SPECS = sorted((Path(__file__).resolve().parents[2] / "specs").glob("*.grad"))
SKIP = PythonOptions(skip=True)


@pytest.fixture(scope="module")
def native() -> Source:
    source = load_source(find_torch(None).native_functions, Diagnostics())
    assert source is not None
    return source


def emit(text: str, schemas: Source | None, options: PythonOptions = SKIP, name: str = "t") -> str:
    program = compile_sources([Source(f"{name}.grad", text)], schemas, helpers="prelude").program
    (module,) = BACKEND.emit(program, options).values()
    return module


def op(schema: str, *rules: str) -> str:
    return f"library lab;\nop {schema} {{\n" + "".join(f"  {rule};\n" for rule in rules) + "}\n"


# ----------------------------------------------------------------------------------------------------------------- spelling

UNARY = "f(Tensor self, int n, float p, Scalar s, bool flag, int[] sizes, Tensor? weight=None, float? q=None) -> Tensor"

SPELLED = [
    ("grad * self.conj()", "grad * self.conj()"),
    ("grad * (n / 2)", "grad * _truncated_quotient(n, 2)"),
    ("grad * (p / 2)", "grad * (p / 2)"),
    ("grad * (1.0 / (1.0 - p))", "grad * _quotient(1.0, 1.0 - p)"),
    ("grad * (n % 3)", "grad * _truncated_remainder(n, 3)"),
    ("grad * std::sqrt(2 * M_PI)", "grad * math.sqrt(2 * math.pi)"),
    ("grad * s.toDouble()", "grad * float(s)"),
    ("grad * ((n < 2) < 3)", "grad * ((n < 2) < 3)"),
    ("n < 2 < 3 ? grad : self", "grad if (n < 2) < 3 else self"),
    ("n && !flag ? grad : self", "grad if n != 0 and not flag else self"),
    ("weight.defined() ? grad : self", "grad if weight is not None else self"),
    ("!weight.defined() ? grad : self", "grad if weight is None else self"),
    ("q.has_value() ? grad * q.value() : grad", "grad * q if q is not None else grad"),
    ("grad * q.value_or(1.)", "grad * (1.0 if q is None else q)"),
    ("grad.masked_fill((self > 1) | (self < 0), 0)", "grad.masked_fill((self > 1) | (self < 0), 0)"),
    ("grad.sum(1, true)", "grad.sum([1], True)"),
    ("grad.sum({0, -1})", "grad.sum([0, -1])"),
    ("grad.expand_symint(self.sym_sizes())", "grad.expand(self_sym_sizes)"),
    ('grad.div(self, "floor")', 'grad.div(self, rounding_mode="floor")'),
    ("at::zeros({2}, self.options())", "torch.zeros([2], **self_options)"),
    ("at::zeros_like(grad, at::kLong)", "torch.zeros_like(grad, dtype=torch.int64)"),
    ("tanh_backward(grad, self)", "aten.tanh_backward.default(grad, self)"),
    ("std::get<0>(at::max(grad, 1))", "torch.max(grad, 1)[0]"),
    ("at::tensordot(grad, self, {0}, {0})", "aten.tensordot.default(grad, self, [0], [0])"),
    ("grad.mT()", "grad.mT"),
    ("grad.to(self.scalar_type())", "grad.to(self_scalar_type)"),
    ("grad.slice_symint(0, n)", "aten.slice.Tensor(grad, 0, n)"),
    ("maybe_multiply(grad, s)", "_maybe_multiply(grad, s)"),
    ("self.dim() > 0 ? grad : Tensor()", "grad if self_dim > 0 else None"),
    ("(grad - self) - (self - grad)", "grad - self - (self - grad)"),
    ("-(-grad)", "--grad"),
    ("zeros_like(self)", "torch.zeros(**self_info)"),
    ("at::ones(fmap(sizes, [](int64_t i) { return -i; }))", "torch.ones([-i for i in sizes])"),
    ("GradMode::is_enabled() ? grad : self", "grad if torch.is_grad_enabled() else self"),
    ("grad * static_cast<int64_t>(p)", "grad * int(p)"),
]


@pytest.mark.parametrize(("formula", "spelled"), SPELLED, ids=[f for f, _ in SPELLED])
def test_a_formula_in_python(native: Source, formula: str, spelled: str) -> None:
    module = emit(op(UNARY, f"self: {formula}"), native, PythonOptions())
    (function,) = [n for n in ast.parse(module).body if isinstance(n, ast.FunctionDef) and n.name == "lab_f_backward"]
    texts = [ast.get_source_segment(module, n.value) for n in ast.walk(function) if isinstance(n, ast.Assign)]
    assert spelled in texts


FORWARDS = [
    ("mm(Tensor self, Tensor mat2) -> Tensor", "torch.mm(self, mat2)"),
    ("polygamma(int n, Tensor self) -> Tensor", "torch.polygamma(n, self)"),
    ("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     "torch.addmm(self, mat1, mat2, beta=beta, alpha=alpha)"),
    ("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
     "aten.addcmul.default(self, tensor1, tensor2, value=value)"),
    ("sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "aten.sub.Scalar(self, other, alpha)"),
    ("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "aten.max.dim(self, dim, keepdim)"),
    ("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "aten.clamp.default(self, min, max)"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "call"), FORWARDS, ids=[f.partition("(")[0] for f, _ in FORWARDS])
def test_an_operator_is_called_as_people_do_where_no_other_overload_can_be_meant(native: Source, schema: str, call: str) -> None:
    assert f"        return {call}\n" in emit(f"op {schema} {{ self: grad; }}\n", native, PythonOptions())


def test_what_a_saved_tensor_has_is_not_saved_beside_it(native: Source) -> None:
    rule = "self: grad.reshape_symint(self.sym_sizes()) * self * other.dim()"
    module = emit(op("f(Tensor self, Tensor other) -> Tensor", rule), native)
    assert "self, self.shape" in module
    assert "ctx.self_sym_sizes" not in module
    assert "        ctx.other_dim = other.dim()\n" in module


@pytest.mark.parametrize(
    ("a", "b", "quotient", "remainder"), [(7, 2, 3, 1), (-7, 2, -3, -1), (7, -2, -3, 1), (-7, -2, 3, -1), (0, 3, 0, 0)]
)
def test_whole_numbers_divide_as_in_cxx(native: Source, a: int, b: int, quotient: int, remainder: int) -> None:
    module = run(emit(op("f(Tensor self, int a, int b) -> Tensor", "self: grad * (a / b) + grad * (a % b) * 100"), native))
    (grad,) = module.lab_f_backward((torch.ones(()),), (True,), a, b)
    assert grad.item() == quotient + 100 * remainder


def test_names_that_python_keeps_get_an_underscore(native: Source) -> None:
    module = emit(op("f(Tensor self, Scalar lambda, int[2] from=0, *, bool is=True) -> Tensor", "self: grad * lambda"), native)
    run(module)
    assert "def lab_f(self: Tensor, lambda_: complex, from_: Sequence[int] = (0, 0), *, is_: bool = True) -> Tensor:" in module
    assert '**{"is": is_}' in module


def test_each_overload_has_its_own_functions(native: Source) -> None:
    text = "op mul.Tensor(Tensor self, Tensor other) -> Tensor { self: grad * other; }\n"
    text += "op mul.Scalar(Tensor self, Scalar other) -> Tensor { self: grad * other; }\n"
    text += "op tanh(Tensor self) -> Tensor { self: tanh_backward(grad, result); }\n"
    text += "op tanh_backward(Tensor grad_output, Tensor output) -> Tensor { grad_output: tanh_backward(grad, output); }\n"
    text += "op abs(Tensor self) -> Tensor { self: grad * self.sgn(); }\n"
    defined = {n.name for n in ast.parse(emit(text, native)).body if isinstance(n, ast.FunctionDef)}
    assert {"mul_Tensor_backward", "mul_Tensor", "mul_Scalar_backward", "mul_Scalar"} <= defined
    assert {"tanh_backward", "tanh", "tanh_backward_backward", "tanh_backward_op", "abs_"} <= defined


REFUSED = [
    (op("f(Tensor self) -> Tensor", "self: at::native::spread(grad)"), "`at::native::spread`"),
    (
        "fn f(Tensor x) -> Tensor { return at::native::spread(x); }\n" + op("g(Tensor self) -> Tensor", "self: f(grad)"),
        "which `f` calls",
    ),
    ("extern mine;\n" + op("f(Tensor self) -> Tensor", "self: mine(grad)"), "`mine`"),
    (op("f(Tensor self) -> Tensor", "self: grad", "result: evenly_read_jvp(self_t, self_p, result).nosuch()"), ""),
    (op("f(Tensor[] xs) -> Tensor", "xs: unbind(grad)", "result: cat_jvp(xs, 0)"), "tangents of a list"),
]


@pytest.mark.parametrize(("text", "callee"), REFUSED, ids=["native", "function", "extern", "method", "list tangents"])
def test_what_python_lacks_is_said_and_not_emitted(native: Source, text: str, callee: str) -> None:
    with pytest.raises(SpecError) as caught:
        emit(text, native, PythonOptions())
    assert any(callee in d.message for d in caught.value.diagnostics)


def test_what_is_skipped_stands_in_the_module(native: Source) -> None:
    text = op("f(Tensor self) -> Tensor", "self: at::native::spread(grad)")
    assert "- lab::f (Default): no `at::native::spread`" in emit(text, native)


def test_without_schemas_calls_are_refused_and_the_schemas_asked_for() -> None:
    with pytest.raises(SpecError) as caught:
        emit(op("f(Tensor self) -> Tensor", "self: at::sgn(grad)"), None, PythonOptions())
    assert "--schemas torch" in caught.value.diagnostics[0].help


def test_the_deepest_formula(native: Source) -> None:
    text = op("f(Tensor self) -> Tensor", "self: grad" + ".neg()" * 198)
    program = compile_sources([Source("t.grad", text)], native).program
    (module,) = emit_files(BACKEND, program, PythonOptions()).values()
    assert torch.equal(run(module).lab_f_backward([torch.ones(2)], [True])[0], torch.ones(2))


def test_imports_are_those_that_are_used(native: Source) -> None:
    module = emit(op("f(Tensor self) -> Tensor", "self: grad * self"), native)
    assert "import math" not in module
    assert "aten =" not in module
    assert "import math" in emit(op("f(Tensor self) -> Tensor", "self: grad * M_PI"), native)


def test_it_is_a_backend() -> None:
    assert isinstance(BACKEND, Backend)
    assert BACKEND.emit(Program(()), PythonOptions()) == {}


# ---------------------------------------------------------------------------------------------------------------- snapshots


@pytest.mark.parametrize("spec", SPECS, ids=[s.stem for s in SPECS])
def test_module(spec: Path, native: Source, snapshot: SnapshotAssertion) -> None:
    module = emit(spec.read_text(encoding="utf-8"), native, name=spec.stem)
    run(module)
    assert module == snapshot(extension_class=as_file("py"))
