"""Schema text to ir.Schema; knows the schema language, not which operators exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from attrs import frozen
from lark import Lark, Token
from lark.exceptions import UnexpectedInput
from lark.visitors import Transformer

from gradspec import grammar
from gradspec.diagnostics import Diagnostics, did_you_mean
from gradspec.habits import FOREIGN_TYPES
from gradspec.ir import Alias, Argument, OpName, Return, Schema
from gradspec.source import Excerpt
from gradspec.types import (
    SAVED_BASE_TYPES,
    SCHEMA_BASE_TYPES,
    TENSOR,
    BaseType,
    ListType,
    OptionalType,
    Type,
    base,
    with_suffixes,
)

# Words that may stand for a default of the type on the left, beside None for an optional one.
_ENUM_DEFAULTS = {
    "MemoryFormat": {"contiguous_format", "channels_last", "channels_last_3d", "preserve_format"},
    "int": {"Mean", "Sum"},
    "ScalarType": {"long", "float", "double", "int", "bool", "half"},
    "Layout": {"strided"},
}

# What a value in a function may be; what only nodes read is none of it.
_FUNCTION_TYPES = (SCHEMA_BASE_TYPES | SAVED_BASE_TYPES) - {"TensorInfo"}


@frozen
class _RawArgument:
    type: Token
    name: Token
    default: Token | None


@frozen
class _RawSchema:
    name: Token
    arguments: tuple[_RawArgument | Token, ...]
    returns: tuple[tuple[Token, Token | None], ...]


def parse_schema(excerpt: Excerpt, diagnostics: Diagnostics, *, is_function: bool = False) -> Schema | None:
    """One schema; None where it is wrong, with the reasons in `diagnostics`.

    The header of a function of the language is a schema too: its types are also those that only a saved value can have.
    """
    known = _known_schemas.get((excerpt.text, is_function))
    if known is not None:
        return known
    try:
        raw: Any = _schema_parser().parse(excerpt.text)
    except UnexpectedInput as error:
        grammar.report_schema_error(error, excerpt, diagnostics, is_function=is_function)
        return None
    types = _FUNCTION_TYPES if is_function else SCHEMA_BASE_TYPES
    schema = _SchemaBuilder(excerpt, diagnostics, types).build(raw)
    if schema is not None:
        _known_schemas[excerpt.text, is_function] = schema
    return schema


# Entries repeat the schemas that native_functions.yaml spells: each text is read once.
_known_schemas: dict[tuple[str, bool], Schema] = {}


@cache
def _schema_parser() -> Lark:
    return grammar.build_parser("schema", _RawBuilder())


class _RawBuilder(Transformer[Token, Any]):
    def start(self, c: list[Any]) -> _RawSchema:
        return _RawSchema(c[0], c[1] or (), c[2])

    def arguments(self, c: list[Any]) -> tuple[Any, ...]:
        return tuple(c)

    def argument(self, c: list[Any]) -> _RawArgument:
        return _RawArgument(*c)

    def returns(self, c: list[Any]) -> tuple[Any, ...]:
        return tuple(r for r in c if r is not None)

    def return_(self, c: list[Any]) -> tuple[Any, ...]:
        return tuple(c)


@lru_cache(maxsize=4096)
def parse_type(text: str, types: frozenset[str] = SCHEMA_BASE_TYPES) -> tuple[Type, Alias | None]:
    """A type of the schema language with its alias annotation: `Tensor(a!)[]`.

    Raises:
        ValueError: the text is no type; the message is the wrong base name.
    """
    end = next((i for i, c in enumerate(text) if c in "(?["), len(text))
    name, rest = text[:end], text[end:]
    if name not in types and not name.startswith("__torch__."):
        raise ValueError(name)
    alias = None
    if rest.startswith("("):
        inside, _, rest = rest[1:].partition(")")
        before, _, after = inside.partition("->")
        names = before.strip()
        alias = Alias(
            tuple(n.strip() for n in names.rstrip("!").split("|") if n.strip()),
            names.endswith("!"),
            tuple(n.strip() for n in after.split("|") if n.strip()),
        )
    type_: Type = base(name) if name in types else BaseType(name)
    return with_suffixes(type_, rest), alias


@frozen
class _SchemaBuilder:
    excerpt: Excerpt
    diagnostics: Diagnostics
    types: frozenset[str]

    def build(self, raw: _RawSchema) -> Schema | None:
        arguments_seen: dict[str, Token] = {}
        returns_seen: dict[str, Token] = {}
        positional: list[Argument] = []
        keyword: list[Argument] = []
        out: list[Argument] = []
        into = positional
        fine = True
        for item in raw.arguments:
            if isinstance(item, Token):
                if into is keyword:
                    self._report("GS0202", "`*` stands twice", item)
                    fine = False
                if item is raw.arguments[-1]:
                    self._report("GS0202", "no argument follows `*`", item)
                    fine = False
                into = keyword
                continue
            argument = self._argument(item)
            if argument is None or not self._is_new(item.name, arguments_seen):
                fine = False
            elif into is keyword and argument.alias is not None and argument.alias.write:
                out.append(argument)
            else:
                if into is positional and positional and _needs_default(positional[-1], argument):
                    message = f"`{argument.name}` has no default, the argument before it has one"
                    self._report("GS0202", message, item.name, "give it one, or move it to the front or behind `*`")
                    fine = False
                into.append(argument)
        returns: list[Return] = []
        for type_token, name in raw.returns:
            typed = self._type(type_token)
            # An output may bear the name of an argument, as some of ATen's do: formulas then call it NAME_return.
            if typed is None or (name is not None and not self._is_new(name, returns_seen)):
                fine = False
            else:
                returns.append(Return(typed[0], str(name) if name else "", typed[1]))
        if not fine:
            return None
        library, _, rest = str(raw.name).rpartition("::")
        base_name, _, overload = rest.partition(".")
        return Schema(OpName(base_name, overload, library), tuple(positional), tuple(keyword), tuple(out), tuple(returns))

    def _argument(self, raw: _RawArgument) -> Argument | None:
        typed = self._type(raw.type)
        if typed is None:
            return None
        default = None
        if raw.default is not None:
            default = canonical_default(str(raw.default))
            if not _fits(default, typed[0]):
                message = f"`{raw.default}` is no default for the {typed[0]} argument `{raw.name}`"
                self._report("GS0301", message, raw.default, _default_help(typed[0]))
                return None
        return Argument(str(raw.name), typed[0], default, typed[1])

    def _type(self, token: Token) -> tuple[Type, Alias | None] | None:
        try:
            return parse_type(str(token), self.types)
        except ValueError as error:
            known = FOREIGN_TYPES.get(str(error))
            help_ = f"write `{known}`" if known else did_you_mean(str(error), self.types)
            self._report("GS0302", f"unknown type `{error}`", token, help_)
            return None

    def _is_new(self, name: Token, seen: dict[str, Token]) -> bool:
        first = seen.setdefault(str(name), name)
        if first is not name:
            self._report("GS0303", f"`{name}` is used twice in this schema", name, others=[first])
        return first is name

    def _report(self, code: str, message: str, token: Token, help_: str = "", others: list[Token] | None = None) -> None:
        place = [self.excerpt.place(t.start_pos or 0, t.end_pos or 0) for t in [token, *(others or [])]]
        self.diagnostics.add(code, message, place[0], help=help_, others=[(p, "first here") for p in place[1:]])


def _default_help(type_: Type) -> str:
    match type_:
        case OptionalType(elem):
            inner = _default_help(elem) if elem != TENSOR else ""
            return f"{inner}, or `None`" if inner else "write `None`"
        case ListType(elem):
            return "write a list, `[0, 1]`" if str(elem) != "Tensor" else "write `[]`"
        case BaseType(name):
            return {
                "bool": "write `True` or `False`",
                "int": "write a whole number",
                "SymInt": "write a whole number",
                "float": "write a number",
                "Scalar": "write a number",
                "str": "write it in quotes",
                "Tensor": "a tensor has no default; `Tensor?` may have `None`",
            }.get(name, "")


def _needs_default(before: Argument, argument: Argument) -> bool:
    # c10::FunctionSchema demands it, and lets lists pass.
    return before.default is not None and argument.default is None and not isinstance(argument.type, ListType)


def canonical_default(text: str) -> str:
    """The one spelling of a default: lists without blanks, as native_functions.yaml has them."""
    if text.startswith("["):
        return f"[{','.join(part.strip() for part in text[1:-1].split(',') if part.strip())}]"
    return text


def _fits(default: str, type_: Type) -> bool:
    match type_:
        case OptionalType(elem):
            return default == "None" or _fits(default, elem)
        case ListType(elem, size):
            if default.startswith("["):
                return all(_fits(item, elem) for item in default[1:-1].split(",") if item)
            return size is not None and _fits(default, elem)
        case BaseType(name):
            if default in _ENUM_DEFAULTS.get(name, ()):
                return True
            match name:
                case "bool" | "SymBool":
                    return default in ("True", "False")
                case "str":
                    return default[:1] in ("'", '"')
                case "int" | "SymInt" | "DeviceIndex":
                    return _is_number(default, int, 0)
                case "float" | "SymFloat":
                    return default in ("True", "False") or _is_number(default, float) or _is_number(default, int, 0)
                case "Scalar" | "complex":
                    return default in ("True", "False") or _is_number(default, complex) or _is_number(default, int, 0)
                case "Tensor":
                    return default in ("{}",)
                case _:
                    return default.isidentifier() and default != "None"


def _is_number(text: str, read: Callable[..., object], *options: object) -> bool:
    try:
        read(text, *options)
    except (ValueError, OverflowError):
        return False
    # Python groups digits with `_`, the schema language does not.
    return text.isascii() and "_" not in text
