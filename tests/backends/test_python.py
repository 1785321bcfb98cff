"""The Python backend: spelling, what is refused, snapshots of what our specs become, and emitted code that runs."""

from __future__ import annotations

import ast
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
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


def run(text: str) -> types.ModuleType:
    module = types.ModuleType(f"emitted_{len(sys.modules)}")
    sys.modules[module.__name__] = module
    exec(compile(text, "emitted.py", "exec"), module.__dict__)
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


# ------------------------------------------------------------------------------------------------------------------ running


@pytest.fixture(scope="module")
def emitted() -> types.ModuleType:
    """PyTorch's own spec as Python."""
    found = find_torch(None)
    sources = [load_source(path, Diagnostics()) for path in (found.derivatives, found.native_functions)]
    assert sources[0] is not None
    (text,) = BACKEND.emit(compile_sources([sources[0]], sources[1], helpers="prelude").program, SKIP).values()
    return run(text)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    # torch warns of its own use of what it deprecates.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tensor(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=dtype, generator=generator).requires_grad_()


Case = tuple[str, Callable[[Any], Callable[..., Any]], tuple[torch.Tensor, ...]]
COMPLEX = torch.complex128
CASES: list[Case] = [
    ("mul", lambda m: m.mul_Tensor, (tensor(2, 3), tensor(2, 3, seed=1))),
    ("mul complex", lambda m: m.mul_Tensor, (tensor(2, 3, dtype=COMPLEX), tensor(3, dtype=COMPLEX, seed=1))),
    ("mul real by complex", lambda m: m.mul_Tensor, (tensor(2, 3), tensor(2, 3, dtype=COMPLEX, seed=1))),
    ("mul broadcast", lambda m: m.mul_Tensor, (tensor(2, 1), tensor(1, 3, seed=1))),
    ("mul by a number", lambda m: lambda x: m.mul_Tensor(x, 2.5), (tensor(2, 3),)),
    ("div", lambda m: m.div_Tensor, (tensor(3, dtype=COMPLEX), tensor(3, dtype=COMPLEX, seed=1))),
    ("exp", lambda m: m.exp, (tensor(3, dtype=COMPLEX),)),
    ("pow", lambda m: lambda x: m.pow_Tensor_Scalar(x, 3), (tensor(3),)),
    ("addmm", lambda m: lambda a, b, c: m.addmm(a, b, c, alpha=2, beta=0.5), (tensor(3), tensor(2, 4), tensor(4, 3))),
    ("mm", lambda m: m.mm, (tensor(2, 3, dtype=COMPLEX), tensor(3, 2, dtype=COMPLEX, seed=1))),
    ("sum", lambda m: lambda x: m.sum_dim_IntList(x, [1], False), (tensor(2, 3),)),
    ("stack", lambda m: lambda a, b: m.stack([a, b], 1), (tensor(3), tensor(3, seed=1))),
    ("unbind", lambda m: lambda x: tuple(m.unbind_int(x, 0)), (tensor(2, 3),)),
    ("split", lambda m: lambda x: tuple(m.split_with_sizes(x, [1, 2], 1)), (tensor(2, 3),)),
    ("max", lambda m: lambda x: m.max_dim(x, 1)[0], (tensor(2, 3),)),
    ("where", lambda m: lambda a, b: m.where_self(torch.tensor([True, False]), a, b), (tensor(2), tensor(2, seed=1))),
    ("foreach", lambda m: lambda a, b: tuple(m._foreach_mul_List([a, b], [b, a])), (tensor(2), tensor(2, seed=1))),
]  # fmt: skip


