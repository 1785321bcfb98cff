"""Formulas as torch 1.8 can say them: no symbolic ints, c10's optionals, older names of operators; knows no node."""

from __future__ import annotations

from attrs import evolve

from gradspec.ir import Call, Constant, Construct, Expr, Lambda, Method, Number, TypeRef, rewrite
from gradspec_cpp.types import Words

WORDS = Words(symint="int64_t", optional="c10::optional")

_TYPES = {
    "c10::SymInt": "int64_t",
    "at::SymInt": "int64_t",
    "SymInt": "int64_t",
    "c10::SymIntArrayRef": "at::IntArrayRef",
    "at::SymIntArrayRef": "at::IntArrayRef",
    "SymIntArrayRef": "at::IntArrayRef",
    "std::optional": "c10::optional",
    "std::string_view": "c10::string_view",
}
# A conjugate was always a new tensor then.
_FUNCTIONS = {"std::make_optional": "c10::make_optional", "at::conj_physical": "at::conj", "conj_physical": "conj"}
_METHODS = {"conj_physical": "conj"}
_CONSTANTS = {"std::nullopt": "c10::nullopt", "::std::nullopt": "c10::nullopt"}
_SYMBOLIC, _SYMBOLIC_FORM = "sym_", "_symint"


def translate(expr: Expr) -> Expr:
    """The formula with everything symbolic made plain."""
    return rewrite(expr, _plain)


def _plain(expr: Expr) -> Expr | None:
    match expr:
        case Constant(name) if name in _CONSTANTS:
            return Constant(_CONSTANTS[name])
        case Call("std::make_optional", (), (TypeRef() as elem,)):
            return Construct(TypeRef("c10::optional", (_type_ref(elem),)), (Construct(_type_ref(elem), ()),))
        case Method(receiver, "mT" | "mH" as name, ()):
            turned = Method(translate(receiver), "transpose", (Number("-2"), Number("-1")))
            return turned if name == "mT" else Method(turned, "conj", ())
        case Call(function, args, template):
            plain = _FUNCTIONS.get(function, function.removesuffix(_SYMBOLIC_FORM))
            return Call(plain, tuple(map(translate, args)), tuple(map(_type, template)))
        case Method(receiver, name, args, arrow, template):
            plain = _METHODS.get(name, name.removeprefix(_SYMBOLIC).removesuffix(_SYMBOLIC_FORM))
            return Method(translate(receiver), plain, tuple(map(translate, args)), arrow, tuple(map(_type, template)))
        case Construct(ref, args, braces):
            return Construct(_type_ref(ref), tuple(map(translate, args)), braces)
        case Lambda(param_type, _, body):
            return evolve(expr, param_type=_type_ref(param_type), body=translate(body))
        case _:
            return None


def _type(ref: TypeRef | str) -> TypeRef | str:
    return ref if isinstance(ref, str) else _type_ref(ref)


def _type_ref(ref: TypeRef) -> TypeRef:
    return TypeRef(_TYPES.get(ref.name, ref.name), tuple(map(_type, ref.args)))
