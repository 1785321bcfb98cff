"""Formulas as torch 1.8 can say them: no symbolic ints, and c10's optionals; knows no node."""

from __future__ import annotations

from attrs import evolve

from gradspec.ir import Call, Constant, Construct, Expr, Lambda, Method, TypeRef, rewrite
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
_FUNCTIONS = {"std::make_optional": "c10::make_optional"}
_CONSTANTS = {"std::nullopt": "c10::nullopt", "::std::nullopt": "c10::nullopt"}
_SYMBOLIC, _SYMBOLIC_FORM = "sym_", "_symint"


def translate(expr: Expr) -> Expr:
    """The formula with everything symbolic made plain."""
    return rewrite(expr, _plain)


def _plain(expr: Expr) -> Expr | None:
    match expr:
        case Constant(name) if name in _CONSTANTS:
            return Constant(_CONSTANTS[name])
        case Call(function, args, template):
            plain = _FUNCTIONS.get(function, function.removesuffix(_SYMBOLIC_FORM))
            return Call(plain, tuple(map(translate, args)), tuple(map(_type, template)))
        case Method(receiver, name, args, arrow, template):
            plain = name.removeprefix(_SYMBOLIC).removesuffix(_SYMBOLIC_FORM)
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
