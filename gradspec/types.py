"""Value types in the schema language's own spelling; no target language appears here."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from attrs import frozen

# The base types of the schema language (torch/library.h, native/README.md of PyTorch).
SCHEMA_BASE_TYPES = frozenset(
    {
        "Tensor", "int", "SymInt", "float", "SymFloat", "bool", "SymBool", "Scalar", "str", "ScalarType", "Layout", "Device",
        "DeviceIndex", "MemoryFormat", "Generator", "Dimname", "Storage", "Stream", "QScheme", "ConstQuantizerPtr",
        "complex", "Dimension",
    }
)  # fmt: skip

# What only a saved value can be: a tensor reduced to what the formula asks of it.
SAVED_BASE_TYPES = frozenset({"TensorOptions", "TensorInfo", "TensorGeometry"})

# The arguments of a tensor factory that are one `TensorOptions` in C++, or four optionals (torchgen.api.cpp.argument).
OPTIONS_ARGUMENTS = ("dtype", "layout", "device", "pin_memory")


@frozen
class BaseType:
    """A type without parts: `Tensor`, `SymInt`, `ScalarType`."""

    name: str

    def __str__(self) -> str:
        return self.name


@frozen
class OptionalType:
    """A value that may be absent: `Tensor?`."""

    elem: Type

    def __str__(self) -> str:
        return f"{self.elem}?"


@frozen
class ListType:
    """A list, of fixed length where `size` is given: `Tensor[]`, `int[2]`."""

    elem: Type
    size: int | None = None

    def __str__(self) -> str:
        return f"{self.elem}[{'' if self.size is None else self.size}]"


Type: TypeAlias = BaseType | OptionalType | ListType


@cache
def base(name: str) -> BaseType:
    """The one BaseType of that name."""
    return BaseType(name)


def with_suffixes(type_: Type, suffixes: str) -> Type:
    """The type with `?` and `[n]` put behind it, innermost first: `?[]` makes a list of optional values."""
    while suffixes:
        if suffixes[0] == "?":
            type_, suffixes = OptionalType(type_), suffixes[1:]
        else:
            size, _, suffixes = suffixes[1:].partition("]")
            type_ = ListType(type_, int(size) if size else None)
    return type_


TENSOR = base("Tensor")
OPTIONAL_TENSOR = OptionalType(TENSOR)
TENSOR_LIST = ListType(TENSOR)
OPTIONAL_TENSOR_LIST = ListType(OPTIONAL_TENSOR)
INT = base("int")
SYMINT = base("SymInt")
BOOL = base("bool")
SCALAR = base("Scalar")
STR = base("str")


def is_tensor_like(type_: Type) -> bool:
    """Whether a gradient can flow into a value of this type: a tensor, optional or not, or a list of them."""
    match type_:
        case BaseType(name):
            return name == "Tensor"
        case OptionalType(elem) | ListType(elem):
            return is_tensor_like(elem)


def is_tensor_list(type_: Type) -> bool:
    """Whether a value of this type is a list of tensors, each optional or not."""
    return isinstance(type_, ListType) and is_tensor_like(type_.elem)


def has_symint(type_: Type) -> bool:
    """Whether symbolic ints occur in the type."""
    match type_:
        case BaseType(name):
            return name == "SymInt"
        case OptionalType(elem) | ListType(elem):
            return has_symint(elem)


def unsized(type_: Type) -> Type:
    """The type with list lengths forgotten: what a saved value keeps of `int[2]`."""
    match type_:
        case BaseType():
            return type_
        case OptionalType(elem):
            return OptionalType(unsized(elem))
        case ListType(elem):
            return ListType(unsized(elem))
