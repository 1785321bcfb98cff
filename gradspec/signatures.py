"""Signatures of what formulas call: ATen's schemas as C++ has them, and what PyTorch declares beside; knows no expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from attrs import field, frozen

from gradspec import torch_signatures
from gradspec.ir import Argument, Function, Operator, Program, Schema, TypeRef
from gradspec.types import (
    BOOL,
    INT,
    OPTIONS_ARGUMENTS,
    SCALAR,
    STR,
    SYMINT,
    TENSOR,
    ListType,
    OptionalType,
    Type,
    base,
    has_symint,
    with_suffixes,
)
from gradspec.values import FLOAT, NOTHING, TENSOR_OPTIONS, UNKNOWN, VOID, TupleType, ValueType


@frozen
class Parameter:
    """A parameter of a C++ function. `arguments` are the schema's arguments that it stands for."""

    name: str
    type: ValueType
    has_default: bool = False
    arguments: tuple[str, ...] = ()


@frozen(eq=False)
class Signature:
    """One overload. `schema` is the operator that it calls, `function` the function of the language; a method's receiver is no
    parameter."""

    name: str
    parameters: tuple[Parameter, ...]
    result: ValueType
    schema: Schema | None = None
    receiver: str = ""
    function: Function | None = None

    @property
    def required(self) -> int:
        """How many arguments a call must have."""
        return sum(not p.has_default for p in self.parameters)


@frozen(eq=False)
class Signatures:
    """All signatures, by name. `operators` gives the overloads of a base name, for other libraries' ops `library::base`.

    `own` are functions of the language: one hides what PyTorch declares by its name. Of those that are `unread` nothing is known.
    """

    operators: Callable[[str], tuple[Operator, ...]]
    own: tuple[Function, ...] = ()
    unread: frozenset[str] = frozenset()
    _own: dict[str, list[Signature]] = field(init=False, factory=dict)
    _functions: dict[str, tuple[Signature, ...]] = field(init=False, factory=dict)
    _methods: dict[tuple[str, str], tuple[Signature, ...]] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        for function in self.own:
            self._own.setdefault(function.name, []).append(_of_function(function))

    def functions(self, name: str) -> tuple[Signature, ...]:
        """The overloads of a free function by the name that a formula calls it by; none where it is not known."""
        found = self._functions.get(name)
        if found is None:
            if name in self.unread:
                return ()
            plain = name.removeprefix("::")
            bare = plain.removeprefix("at::")
            found = tuple(self._own.get(plain) or declared_functions().get(bare) or ())
            found += tuple(self._of_operators(bare, method=False))
            self._functions[name] = found
        return found

    def is_own(self, name: str) -> bool:
        """Whether it is the name of a function of the language."""
        return name in self._own

    def methods(self, receiver: str, name: str) -> tuple[Signature, ...]:
        """The overloads of a member function of a base type."""
        found = self._methods.get((receiver, name))
        if found is None:
            found = tuple(declared_functions(methods=True).get(f"{receiver}.{name}", ()))
            if receiver == "Tensor":
                found += tuple(self._of_operators(name, method=True))
            self._methods[receiver, name] = found
        return found

    @property
    def knows_operators(self) -> bool:
        """Whether there is a list of ATen's operators, so that what is not on it does not exist."""
        return bool(self.operators("add"))

    def method_names(self, receiver: str) -> Iterator[str]:
        """The declared member functions of a base type, those of operators left out."""
        prefix = f"{receiver}."
        return (key.removeprefix(prefix) for key in declared_functions(methods=True) if key.startswith(prefix))

    def _of_operators(self, name: str, *, method: bool) -> Iterator[Signature]:
        symbolic = name.endswith("_symint")
        for known in self.operators(name.removesuffix("_symint") if symbolic else name):
            schema = known.schema
            if schema.out or not (known.has_method if method else known.has_function):
                continue
            if symbolic and not any(has_symint(a.type) for a in schema.arguments):
                continue
            yield from _cxx_forms(schema, name, method=method, symbolic=symbolic)


def operators_of(program: Program) -> Callable[[str], tuple[Operator, ...]]:
    """The operators of a program: those that it was compiled against, and its own ones of other libraries."""
    own: dict[str, list[Operator]] = {}
    for op in program.ops:
        if op.schema.name.library:
            name = f"{op.schema.name.library}::{op.schema.name.base}"
            own.setdefault(name, []).append(Operator(op.schema, has_function=True, has_method=False))
    return lambda name: tuple(own[name]) if name in own else program.operators(name)


def _cxx_forms(schema: Schema, name: str, *, method: bool, symbolic: bool) -> Iterator[Signature]:
    """The C++ functions of one operator: all arguments by position, the keyword-only ones last (torchgen.api.cpp)."""
    arguments = [a for a in schema.arguments if not (method and a.name == "self")]
    result = result_type(schema)
    receiver = "Tensor" if method else ""
    names = [a.name for a in arguments]
    plain = tuple([_parameter(a, symbolic) for a in arguments])
    if all(n in names for n in OPTIONS_ARGUMENTS):
        yield Signature(name, tuple(_grouped(arguments, plain)), result, schema, receiver)
    yield Signature(name, plain, result, schema, receiver)


