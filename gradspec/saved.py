"""Which inputs, outputs and properties a node keeps, and its formulas over them; knows nothing of where the spec says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import evolve, frozen

from gradspec.ir import Call, Derivative, Expr, Input, Method, Number, Op, Output, Saved, SavedValue, Unary, rewrite
from gradspec.types import INT, OPTIONAL_TENSOR, SYMINT, TENSOR, TENSOR_LIST, ListType, OptionalType, Type, base, unsized

# What a formula asks of a tensor that can be kept in its place (torchgen's load_derivatives.py has the same list):
# method name to suffix of the saved name and its type.
_METHOD_PROPERTIES: Mapping[str, tuple[str, Type]] = {
    "sym_sizes": ("_sym_sizes", ListType(SYMINT)),
    "sym_blocksize": ("_self_sym_blocksize_opt", OptionalType(ListType(SYMINT))),
    "options": ("_options", base("TensorOptions")),
    "numel": ("_numel", INT),
    "sym_numel": ("_sym_numel", SYMINT),
    "scalar_type": ("_scalar_type", base("ScalarType")),
    "dim": ("_dim", INT),
    "sym_strides": ("_sym_strides", ListType(SYMINT)),
    "layout": ("_layout", base("Layout")),
    "is_conj": ("_conjugate", base("bool")),
}

# The same for functions of a tensor, or of a tensor list.
_FUNCTION_PROPERTIES: Mapping[str, tuple[str, Type]] = {
    "zeros_like": ("_info", base("TensorInfo")),
    "TensorGeometry": ("_geometry", base("TensorGeometry")),
    "to_args_sizes": ("_args_sizes", ListType(ListType(INT))),
    "to_args_sizes_symint": ("_args_sizes_symint", ListType(ListType(SYMINT))),
    "to_args_scalartypes": ("_args_scalartypes", ListType(base("ScalarType"))),
}

PROPERTY_METHODS = (*_METHOD_PROPERTIES, "sym_size")


@frozen
class Property:
    """A part of a value that is kept in its place. `use` is what the formula then reads."""

    of: Input | Output
    name: str
    type: Type
    use: Expr
    value: Expr


def property_of(expr: Expr) -> Property | None:
    """The property that an expression asks of an input or output, None where it asks for something else."""
    match expr:
        case Method(Input() | Output() as of, name, (), arrow, ()) if name in _METHOD_PROPERTIES:
            suffix, type_ = _METHOD_PROPERTIES[name]
            if arrow and name != "sym_sizes":
                return None
            if arrow:
                suffix, type_ = suffix + "_opt", OptionalType(type_)
            return Property(of, of.name + suffix, type_, Saved(of.name + suffix, type_), expr)
        case Method(Input() | Output() as of, "sym_size", (argument,), False, ()):
            spelled = _argument_text(argument)
            if spelled is None:
                return None
            saved_name = f"{of.name}_sym_argsize_{spelled}"
            return Property(of, saved_name, SYMINT, Saved(saved_name, SYMINT), expr)
        case Call(function, (Input() | Output() as of,), ()) if function.removeprefix("at::") in _FUNCTION_PROPERTIES:
            function = function.removeprefix("at::")
            suffix, type_ = _FUNCTION_PROPERTIES[function]
            of_list = of.type == TENSOR_LIST
            if of_list != function.startswith("to_args") or not (of_list or of.type in (TENSOR, OPTIONAL_TENSOR)):
                return None
            saved = Saved(of.name + suffix, type_)
            if function == "zeros_like":
                # The info is taken from the tensor itself, and made into zeros when it is asked for.
                return Property(of, saved.name, type_, Method(saved, "zeros", ()), of)
            return Property(of, saved.name, type_, saved, expr)
        case _:
            return None


def _argument_text(argument: Expr) -> str | None:
    match argument:
        case Number(text) if text.isdigit():
            return text
        case Unary("-", Number(text)) if text.isdigit():
            return f"minus_{text}"
        case Input(name, type_) if type_ in (INT, SYMINT):
            return name
        case _:
            return None


def infer_saved(op: Op, conflict: Callable[[SavedValue, SavedValue], None]) -> Op:
    """The op with what its node keeps, and its formulas over that. `conflict` hears of two values that would share one name."""
    found: dict[str, SavedValue] = {}

    def keep(value: SavedValue) -> None:
        first = found.setdefault(value.name, value)
        if first != value:
            conflict(first, value)

    def change(expr: Expr) -> Expr | None:
        asked = property_of(expr)
        if asked is not None:
            keep(SavedValue(asked.name, asked.type, "input" if isinstance(asked.of, Input) else "output", asked.value))
            return asked.use
        match expr:
            case Input(name, type_):
                type_ = unsized(type_)
                keep(SavedValue(name, type_, "input", expr, overwritten=_is_overwritten(op, name)))
                return Saved(name, type_)
            case Output(name, type_):
                type_ = unsized(type_)
                keep(SavedValue(name, type_, "output", expr))
                return Saved(name, type_)
            case _:
                return None

    derivatives = tuple(Derivative(d.inputs, rewrite(d.written, change), d.written) for d in op.derivatives)
    order = sorted(found.values(), key=lambda v: (v.origin, v.name))
    return evolve(op, derivatives=derivatives, saved=tuple(order))


def _is_overwritten(op: Op, name: str) -> bool:
    # Other arguments that an op writes to are outputs by another name: those are kept as the op leaves them.
    return op.schema.is_inplace and op.schema.arguments[0].name == name
