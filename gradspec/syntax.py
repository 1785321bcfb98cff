"""The surface tree: what was written, with places; knows nothing of what names mean.

Expressions carry offsets into the text that they were parsed from, so that equal texts share one tree; a `Formula` knows where
its text stands.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from gradspec.ir import BinaryOperator, Schema, TypeRef, UnaryOperator
from gradspec.source import Excerpt, Span

# ------------------------------------------------------------------------------------------------------------ expressions


@frozen
class Name:
    """An identifier, qualified or not."""

    text: str
    start: int
    end: int


@frozen
class Number:
    text: str
    start: int
    end: int


@frozen
class String:
    """A string literal; `value` has its escapes resolved."""

    value: str
    start: int
    end: int


@frozen
class Call:
    """A call of a name; `template` where it has template arguments."""

    function: Name
    template: tuple[TypeRef | str, ...]
    args: tuple[Expr, ...]
    start: int
    end: int


@frozen
class Method:
    receiver: Expr
    name: Name
    template: tuple[TypeRef | str, ...]
    args: tuple[Expr, ...]
    arrow: bool
    start: int
    end: int


@frozen
class Construct:
    type: TypeRef
    args: tuple[Expr, ...]
    braces: bool
    start: int
    end: int


@frozen
class Braces:
    items: tuple[Expr, ...]
    start: int
    end: int


@frozen
class Index:
    value: Expr
    index: Expr
    start: int
    end: int


@frozen
class Unary:
    op: UnaryOperator
    operand: Expr
    start: int
    end: int


@frozen
class Binary:
    op: BinaryOperator
    left: Expr
    right: Expr
    start: int
    end: int


@frozen
class Conditional:
    test: Expr
    then: Expr
    other: Expr
    start: int
    end: int


@frozen
class Lambda:
    param_type: TypeRef
    param: Name
    body: Expr
    start: int
    end: int


@frozen
class Comprehension:
    value: Expr
    names: tuple[Name, ...]
    sources: tuple[Expr, ...]
    test: Expr | None
    start: int
    end: int


@frozen
class Fold:
    accumulator: Name
    initial: Expr
    names: tuple[Name, ...]
    sources: tuple[Expr, ...]
    value: Expr
    start: int
    end: int


Expr: TypeAlias = (
    Name | Number | String | Call | Method | Construct | Braces | Index | Unary | Binary | Conditional | Lambda | Comprehension
    | Fold
)  # fmt: skip

# -------------------------------------------------------------------------------------------------------------- functions


@frozen
class Let:
    """`let names = value;`."""

    names: tuple[Name, ...]
    value: Expr


@frozen
class Guard:
    """`if (test) return value;`."""

    test: Expr
    value: Expr


@frozen
class Body:
    """The statements of a function, and its result; places are in the text between its braces."""

    statements: tuple[Let | Guard, ...]
    result: Expr


@frozen(eq=False)
class Function:
    """`fn header { body }`; `doc` is the comment above it, a line a piece."""

    schema: Schema
    excerpt: Excerpt
    body_excerpt: Excerpt
    body: Body
    doc: tuple[str, ...]

    @property
    def name_span(self) -> Span:
        """Where the function's name stands."""
        return self.excerpt.place(0, len(str(self.schema.name)))

    def place_of(self, parameter: str) -> Span:
        """Where a parameter's name stands in the header."""
        text, size = self.excerpt.text, len(parameter)
        at = text.find(parameter, text.find("("))
        while f"a{text[at - 1]}".isidentifier() or f"a{text[at + size]}".isidentifier():
            at = text.find(parameter, at + 1)
        return self.excerpt.place(at, at + size)


# ----------------------------------------------------------------------------------------------------------------- entries

SpecialValue: TypeAlias = Literal["non_differentiable", "auto_linear", "auto_element_wise"]


@frozen(eq=False)
class Formula:
    """The right side of a rule: an expression, or a special value."""

    excerpt: Excerpt
    value: Expr | SpecialValue

    def place(self, node: Expr) -> Span:
        """Where a part of the formula stands."""
        return self.excerpt.place(node.start, node.end)


@frozen(eq=False)
class KeyName:
    """One name of a rule's key, with its place."""

    text: str
    span: Span


@frozen(eq=False)
class Rule:
    """`names: formula`. `key` is the whole key as written: it orders the rules of an entry."""

    key: str
    names: tuple[KeyName, ...]
    formula: Formula


@frozen(eq=False)
class Block:
    """The rules of an entry under one dispatch key."""

    dispatch: str
    dispatch_span: Span
    rules: tuple[Rule, ...]


@frozen(eq=False)
class Differentiability:
    """`output_differentiability`: a flag an output, or one condition."""

    flags: tuple[bool, ...]
    condition: Formula | None
    span: Span


@frozen(eq=False)
class Entry:
    """The derivatives of one op, as one spec gives them. `forward` is what the op computes, where the spec says so."""

    schema: Schema
    excerpt: Excerpt
    blocks: tuple[Block, ...]
    differentiability: Differentiability | None
    forward: Formula | None = None

    @property
    def name_span(self) -> Span:
        """Where the op's name stands."""
        return self.excerpt.place(0, len(str(self.schema.name)))


@frozen(eq=False)
class Spec:
    """One file of entries and functions; `externs` are functions that it declares to exist elsewhere.

    Functions that it has and that could not be read are `unread`.
    """

    path: str
    entries: tuple[Entry, ...]
    externs: tuple[str, ...] = ()
    functions: tuple[Function, ...] = ()
    library: str = ""
    unread: frozenset[str] = frozenset()
