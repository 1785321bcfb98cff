"""Random formulas, schemas, specs and damaged texts, for properties that must hold of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from hypothesis import strategies as st

from gradspec import ir
from gradspec.types import SCHEMA_BASE_TYPES, TENSOR, BaseType, ListType, OptionalType, Type, base

# ---------------------------------------------------------------------------------------------------------------- formulas

NAMES = st.sampled_from(
    ["a", "b", "self", "grad", "x1", "_y", "M_PI", "at::kLong", "std::nullopt", "::c10::kFloat", "returned", "R"]
)
METHODS = st.sampled_from(["f", "sum", "to", "get", "item", "e5", "x", "R"])
NUMBERS = st.sampled_from(["0", "1", "42", "0x1F", "0b11", "017", "1.", ".5", "1.5e-3", "1e10", "2ull", "3.0f", "1'000", "1.e5"])
STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)

_simple_types = st.sampled_from(["Tensor", "int64_t", "at::Tensor", "c10::SymInt", "bool"]).map(ir.TypeRef)
_template_names = st.sampled_from(["std::tuple", "std::vector", "c10::List", "ArrayRef", "std::optional", "std::array"])


def _template_types(inner: st.SearchStrategy[ir.TypeRef]) -> st.SearchStrategy[ir.TypeRef]:
    args = st.lists(st.one_of(inner, st.sampled_from(["0", "2"])), min_size=1, max_size=2).map(tuple)
    return st.builds(ir.TypeRef, _template_names, args)


TYPES = st.recursive(_simple_types, _template_types, max_leaves=4)
TEMPLATE_TYPES = _template_types(TYPES)


def _larger(inner: st.SearchStrategy[ir.Expr]) -> st.SearchStrategy[ir.Expr]:
    args = st.lists(inner, max_size=3).map(tuple)
    template = st.lists(st.one_of(_simple_types, st.just("1")), min_size=1, max_size=2).map(tuple)
    no_template = st.just(())
    return st.one_of(
        st.builds(ir.Call, NAMES, args, no_template),
        st.builds(ir.Call, st.sampled_from(["std::get", "std::make_optional", "static_cast", "std::max"]), args, template),
        st.builds(ir.Method, inner, METHODS, args, st.booleans(), st.one_of(no_template, template)),
        st.builds(ir.Construct, TEMPLATE_TYPES, args, st.booleans()),
        st.builds(ir.Construct, st.sampled_from(["IntArrayRef", "at::Tensor"]).map(ir.TypeRef), args, st.just(True)),
        st.builds(ir.Braces, args),
        st.builds(ir.Index, inner, inner),
        st.builds(ir.Unary, st.sampled_from(get_args(ir.UnaryOperator)), inner),
        st.builds(ir.Binary, st.sampled_from(get_args(ir.BinaryOperator)), inner, inner),
        st.builds(ir.Conditional, inner, inner, inner),
        st.builds(ir.Lambda, TYPES, st.sampled_from(["x", "y"]), inner),
    )


FORMULAS: st.SearchStrategy[ir.Expr] = st.recursive(
    st.one_of(st.builds(ir.Constant, NAMES), st.builds(ir.Number, NUMBERS), st.builds(ir.String, STRINGS)), _larger, max_leaves=12
)

# ----------------------------------------------------------------------------------------------------------------- schemas

IDENTIFIERS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True)


def _larger_types(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    return st.one_of(st.builds(OptionalType, inner), st.builds(ListType, inner, st.one_of(st.none(), st.integers(0, 9))))


SCHEMA_TYPES: st.SearchStrategy[Type] = st.recursive(
    st.sampled_from(sorted(SCHEMA_BASE_TYPES)).map(base), _larger_types, max_leaves=3
)

_plain_defaults: dict[str, st.SearchStrategy[str]] = {
    "int": st.integers(-(2**63), 2**63 - 1).map(str),
    "SymInt": st.integers(-5, 5).map(str),
    "float": st.floats(allow_nan=False, allow_infinity=False).map(str),
    "Scalar": st.one_of(st.integers(-3, 3).map(str), st.sampled_from(["1.5", "True"])),
    "bool": st.sampled_from(["True", "False"]),
    "str": st.text(st.characters(codec="ascii", exclude_characters='"\\\n\r'), max_size=6).map(lambda text: f'"{text}"'),
    "MemoryFormat": st.sampled_from(["contiguous_format", "channels_last"]),
}


def defaults(type_: Type) -> st.SearchStrategy[str | None]:
    """A default that fits, or none."""
    match type_:
        case OptionalType(elem):
            return st.one_of(defaults(elem), st.just("None"))
        case ListType(BaseType("int" | "bool" | "SymInt" as name)):
            return st.one_of(st.none(), st.lists(_plain_defaults[name], max_size=3).map(lambda items: f"[{','.join(items)}]"))
        case BaseType(name) if name in _plain_defaults:
            return st.one_of(st.none(), _plain_defaults[name])
        case _:
            return st.none()


ALIASES = st.one_of(
    st.none(),
    st.builds(ir.Alias, st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True).map(tuple), st.booleans()),
    st.builds(ir.Alias, st.just(("a",)), st.just(False), st.sampled_from([("*",), ("b", "c")])),
)


@st.composite
def schemas(draw: st.DrawFn) -> ir.Schema:
    """A schema as the parser would make it: defaults behind arguments without, out arguments at the end."""
    names = draw(st.lists(IDENTIFIERS, max_size=6, unique=True))
    cut, second = sorted([draw(st.integers(0, len(names))), draw(st.integers(0, len(names)))])

    def argument(name: str, needs_default: bool) -> ir.Argument:
        type_ = draw(SCHEMA_TYPES)
        default = draw(defaults(type_))
        if needs_default and default is None and not isinstance(type_, ListType):
            type_, default = OptionalType(type_), "None"
        alias = draw(ALIASES)
        return ir.Argument(name, type_, default, None if alias is not None and alias.write else alias)

    positional: list[ir.Argument] = []
    for name in names[:cut]:
        positional.append(argument(name, bool(positional) and positional[-1].default is not None))
    keyword = [argument(name, False) for name in names[cut:second]]
    out = [ir.Argument(name, TENSOR, None, ir.Alias((draw(st.sampled_from("abc")),), True)) for name in names[second:]]
    return_names = draw(st.lists(st.one_of(st.just(""), IDENTIFIERS), max_size=3, unique_by=lambda name: name or object()))
    returns = tuple([ir.Return(draw(SCHEMA_TYPES), name, draw(ALIASES)) for name in return_names])
    library = draw(st.one_of(st.just(""), IDENTIFIERS))
    op_name = ir.OpName(draw(IDENTIFIERS), draw(st.one_of(st.just(""), IDENTIFIERS)), library)
    return ir.Schema(op_name, tuple(positional), tuple(keyword), tuple(out), returns)


# ------------------------------------------------------------------------------------------------------------------- specs

_values = st.sampled_from(
    ["grad", "grad", "self", "other", "result", "n", "2", "0.5", "M_PI", "self.dim()", "other.sym_sizes()", "self.sym_size(-1)"]
)


def _larger_texts(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{} * {}".format, inner, inner),
        st.builds("({} + {})".format, inner, inner),
        st.builds("h({}, {})".format, inner, inner),
        st.builds("-{}".format, inner),
        st.builds("{}[0]".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("zeros_like({})".format, inner),
    )


_backward = st.one_of(
    st.recursive(_values, _larger_texts, max_leaves=6), st.sampled_from(["non_differentiable", 'not_implemented("f: self")'])
)
_forward = st.one_of(
    st.sampled_from(["auto_linear", "auto_element_wise", "self_t * other_p + other_t * self_p", "h(self_t, self_p, result, n)"])
)


@st.composite
def specs(draw: st.DrawFn) -> str:
    """A .grad file of some ops over tensors `self` and `other` and an int `n`; most have findings, few have errors of syntax."""
    lines = ["extern h;"]
    for i in range(draw(st.integers(1, 4))):
        arguments = draw(st.sampled_from(["Tensor self, Tensor other, int n", "Tensor self, Tensor? other=None, *, int n=1"]))
        returns = draw(st.sampled_from(["Tensor", "Tensor", "(Tensor result, Tensor second)"]))
        lines.append(f"op f{i}({arguments}) -> {returns} {{")
        if draw(st.booleans()):
            lines.append(f"  self: {draw(_backward)};")
        if draw(st.booleans()):
            lines.append(f"  other: {draw(_backward)};")
        if draw(st.booleans()):
            lines.append(f"  result: {draw(_forward)};")
        if draw(st.integers(0, 3)) == 0:
            lines.append(f"  dispatch AutogradNestedTensor {{ self, other: h(grad, {draw(_values)}); }}")
        lines.append("}")
    return "\n".join(lines) + "\n"


# --------------------------------------------------------------------------------------------------------------- functions


@st.composite
def functions(draw: st.DrawFn) -> ir.Function:
    """A function whose names are all known, and whose types may be anything."""
    schema = draw(_headers())
    scope = [p.name for p in schema.positional]
    fresh = iter(range(1000))
    statements: list[ir.Let | ir.Guard] = []
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            statements.append(ir.Guard(_part(draw, scope, fresh, 2), _part(draw, scope, fresh, 2)))
            continue
        value = _part(draw, scope, fresh, 3)
        names = tuple([f"v{next(fresh)}" for _ in range(draw(st.integers(1, 3)))])
        statements.append(ir.Let(names, value))
        scope += names
    return ir.Function(schema, tuple(statements), _part(draw, scope, fresh, 3))


@st.composite
def _headers(draw: st.DrawFn) -> ir.Schema:
    parameters: list[ir.Argument] = []
    for i in range(draw(st.integers(0, 4))):
        elem = draw(st.sampled_from([TENSOR, base("int"), base("bool"), base("str"), base("float"), base("Scalar")]))
        forms: list[Type] = [elem, OptionalType(elem), ListType(elem)]
        type_ = draw(st.sampled_from(forms))
        default = draw(defaults(type_))
        if parameters and parameters[-1].default is not None and default is None:
            type_, default = OptionalType(type_), "None"
        parameters.append(ir.Argument(f"{draw(st.sampled_from(['x', 'self', 'fn', 'op', 'lambda', '_']))}{i}", type_, default))
    returns = tuple([ir.Return(TENSOR)] * draw(st.integers(1, 3)))
    return ir.Schema(ir.OpName(draw(st.sampled_from(["f", "g_", "_h", "template"]))), tuple(parameters), (), (), returns)


def _part(draw: st.DrawFn, scope: list[str], fresh: Iterator[int], depth: int) -> ir.Expr:
    """An expression over the names that are known where it stands."""

    def part(more: Sequence[str] = ()) -> ir.Expr:
        return _part(draw, [*scope, *more], fresh, depth - 1)

    def parts(least: int, most: int = 3) -> tuple[ir.Expr, ...]:
        return tuple([part() for _ in range(draw(st.integers(least, most)))])

    match draw(st.integers(0, 13)) if depth else draw(st.integers(0, 3)):
        case 0 if scope:
            return ir.Local(draw(st.sampled_from(scope)))
        case 0 | 1:
            return ir.Number(draw(NUMBERS))
        case 2:
            return draw(st.one_of(st.builds(ir.String, STRINGS), st.builds(ir.Bool, st.booleans())))
        case 3:
            return ir.Constant(draw(st.sampled_from(["M_PI", "at::kLong", "::std::nullopt"])))
        case 4:
            return ir.Binary(draw(st.sampled_from(get_args(ir.BinaryOperator))), part(), part())
        case 5:
            return ir.Unary(draw(st.sampled_from(get_args(ir.UnaryOperator))), part())
        case 6:
            return ir.Conditional(part(), part(), part())
        case 7:
            return ir.Method(part(), draw(METHODS), parts(0), draw(st.booleans()))
        case 8:
            return ir.Call(draw(st.sampled_from(["at::where", "std::max", "range", "foldl"])), parts(0))
        case 9:
            return ir.Index(part(), part())
        case 10:
            return ir.Braces(parts(0))
        case 11:
            return ir.Call("std::make_tuple", parts(2))
        case 12:
            sources = parts(1, 2)
            names = tuple([f"v{next(fresh)}" for _ in sources])
            return ir.Comprehension(part(names), names, sources, part(names) if draw(st.booleans()) else None)
        case _:
            initial, sources = part(), parts(1, 2)
            accumulator = f"v{next(fresh)}"
            names = tuple([f"v{next(fresh)}" for _ in sources])
            return ir.Fold(accumulator, initial, names, sources, part((accumulator, *names)))


# ------------------------------------------------------------------------------------------------------------------ damage

PIECES = st.sampled_from(
    [*"(){}[];:,.\"'*&|!~<>=+-/%?#@\\\n\t é\0\x85\u2028\ufeff", "op ", "dispatch", "grads[", "grad_", "_t", "std::get<0>",
     "std::tuple<", "->", "//", "/*", "*/", "::", "[](T x) { return x; }", "output_differentiability", ": ", "- ", "\n  ",
     "\n    ", "auto_linear", "non_differentiable", "True", "null", "1e999", "0x", "&a ", "*a", "!!t ", "<<: ", "---\n", "...\n",
     'R"(', "Tensor?", "(a!)", "_foreach_", "grad_input_mask[", "->sym_sizes()", ".sizes()", "zeros_like(", "TensorGeometry(",
     "fn ", "let ", "if (", "return ", " for a in ", "fold(", "zip(", "range(", "in ",
     "library x;", "extern y;", "<<<<<<< a\n", "=======\n", "\r\n", "\ud7ff", "\U0001f600"]
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """A text with pieces put in, taken out, repeated, or with its end cut off."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.sampled_from([0, 0, 1, 1, 3, 20])))
        kind = draw(st.integers(0, 4))
        if kind <= 1:
            text = text[:at] + draw(PIECES) + text[end:]
        elif kind == 2:
            text = text[:at] + text[end:]
        elif kind == 3:
            text = text[:end] + text[at:]
        else:
            text = text[:at]
    return text
