"""Functions of the language as Python functions, each in the modules that call it; knows no op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from attrs import frozen

from gradspec import ir
from gradspec.layout import concat
from gradspec.signatures import Signatures, result_type
from gradspec.typed import Typing
from gradspec.typed_function import type_function
from gradspec_python import code as c
from gradspec_python.code import Code, bracketed, named, statement
from gradspec_python.expr import CannotLower, Lowering
from gradspec_python.names import local_name, unique
from gradspec_python.support import support_functions
from gradspec_python.types import default_text

_INDENT = 4
# What CPython takes (MAXLEVEL in Parser/tokenizer.h).
_MAX_BRACKETS = 199


@frozen
class Helper:
    """A function's head, the lines of its docstring and of its body, and by name what else it uses."""

    name: str
    head: str
    doc: tuple[str, ...]
    body: tuple[str, ...]
    support: frozenset[str]
    helpers: frozenset[str]


@frozen
class Helpers:
    """All functions of a program: their names by `id`, those that could be lowered, and why others could not."""

    names: Mapping[int, str]
    lowered: Mapping[str, Helper]
    refused: Mapping[str, str]

    def with_dependencies(self, names: Iterable[str]) -> tuple[Helper, ...]:
        """These functions and those that they call, in the program's order.

        Raises:
            CannotLower: one of them calls what Python does not have.
        """
        wanted: set[str] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name in self.refused:
                raise CannotLower(self.refused[name])
            if name not in wanted:
                wanted.add(name)
                todo += self.lowered[name].helpers
        return tuple([helper for name, helper in self.lowered.items() if name in wanted])


def lower_functions(functions: Sequence[ir.Function], signatures: Signatures, taken: Iterable[str]) -> Helpers:
    """Every function as Python, by a name that is not `taken`."""
    names = _names(functions, taken)
    lowered: dict[str, Helper] = {}
    refused: dict[str, str] = {}
    for function in functions:
        typing = Typing(signatures)
        type_function(typing, function)
        lowering = Lowering(typing, names)
        name = names[id(function)]
        if typing.faults:
            refused[name] = f"`{function.name}`: {typing.faults[0].message}"
            continue
        try:
            lowered[name] = _lower(function, name, lowering)
        except CannotLower as reason:
            refused[name] = f"{reason}, which `{function.name}` calls"
    return Helpers(names, lowered, refused)


def _names(functions: Iterable[ir.Function], taken: Iterable[str]) -> dict[int, str]:
    """`_NAME`, as `NAME` may be an op's own; overloads are numbered. Two underscores in front mean another name in a class."""
    used = {*taken, *support_functions()}
    overloads: Counter[str] = Counter()
    found: dict[int, str] = {}
    for function in functions:
        name = f"_aten{function.name}" if function.name.startswith("_") else f"_{function.name}"
        overloads[function.name] += 1
        name = unique(name if overloads[function.name] == 1 else f"{name}__{overloads[function.name]}", used)
        used.add(name)
        found[id(function)] = name
    return found


def _lower(function: ir.Function, name: str, lowering: Lowering) -> Helper:
    body: list[str] = []
    wanted = result_type(function.schema)
    for item in function.statements:
        if isinstance(item, ir.Let):
            body.append(statement(f"{', '.join(map(local_name, item.names))} = ", lowering.lower(item.value), _INDENT))
        else:
            body.append(statement("if ", lowering.truth(item.test), _INDENT, ":"))
            body.append("    " + statement("return ", lowering.lower(item.value, wanted, exact=True), 2 * _INDENT))
    body.append(statement("return ", lowering.lower(function.result, wanted, exact=True), _INDENT))
    parameters = [
        local_name(p.name) if p.default is None else named(local_name(p.name), default_text(p.type, p.default))
        for p in function.parameters
    ]
    head = statement("", Code(concat(bracketed(f"def {name}(", parameters, "):")), c.POSTFIX), 0)
    if _deepest("\n".join(body)) > _MAX_BRACKETS:
        raise CannotLower(f"room for more than {_MAX_BRACKETS} brackets inside of each other")
    doc = function.doc or (f"`{function.schema}`.",)
    return Helper(name, head, doc, tuple(body), frozenset(lowering.used), frozenset(lowering.helpers))


def _deepest(text: str) -> int:
    """How many brackets are open at most; those in strings count too, which errs on the safe side."""
    return max(accumulate((c in "([{") - (c in ")]}") for c in text), default=0)
