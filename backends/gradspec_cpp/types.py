"""The one table from the IR's types to C++: what a node's member is, and how a formula receives it; knows no node."""

from __future__ import annotations

from attrs import frozen

from gradspec.emit.members import is_kept_tensor
from gradspec.types import BaseType, ListType, OptionalType, Type


@frozen
class Words:
    """What C++ calls the types whose names changed over the releases of torch."""

    symint: str = "c10::SymInt"
    optional: str = "std::optional"


CURRENT = Words()

# Base types: the member's C++ type, its initialiser, and whether a formula takes it by value (else by reference to const).
_BASE: dict[str, tuple[str, str, bool]] = {
    "int": ("int64_t", " = 0", True),
    "float": ("double", "", True),
    "bool": ("bool", "", True),
    "Scalar": ("at::Scalar", "", False),
    "str": ("std::string", "", False),
    "ScalarType": ("at::ScalarType", "", True),
    "Layout": ("at::Layout", "", True),
    "Device": ("at::Device", " = at::kCPU", True),
    "MemoryFormat": ("at::MemoryFormat", "", True),
    "TensorOptions": ("at::TensorOptions", "", False),
    "TensorGeometry": ("at::TensorGeometry", "", False),
    "TensorInfo": ("TypeAndSize", "", False),
}

# A type with a conversion that formulas need and that C++ has for objects that are not const alone.
_MUTABLE = "c10::OptionalArray<"


@frozen
class Spelling:
    """How C++ keeps a value and hands it on.

    `member`: the member's type. `initial`: its initialiser. `parameter`: the formula's parameter, up to its name. `visit`: the
    function of the runtime header that tells a visitor what the member is, if there is anything to tell. What the member is
    called, `gradspec.emit.members` knows.
    """

    member: str
    parameter: str
    initial: str = ""
    visit: str = ""


def spell(type_: Type, is_output: bool, words: Words = CURRENT) -> Spelling | None:
    """The C++ of a saved value; None where a node cannot keep such a value."""
    origin = "output" if is_output else "input"
    if is_kept_tensor(type_, is_output):
        return Spelling("SavedVariable", "const Tensor& ", visit=f"saved_{origin}")
    match type_:
        case ListType(BaseType("Tensor")):
            return Spelling("std::vector<SavedVariable>", "const std::vector<Tensor>& ", visit=f"saved_{origin}s")
        case ListType(OptionalType(BaseType("Tensor"))):
            parameter = f"const c10::List<{words.optional}<Tensor>>& "
            return Spelling("std::vector<SavedVariable>", parameter, visit=f"saved_optional_{origin}s")
        case ListType(BaseType("Scalar")):
            return Spelling("std::vector<at::Scalar>", "const std::vector<at::Scalar>& ", visit="releasable")
        case OptionalType(BaseType("str")):
            # Callees take an optional view, to which no C++ type converts by itself within a formula.
            return Spelling(f"{words.optional}<std::string>", f"{words.optional}<std::string_view> ")
        case BaseType(name) if base := _base(name, words):
            member, initial, by_value = base
            return Spelling(member, f"{member} " if by_value else _reference(member), initial)
    plain = _value_type(type_, words)
    return Spelling(plain, _reference(plain)) if plain else None


def common_members(words: Words) -> tuple[str, ...]:
    """The C++ types of members that nodes commonly have, but for those that a visitor is told of by a function."""
    base = {name: BaseType(name) for name in ("SymInt", *_BASE)}
    listed = [ListType(base[name]) for name in ("int", "SymInt", "float", "ScalarType")]
    types: list[Type] = [*base.values(), *listed, *[ListType(elem) for elem in listed[:2]]]
    types += [OptionalType(elem) for elem in listed[:3]]
    types += [OptionalType(base[name]) for name in ("int", "SymInt", "float", "bool", "Scalar", "str", "ScalarType")]
    return tuple([spelling.member for type_ in types if (spelling := spell(type_, False, words))])


def _reference(member: str) -> str:
    return f"{member}& " if member.startswith(_MUTABLE) else f"const {member}& "


def _base(name: str, words: Words) -> tuple[str, str, bool] | None:
    if name == "SymInt":
        # Where a symbolic int is a plain one, it starts as one.
        return _BASE["int"] if words.symint == _BASE["int"][0] else (words.symint, "", False)
    return _BASE.get(name)


def _value_type(type_: Type, words: Words) -> str | None:
    """The C++ type of a value that owns what it holds; None where there is none."""
    match type_:
        case BaseType(name):
            base = _base(name, words)
            return base[0] if base else None
        case OptionalType(ListType(BaseType("int" | "SymInt" | "float") as elem)):
            return f"c10::OptionalArray<{_value_type(elem, words)}>"
        case OptionalType(elem):
            inner = _value_type(elem, words)
            return f"{words.optional}<{inner}>" if inner else None
        case ListType(BaseType("bool")):
            # The elements of a std::vector<bool> are no objects, so that none can be visited.
            return None
        case ListType(elem):
            inner = _value_type(elem, words)
            return f"std::vector<{inner}>" if inner else None