def _grouped(arguments: list[Argument], plain: tuple[Parameter, ...]) -> Iterator[Parameter]:
    defaults = all(a.default is not None for a in arguments if a.name in OPTIONS_ARGUMENTS)
    for argument, parameter in zip(arguments, plain, strict=True):
        if argument.name == OPTIONS_ARGUMENTS[0]:
            yield Parameter("options", TENSOR_OPTIONS, defaults, OPTIONS_ARGUMENTS)
        elif argument.name not in OPTIONS_ARGUMENTS:
            yield parameter


def _parameter(argument: Argument, symbolic: bool) -> Parameter:
    type_ = argument.type if symbolic else _concrete(argument.type)
    return Parameter(argument.name, type_, argument.default is not None, (argument.name,))


def _concrete(type_: Type) -> Type:
    """The type with plain ints for symbolic ones: what the form without `_symint` takes."""
    match type_:
        case OptionalType(elem):
            return OptionalType(_concrete(elem))
        case ListType(elem, size):
            return ListType(_concrete(elem), size)
        case _:
            return INT if type_ == SYMINT else type_


def _of_function(function: Function) -> Signature:
    parameters = [Parameter(a.name, a.type, a.default is not None, (a.name,)) for a in function.parameters]
    return Signature(function.name, tuple(parameters), result_type(function.schema), function=function)


def result_type(schema: Schema) -> ValueType:
    """What a call of an operator or function gives."""
    if not schema.returns:
        return VOID
    return schema.returns[0].type if len(schema.returns) == 1 else TupleType(tuple([r.type for r in schema.returns]))


# ------------------------------------------------------------------------------------------------------------ declared ones


@cache
def declared_functions(*, methods: bool = False) -> dict[str, list[Signature]]:
    """The signatures of torch_signatures.py by name; methods are called `Type.name`."""
    found: dict[str, list[Signature]] = {}
    text = torch_signatures.METHODS if methods else torch_signatures.FUNCTIONS
    for line in text.replace("\n    ", " ").splitlines():
        head, _, result = line.rpartition(" -> ")
        name, _, inside = head.partition("(")
        parameters = [_declared_parameter(p) for p in _split(inside.removesuffix(")"))]
        receiver, _, last = name.rpartition(".")
        found.setdefault(name, []).append(Signature(last, tuple(parameters), value_type(result), None, receiver))
    return found


def _declared_parameter(text: str) -> Parameter:
    type_, _, name = text.rpartition(" ")
    return Parameter(name.removesuffix("="), value_type(type_), name.endswith("="))


def _split(text: str) -> list[str]:
    """The parts between commas, those in parentheses left alone."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in (*parts, text[start:].strip()) if p]


@cache
def value_type(text: str) -> ValueType:
    """A type as torch_signatures.py spells it."""
    if text in ("()", "void"):
        return VOID
    if text == "nullopt":
        return NOTHING
    if text.startswith("("):
        return TupleType(tuple([value_type(t) for t in _split(text[1:-1])]))
    end = next((i for i, c in enumerate(text) if c in "?["), len(text))
    return with_suffixes(base(text[:end]), text[end:])


# --------------------------------------------------------------------------------------------------------- types of formulas

_NAMED_TYPES: dict[str, ValueType] = {
    "Tensor": TENSOR, "Scalar": SCALAR, "SymInt": SYMINT, "int64_t": INT, "int": INT, "size_t": INT, "double": FLOAT,
    "float": FLOAT, "bool": BOOL, "string": STR, "string_view": STR, "IntArrayRef": ListType(INT),
    "SymIntArrayRef": ListType(SYMINT), "TensorList": ListType(TENSOR), "variable_list": ListType(TENSOR),
    "OptionalIntArrayRef": OptionalType(ListType(INT)), "OptionalSymIntArrayRef": OptionalType(ListType(SYMINT)),
    "TensorOptions": TENSOR_OPTIONS, "ScalarType": base("ScalarType"), "Layout": base("Layout"), "Device": base("Device"),
    "MemoryFormat": base("MemoryFormat"), "nullopt_t": NOTHING,
}  # fmt: skip


def type_of_ref(ref: TypeRef | str) -> ValueType:
    """The type that a formula names in C++ spelling; UNKNOWN where it is none of PyTorch's common ones."""
    if isinstance(ref, str):
        return UNKNOWN
    name = ref.name.rpartition("::")[2]
    args = [type_of_ref(a) for a in ref.args]
    if not args:
        return _NAMED_TYPES.get(name, UNKNOWN)
    if name in ("tuple", "pair"):
        return TupleType(tuple(args))
    first = args[0]
    if isinstance(first, TupleType) or first is UNKNOWN or not isinstance(first, type(TENSOR) | ListType | OptionalType):
        return UNKNOWN
    match name:
        case "vector" | "ArrayRef" | "List" | "SmallVector":
            return ListType(first)
        case "array" if len(ref.args) == 2 and isinstance(ref.args[1], str):
            return ListType(first, int(ref.args[1]))
        case "optional":
            return OptionalType(first)
        case "OptionalArrayRef" | "OptionalArray":
            return OptionalType(ListType(first))
        case _:
            return UNKNOWN
