"""Types of formulas: what C++ would refuse is said at its place, and nothing else is."""

from __future__ import annotations

import pytest

from gradspec import ir
from gradspec.diagnostics import Diagnostics, SpecError
from gradspec.load import find_torch, load_source
from gradspec.pipeline import compile_sources
from gradspec.signatures import Signatures, declared_functions, value_type
from gradspec.source import Source
from gradspec.typed import Typing
from gradspec.types import TENSOR, ListType, OptionalType, base
from gradspec.values import NOTHING, UNKNOWN, BracesType, TupleType, conversion

OP = "mul.Tensor(Tensor self, Tensor other) -> Tensor"
DIAGONAL = "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)"
NORM = "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor"
CLAMP = "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"
CAT = "cat(Tensor[] tensors, int dim=0) -> Tensor"


@pytest.fixture(scope="module")
def native() -> Source:
    source = load_source(find_torch(None).native_functions, Diagnostics())
    assert source is not None
    return source


def compile_formula(schema: str, rule: str, schemas: Source | None) -> ir.Program:
    return compile_sources([Source("t.grad", f"op {schema} {{\n  {rule};\n}}\n")], schemas).program


WRONG = [
    # schema, rule, code, the text at the place, words of the message
    (OP, "self: grad.conjj()", "GS0901", "conjj", "Tensor has no method `conjj`"),
    (OP, "self: grad * other.sym_sizes()", "GS0904", "grad * other.sym_sizes()", "no `*` of Tensor and SymInt[]"),
    (OP, "self: grad.masked_fill(other)", "GS0902", "masked_fill", "takes 2 arguments, here are 1"),
    (OP, "self: grad.conj(other)", "GS0902", "other", "takes 0 arguments, here are 1"),
    (OP, "self: at::where(other, grad)", "GS0902", "at::where", "takes 1 or 3 arguments, here are 2"),
    (OP, 'self: grad.pow("2")', "GS0903", '"2"', "is str"),
    (OP, "self: grad.expand(other.sym_sizes())", "GS0903", "other.sym_sizes()", "this is SymInt[]"),
    (OP, "self: at::zeros(self.sym_sizes(), self.options())", "GS0903", "self.sym_sizes()", "this is SymInt[]"),
    (OP, "self: maybe_multiply(grad)", "GS0902", "maybe_multiply", "takes 2 arguments, here are 1"),
    (OP, "self: maybe_multiply(grad, other)", "GS0903", "other", "`s` of `maybe_multiply()` is Scalar, this is Tensor"),
    (OP, "self: other ? grad : grad.conj()", "GS0904", "other", "a condition is true or false, this is Tensor"),
    (OP, "self: grad && other", "GS0904", "grad && other", "no `&&`"),
    (OP, "self: !other", "GS0904", "!other", "no `!` of Tensor"),
    (OP, "self: self.dim()", "GS0905", "self.dim()", "the gradient of `self` is a tensor, the formula gives int"),
    (OP, "self: std::get<2>(std::make_tuple(grad, other))", "GS0903", "std::get<2>(std::make_tuple(grad, other))", "of 2 values"),
    (OP, "self: std::get<0>(other)", "GS0903", "other", "reads a tuple"),
    (OP, "self, other: at::is_same_size(grad, self)", "GS0905", "at::is_same_size(grad, self)", "the formula gives bool"),
    (OP, "self: grad;\n  result: self_t.nosuch()", "GS0901", "nosuch", "no method"),
    (DIAGONAL, "self: grad.diagonal(self)", "GS0903", "self", "is int, this is Tensor"),
    (DIAGONAL, "self: grad * offset.abs()", "GS0901", "abs", "int has no method"),
    (NORM, "self: grad * (p + maxnorm)", "GS0904", "(p + maxnorm)", "no `+` of Scalar and Scalar"),
    (NORM, "self: grad * p.toDubble()", "GS0901", "toDubble", "Scalar has no method"),
    (CLAMP, "self: grad * min.toDouble()", "GS0901", "toDouble", "Scalar? has no method"),
    (CAT, "tensors: at::sgn(grad)", "GS0905", "at::sgn(grad)", "a list of tensors"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "rule", "code", "place", "words"), WRONG, ids=[w[1] for w in WRONG])
