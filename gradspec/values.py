"""The types that expressions have, and which of them C++ converts to which; knows no function and no expression."""

from __future__ import annotations

from typing import TypeAlias

from attrs import Factory, field, frozen

from gradspec.types import BOOL, INT, SCALAR, STR, SYMINT, TENSOR, BaseType, ListType, OptionalType, Type, base

FLOAT = base("float")
SCALAR_TYPE = base("ScalarType")
TENSOR_OPTIONS = base("TensorOptions")


@frozen
class TupleType:
    """Several values of known number: what an op with several outputs gives."""

    items: tuple[ValueType, ...]
    size: int = field(init=False, eq=False, repr=False, default=Factory(lambda self: _size(self.items), takes_self=True))

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


@frozen
class BracesType:
    """A brace list before it is known what it initialises."""

    items: tuple[ValueType, ...]
    size: int = field(init=False, eq=False, repr=False, default=Factory(lambda self: _size(self.items), takes_self=True))

    def __str__(self) -> str:
        return f"{{{', '.join(map(str, self.items))}}}"


@frozen
class Special:
    """A type that no value is declared with."""

    name: str

    def __str__(self) -> str:
        return self.name


# Nothing is known of the value: it fits everywhere, and everything can be asked of it.
UNKNOWN = Special("unknown")
# `std::nullopt`: the value of an optional that is absent.
NOTHING = Special("nullopt")
# A function that gives nothing.
VOID = Special("void")

# A function without a name, which only `fmap` takes.
LAMBDA = Special("a lambda")

ValueType: TypeAlias = Type | TupleType | BracesType | Special


def _size(items: tuple[ValueType, ...]) -> int:
    """How many parts there are, those of parts included."""
    return 1 + sum(i.size if isinstance(i, TupleType | BracesType) else 1 for i in items)


_WHOLE = (BOOL, INT)
_REAL = (BOOL, INT, FLOAT)
_NUMBERS = (BOOL, INT, SYMINT, FLOAT, SCALAR, base("SymFloat"), base("SymBool"), base("complex"))
# What converts to each base type beside itself, by implicit conversions of C++ and of c10's classes (c10/core/Scalar.h, SymInt.h,
# TensorOptions.h). A float for an int is a conversion too, but one that drops digits: it is refused.
_CONVERSIONS: dict[ValueType, tuple[ValueType, ...]] = {
    BOOL: (INT, FLOAT),
    INT: _WHOLE,
    SYMINT: _WHOLE,
    FLOAT: _REAL,
    SCALAR: _NUMBERS,
    base("SymFloat"): _REAL,
    base("SymBool"): (BOOL,),
    base("DeviceIndex"): _WHOLE,
    TENSOR: (OptionalType(TENSOR),),
    TENSOR_OPTIONS: (SCALAR_TYPE, base("Layout"), base("Device"), base("MemoryFormat")),
}


def is_number(type_: ValueType) -> bool:
    """Whether the value is a number of a C++ type that has arithmetic."""
    return type_ in (INT, FLOAT, BOOL, SYMINT)


def conversion(to: ValueType, given: ValueType) -> int | None:
    """How far an argument is from a parameter: 0 the same, 1 or more by conversions, None where C++ has none."""
    if to == given or given is UNKNOWN or to is UNKNOWN:
        return 0
    match to:
        case BaseType():
            if isinstance(given, BracesType):
                # `{}` makes a value of any type; `{x}` makes it from x.
                return 1 if not given.items else conversion(to, given.items[0]) if len(given.items) == 1 else None
            if to == STR:
                return None
            return 1 if given in _CONVERSIONS.get(to, ()) else None
        case OptionalType(elem):
            if given is NOTHING or (isinstance(given, BracesType) and not given.items):
                return 1
            if isinstance(given, OptionalType):
                return conversion(elem, given.elem) if not isinstance(given.elem, BaseType) or given.elem == elem else None
            far = conversion(elem, given)
            return None if far is None else far + 1
        case ListType(elem):
            return _list_conversion(to, elem, given)
        case TupleType(items):
            if not isinstance(given, TupleType) or len(items) != len(given.items):
                return None
            steps = [conversion(t, g) for t, g in zip(items, given.items, strict=True)]
            return None if None in steps else sum(s for s in steps if s is not None)
        case _:
            return None


def _list_conversion(to: ListType, elem: Type, given: ValueType) -> int | None:
    match given:
        case BracesType(items):
            # `{{1, 1}}` is a list made from a list.
            if len(items) == 1 and isinstance(items[0], BracesType):
                return conversion(to, items[0])
            steps = [conversion(elem, i) for i in items]
            return None if None in steps else 1
        case ListType(inner):
            # An array reference takes a list of its very element; its length is checked when it runs.
            return 0 if inner == elem or conversion(elem, inner) == 0 else None
        case _:
            # c10::ArrayRef is made from one element too.
            far = conversion(elem, given)
            return None if far is None else far + 1


def listed(type_: ValueType) -> ValueType:
    """The type of a name for a value: braces make a list, of that element to which all convert."""
    if not isinstance(type_, BracesType):
        return type_
    for elem in type_.items:
        if isinstance(elem, BaseType | ListType) and all(conversion(elem, i) is not None for i in type_.items):
            return ListType(elem)
    return UNKNOWN
