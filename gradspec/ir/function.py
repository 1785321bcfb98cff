"""Helper functions written in the language; knows no op."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from attrs import field, frozen

from gradspec.ir.expr import Call, Expr, walk
from gradspec.ir.schema import Argument, Schema
from gradspec.source import Span


@frozen
class Let:
    """`let names = value;`: several names take a tuple apart."""

    names: tuple[str, ...]
    value: Expr


@frozen
class Guard:
    """`if (test) return value;`."""

    test: Expr
    value: Expr


Statement: TypeAlias = Let | Guard


@frozen
class Function:
    """A pure function that formulas call: its statements in order, then its result.

    The header is a schema, whose name may be that of other functions with other parameter types. In the body, parameters, `let`s
    and the names of comprehensions and folds are `Local`s. `doc` is the comment above it, without signs.
    """

    schema: Schema
    statements: tuple[Statement, ...]
    result: Expr
    doc: tuple[str, ...] = ()
    span: Span | None = field(default=None, eq=False, repr=False)

    @property
    def name(self) -> str:
        """What formulas call it by."""
        return self.schema.name.base

    @property
    def parameters(self) -> tuple[Argument, ...]:
        """The parameters in order."""
        return self.schema.positional

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """Every expression of the body, in order."""
        parts: list[Expr] = []
        for statement in self.statements:
            parts += [statement.value] if isinstance(statement, Let) else [statement.test, statement.value]
        return (*parts, self.result)

    def walk(self) -> Iterator[Expr]:
        """Every part of every expression."""
        for expr in self.expressions:
            yield from walk(expr)


def called_functions(functions: Iterable[Function], formulas: Iterable[Expr]) -> tuple[Function, ...]:
    """Of the functions those that the formulas call, by name, directly or by another function."""
    functions = tuple(functions)
    calls: dict[str, set[str]] = {}
    for function in functions:
        calls.setdefault(function.name, set()).update(_calls(function.walk()))
    wanted: set[str] = set()
    todo = _calls(part for formula in formulas for part in walk(formula))
    while todo:
        name = todo.pop()
        if name in calls and name not in wanted:
            wanted.add(name)
            todo |= calls[name]
    return tuple([f for f in functions if f.name in wanted])


def _calls(parts: Iterable[Expr]) -> set[str]:
    return {part.function for part in parts if isinstance(part, Call)}