def test_what_is_wrong_is_said_where_it_stands(native: Source, schema: str, rule: str, code: str, place: str, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        compile_formula(schema, rule, native)
    (found,) = [d for d in caught.value.diagnostics if d.severity == "error"]
    assert found.code.id == code
    assert words in found.message
    assert found.span is not None
    assert found.span.source.text[found.span.start : found.span.end] == place


def test_a_near_name_is_suggested(native: Source) -> None:
    with pytest.raises(SpecError) as caught:
        compile_formula(OP, "self: grad.transpos(0, 1)", native)
    assert "transpose" in caught.value.diagnostics[0].help


def test_the_symbolic_form_is_suggested(native: Source) -> None:
    with pytest.raises(SpecError) as caught:
        compile_formula(OP, "self: grad.expand(self.sym_sizes())", native)
    assert "expand_symint" in caught.value.diagnostics[0].help


@pytest.mark.parametrize("rule", ["self: grad.nosuch(1, 2)", "self: at::nosuch(grad)", "self: grad.pow(other, 3)"])
def test_without_schemas_what_has_none_is_unknown(rule: str) -> None:
    (op,) = compile_formula(OP, rule, None).ops
    assert Typing(Signatures(lambda name: ())).type_of(op.derivatives[0].formula) is UNKNOWN


def test_torchs_own_formulas_are_all_typed() -> None:
    found = find_torch(None)
    sources = [load_source(path, Diagnostics()) for path in (found.derivatives, found.native_functions)]
    assert sources[0] is not None
    program = compile_sources([sources[0]], sources[1]).program
    signatures = Signatures(program.operators)
    count = 0
    for op in program.ops:
        typing = Typing(signatures)
        for formula in [*(d.formula for d in op.derivatives), *(j.formula for j in op.jvps)]:
            assert typing.type_of(formula) is not UNKNOWN, (op.name, formula)
            count += 1
        assert typing.faults == [], op.name
    assert count > 1400


@pytest.mark.parametrize(
    ("to", "given", "far"),
    [
        (TENSOR, TENSOR, 0),
        (TENSOR, base("Scalar"), None),
        (base("Scalar"), base("float"), 1),
        (base("Scalar"), TENSOR, None),
        (base("int"), base("float"), None),
        (base("int"), base("SymInt"), None),
        (base("SymInt"), base("int"), 1),
        (OptionalType(TENSOR), NOTHING, 1),
        (OptionalType(TENSOR), TENSOR, 1),
        (ListType(base("int")), BracesType((base("int"), base("bool"))), 1),
        (ListType(base("int")), BracesType((BracesType((base("int"),)),)), 1),
        (ListType(base("int"), 2), ListType(base("int")), 0),
        (ListType(base("int")), base("int"), 1),
        (ListType(base("int")), ListType(base("SymInt")), None),
        (base("TensorOptions"), base("ScalarType"), 1),
        (base("Layout"), UNKNOWN, 0),
        (TupleType((TENSOR,)), TupleType((TENSOR, TENSOR)), None),
    ],
)
def test_conversions(to: object, given: object, far: int | None) -> None:
    assert conversion(to, given) == far  # type: ignore[arg-type]


def test_declared_signatures_read() -> None:
    (multiply,) = declared_functions()["maybe_multiply"]
    assert [str(p.type) for p in multiply.parameters] == ["Tensor", "Scalar"]
    assert value_type("(Tensor, int[]?)") == TupleType((TENSOR, OptionalType(ListType(base("int")))))
    assert [p.has_default for p in declared_functions()["not_implemented"][0].parameters] == [False, True]
