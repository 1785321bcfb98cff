"""The one table from the types of functions to C++: how a function takes a value, and how it keeps one; knows no expression."""

from __future__ import annotations

from gradspec.emit.cxx import string_literal
from gradspec.types import TENSOR, BaseType, ListType, OptionalType, Type
from gradspec.values import TupleType, ValueType

# How a function takes a value: what formulas hand on converts to it, as it does for PyTorch's own helpers.
_BY_VALUE = {
    "int": "int64_t", "float": "double", "bool": "bool", "ScalarType": "at::ScalarType", "Layout": "at::Layout",
    "MemoryFormat": "at::MemoryFormat", "str": "std::string_view",
}  # fmt: skip
_BY_REFERENCE = {
    "Tensor": "at::Tensor", "Scalar": "at::Scalar", "SymInt": "c10::SymInt", "TensorOptions": "at::TensorOptions",
    "TensorGeometry": "at::TensorGeometry", "Device": "at::Device",
}  # fmt: skip
_LISTS = {"int": "at::IntArrayRef", "SymInt": "c10::SymIntArrayRef", "Tensor": "at::TensorList"}
_OPTIONAL_LISTS = {"int": "at::OptionalIntArrayRef", "SymInt": "at::OptionalSymIntArrayRef"}

# Words that may be a default.
_WORDS = {
    "None": "std::nullopt", "True": "true", "False": "false", "inf": "INFINITY", "nan": "NAN", "{}": "{}",
    "Mean": "at::Reduction::Mean", "Sum": "at::Reduction::Sum", "strided": "at::kStrided", "long": "at::kLong",
    "float": "at::kFloat", "double": "at::kDouble", "int": "at::kInt", "bool": "at::kBool", "half": "at::kHalf",
    "contiguous_format": "at::MemoryFormat::Contiguous", "channels_last": "at::MemoryFormat::ChannelsLast",
    "channels_last_3d": "at::MemoryFormat::ChannelsLast3d", "preserve_format": "at::MemoryFormat::Preserve",
}  # fmt: skip


def parameter_type(type_: Type) -> str:
    """How a function takes a value, up to its name."""
    match type_:
        case BaseType(name) if name in _BY_VALUE:
            return f"{_BY_VALUE[name]} "
        case BaseType(name):
            return f"const {_BY_REFERENCE[name]}& "
        case ListType(BaseType("bool"), int(size)):
            return f"const std::array<bool, {size}>& "
        case ListType(BaseType(name)) if name in _LISTS:
            return f"{_LISTS[name]} "
        case ListType(OptionalType(BaseType("Tensor"))):
            return "const c10::List<std::optional<at::Tensor>>& "
        case ListType(elem):
            return f"at::ArrayRef<{owned_type(elem)}> "
        case OptionalType(ListType(BaseType(name))) if name in _OPTIONAL_LISTS:
            return f"{_OPTIONAL_LISTS[name]} "
        case OptionalType(BaseType("str")):
            return "const std::optional<std::string_view>& "
        case OptionalType(elem):
            return f"const std::optional<{owned_type(elem)}>& "


def owned_type(type_: ValueType) -> str:
    """The C++ type of a value that owns what it holds; `auto` where that is not known."""
    match type_:
        case BaseType(name):
            return _BY_VALUE.get(name) or _BY_REFERENCE.get(name) or "auto"
        case ListType(BaseType("bool"), int(size)):
            return f"std::array<bool, {size}>"
        case ListType(elem):
            return f"std::vector<{owned_type(elem)}>"
        case OptionalType(ListType()):
            return "auto"
        case OptionalType(elem):
            # A tensor that may be absent reads as an undefined one.
            return "at::Tensor" if elem == TENSOR else f"std::optional<{owned_type(elem)}>"
        case TupleType(items):
            parts = [owned_type(i) for i in items]
            return "auto" if "auto" in parts else f"std::tuple<{', '.join(parts)}>"
        case _:
            return "auto"


def default_text(type_: Type, text: str) -> str:
    """A schema's default as C++ spells it; one value for a list of fixed length stands for all of it."""
    inner = type_.elem if isinstance(type_, OptionalType) else type_
    if text[:1] in "'\"":
        return string_literal(text[1:-1])
    if isinstance(inner, ListType) and text != "None":
        items = text[1:-1].split(",") if text.startswith("[") else [text] * (inner.size or 1)
        return f"{{{', '.join([default_text(inner.elem, item.strip()) for item in items if item.strip()])}}}"
    if text[-1:] == "j":
        return f"c10::complex<double>(0, {text[:-1]})"
    if text[:1] in "+-":
        return text[0] + _WORDS.get(text[1:], text[1:])
    return _WORDS.get(text, text)
