"""The one table from the IR's types to Python's: what a getter gives, as a stub says it; knows no node and no C++."""

from __future__ import annotations

from gradspec.types import BaseType, ListType, OptionalType, Type

# What torch has a Python object for. `Scalar` is an alias of the stub, and the last three are classes of it.
_BASE = {
    "Tensor": "Tensor",
    "int": "int",
    "SymInt": "int | SymInt",
    "float": "float",
    "bool": "bool",
    "Scalar": "Scalar",
    "str": "str",
    "ScalarType": "torch.dtype",
    "Layout": "torch.layout",
    "Device": "torch.device",
    "MemoryFormat": "torch.memory_format",
    "TensorOptions": "TensorOptions",
    "TensorInfo": "TensorInfo",
    "TensorGeometry": "TensorGeometry",
}


# Which of them have getters as lists, optional lists and lists of lists: those that operators and formulas have.
_LISTS = frozenset(("Tensor", "int", "SymInt", "float", "Scalar", "str", "ScalarType"))
_OPTIONAL_LISTS = frozenset(("int", "SymInt", "float"))
_NESTED_LISTS = frozenset(("int", "SymInt"))


def python_type(type_: Type) -> str | None:
    """What a getter of a value of this type gives; None where there is no getter for it. `MemberPointer` lists the same types."""
    match type_:
        case BaseType(name):
            return _BASE.get(name)
        case ListType(OptionalType(BaseType("Tensor"))):
            return "tuple[Tensor | None, ...]"
        case ListType(BaseType(name)) if name in _LISTS:
            return f"tuple[{_BASE[name]}, ...]"
        case ListType(ListType(BaseType(name))) if name in _NESTED_LISTS:
            return f"tuple[tuple[{_BASE[name]}, ...], ...]"
        case OptionalType(ListType(BaseType(name))) if name in _OPTIONAL_LISTS:
            return f"tuple[{_BASE[name]}, ...] | None"
        case OptionalType(BaseType(name)) if name in _BASE:
            return f"{_BASE[name]} | None"
        case _:
            return None