@pytest.mark.parametrize(("choose", "inputs"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_gradients_are_right(
    emitted: types.ModuleType, choose: Callable[[Any], Callable[..., Any]], inputs: tuple[torch.Tensor, ...]
) -> None:
    function = choose(emitted)
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


FORWARD = [c for c in CASES if c[0] not in ("stack",)]


@pytest.mark.parametrize(("choose", "inputs"), [c[1:] for c in FORWARD], ids=[c[0] for c in FORWARD])
def test_tangents_are_right(
    emitted: types.ModuleType, choose: Callable[[Any], Callable[..., Any]], inputs: tuple[torch.Tensor, ...]
) -> None:
    assert torch.autograd.gradcheck(choose(emitted), inputs, check_forward_ad=True)


def test_pure_functions_need_no_state(emitted: types.ModuleType) -> None:
    x, y = tensor(3).detach(), tensor(3, seed=1).detach()
    grad = torch.ones(3, dtype=torch.float64)
    both = emitted.mul_Tensor_backward((grad,), (True, True), y, y.dtype, x, x.dtype)
    assert torch.equal(both[0], y)
    assert torch.equal(both[1], x)
    assert emitted.mul_Tensor_backward((grad,), (False, True), y, y.dtype, x, x.dtype)[0] is None
    assert emitted.mul_Tensor_backward((None,), (True, True), y, y.dtype, x, x.dtype) == (None, None)


def test_a_gradient_that_nobody_has_written_is_refused(emitted: types.ModuleType) -> None:
    x, y = tensor(3).detach().abs().requires_grad_(), tensor(3, seed=1).detach().abs()
    with pytest.raises(NotImplementedError, match="igamma"):
        emitted.igamma(x, y).sum().backward()


def test_torch_func(emitted: types.ModuleType) -> None:
    x, y = tensor(4, 3).detach(), tensor(4, 3, seed=1).detach()

    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return emitted.sum_(emitted.exp(emitted.mul_Tensor(a, b)))

    def upstream(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a * b).exp().sum()

    func = torch.func
    assert torch.allclose(func.grad(loss)(x, y), func.grad(upstream)(x, y))
    each = func.vmap(func.grad(loss))(x, y)
    assert torch.allclose(each, func.vmap(func.grad(upstream))(x, y))
    assert torch.allclose(func.jacrev(func.grad(loss))(x, y), func.jacrev(func.grad(upstream))(x, y))
    ours = func.jvp(loss, (x, y), (y, x))[1]
    assert torch.allclose(ours, func.jvp(upstream, (x, y), (y, x))[1])
    assert torch.allclose(func.hessian(loss)(x, y), func.hessian(upstream)(x, y))


def test_torch_compile(emitted: types.ModuleType) -> None:
    x, y = tensor(4, 3), tensor(4, 3, seed=1)

    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return emitted.exp(emitted.mul_Tensor(a, b)).sum()

    compiled = torch.compile(loss, backend="eager")
    ours = torch.autograd.grad(compiled(x, y), (x, y))
    theirs = torch.autograd.grad((x * y).exp().sum(), (x, y))
    assert all(torch.allclose(a, b) for a, b in zip(ours, theirs, strict=True))


def test_several_outputs_and_a_mask(emitted: types.ModuleType) -> None:
    x, w, b = tensor(2, 4), tensor(4, seed=1), tensor(4, seed=2)
    ours = torch.autograd.grad(emitted.native_layer_norm(x, [4], w, b, 1e-5)[0].pow(2).sum(), (x, w, b))
    theirs = torch.autograd.grad(torch.native_layer_norm(x, [4], w, b, 1e-5)[0].pow(2).sum(), (x, w, b))
    assert all(torch.allclose(p, q) for p, q in zip(ours, theirs, strict=True))
    (alone,) = torch.autograd.grad(emitted.native_layer_norm(x, [4], None, None, 1e-5)[0].pow(2).sum(), (x,))
    assert alone.shape == x.shape


def test_in_place(emitted: types.ModuleType) -> None:
    x = tensor(3)
    y = x.clone()
    emitted.fill__Tensor(y, tensor(1, seed=1).sum().detach())
    (grad,) = torch.autograd.grad(y.sum(), x, allow_unused=True)
    assert grad is None or not bool(grad.any())
    z = x * 1
    emitted.squeeze_(z)
    assert torch.autograd.grad((z * z).sum(), x)[0].allclose(2 * x)


LISTS = ["_foreach_div_List", "_foreach_maximum_List", "_foreach_minimum_List"]


@pytest.mark.parametrize("name", LISTS)
def test_tangents_of_lists_have_lengths_of_their_own(emitted: types.ModuleType, name: str) -> None:
    def function(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(getattr(emitted, name)([a, b], [b, a]))

    assert torch.autograd.gradcheck(function, (tensor(2), tensor(2, seed=1)), check_forward_ad=True)


@pytest.mark.parametrize("name", ["add", "mul", "div"])
def test_one_tensor_for_a_list_gets_the_sum_of_gradients(emitted: types.ModuleType, name: str) -> None:
    def function(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(getattr(emitted, f"_foreach_{name}_Tensor")([a, b], c))

    inputs = (tensor(2, 3), tensor(4, seed=1), tensor(seed=2))
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


def test_what_is_masked_out_has_no_gradient_under_forward_mode(emitted: types.ModuleType) -> None:
    def norm(x: torch.Tensor) -> torch.Tensor:
        return emitted.native_layer_norm(x, [4], None, None, 1e-5)[0].pow(2).sum()

    def batch_norm(x: torch.Tensor) -> torch.Tensor:
        return emitted._native_batch_norm_legit_no_stats(x, None, None, True, 0.1, 1e-5)[0].pow(3).sum()

    for function in (norm, batch_norm):
        x, v = tensor(2, 4).detach(), tensor(2, 4, seed=1).detach()
        ours = torch.func.jvp(torch.func.grad(function), (x,), (v,))[1]
        step = 1e-6 * v
        theirs = (torch.func.grad(function)(x + step) - torch.func.grad(function)(x - step)) / 2e-6
        assert torch.allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("name", ["polygamma", "threshold"])
def test_what_is_overwritten_has_gradients_of_gradients_and_tangents(emitted: types.ModuleType, name: str) -> None:
    arguments = {"polygamma": (1,), "threshold": (0.5, 0.25)}[name]

    def function(x: torch.Tensor) -> torch.Tensor:
        return getattr(emitted, f"{name}_")(x * 1, *arguments).pow(2)

    x = tensor(3).detach().abs().add(1).requires_grad_()
    assert torch.autograd.gradcheck(function, (x,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (x,), check_fwd_over_rev=True)

    def slope(f: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
        return torch.func.grad(lambda v: f(v).sum())

    (expected,) = torch.autograd.grad(torch.autograd.grad(function(x).sum(), x, create_graph=True)[0].sum(), x)
    assert torch.allclose(slope(slope(function))(x.detach()), expected)


def test_forward_mode_goes_through_tangents(emitted: types.ModuleType) -> None:
    def ours(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return emitted.exp(emitted.mul_Tensor(emitted.mm(x, y), x)).sum()

    def theirs(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x.mm(y) * x).exp().sum()

    def second(f: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda x, y: torch.func.jvp(lambda a, b: torch.func.jvp(f, (a, b), (b, a))[1], (x, y), (y, x))[1]

    x, y = tensor(2, 2).detach() / 2, tensor(2, 2, seed=1).detach() / 2
    assert torch.allclose(second(ours)(x, y), second(theirs)(x, y))
    assert torch.allclose(second(second(ours))(x, y), second(second(theirs))(x, y))
    for outer in (torch.func.jacfwd, torch.func.jacrev):
        for inner in (torch.func.jacfwd, torch.func.jacrev):
            assert torch.allclose(outer(inner(ours))(x, y), outer(inner(theirs))(x, y))
    z = tensor(3).detach().abs() + 1
    twice = torch.func.jvp(lambda v: torch.func.jvp(lambda u: emitted.polygamma_(u * 1, 1), (v,), (v,))[1], (z,), (z,))[1]
    expected = z * torch.polygamma(2, z) + z * z * torch.polygamma(3, z)
    assert torch.allclose(twice, expected)


@pytest.mark.parametrize("name", ["_linalg_eigh", "linalg_eig"])
def test_what_a_loss_may_not_depend_on_is_refused_under_vmap_too(emitted: types.ModuleType, name: str) -> None:
    def vectors(x: torch.Tensor) -> torch.Tensor:
        return getattr(emitted, name)(x + x.mH + (x - x.mH) * 1j)[1]

    x = tensor(4, 3, 3).detach()
    each = torch.func.vmap(torch.func.grad(lambda m: vectors(m).abs().pow(4).sum()))(x)
    alone = torch.stack([torch.func.grad(lambda m: vectors(m).abs().pow(4).sum())(m) for m in x])
    assert torch.allclose(each, alone)
    with pytest.raises(RuntimeError, match="phase"):
        torch.func.vmap(torch.func.grad(lambda m: vectors(m).imag.sum()))(x)
