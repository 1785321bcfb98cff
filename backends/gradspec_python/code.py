"""Python expressions as they are put together: a text that can be broken into lines, and how tightly it binds."""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from attrs import frozen

from gradspec.layout import LINE, SOFT_LINE, Concat, Doc, Fill, Group, Nest, concat, render

WIDTH = 110

# How tightly Python's operators bind (The Python Language Reference, 6.17); a larger number binds tighter.
TERNARY, OR, AND, NOT, COMPARISON, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, UNARY, POSTFIX, ATOM = range(1, 15)


@frozen(eq=False)
class Code:
    """A piece of Python: its layout and the binding of its outermost operator."""

    doc: Doc
    binding: int = ATOM

    def within(self, least: int) -> Doc:
        """The piece as an operand, in parentheses where it binds less."""
        inner = Group(self.doc)
        return inner if self.binding >= least else concat("(", inner, ")")

    @property
    def flat(self) -> str:
        """The piece on one line."""
        return render(Group(self.doc), 1 << 30)


def bracketed(left: str, items: Iterable[Doc], right: str) -> Doc:
    """`left` items `right`, broken behind `left`, and between items where that does not suffice."""
    items = tuple(items)
    if not items:
        return left + right
    separated = [concat(item, ",") for item in items[:-1]] + [items[-1]]
    return Group(Concat((left, Nest(4, concat(SOFT_LINE, Fill(tuple(separated)))), SOFT_LINE, right)))


def called(function: Doc, items: Iterable[Doc]) -> Code:
    """A call."""
    return Code(concat(function, bracketed("(", items, ")")), POSTFIX)


def named(name: str, value: Doc) -> Doc:
    """An argument by name, in the one way that also takes a name which is a keyword."""
    return concat(f'**{{"{name}": ', value, "}") if keyword.iskeyword(name) else concat(f"{name}=", value)


def infix(left: Doc, operator: str, right: Doc, binding: int) -> Code:
    """`left operator right`; a line may end before the operator where parentheses stand around it."""
    return Code(concat(left, LINE, f"{operator} ", right), binding)


def statement(head: str, code: Code, indent: int, tail: str = "") -> str:
    """`head` and an expression as lines: an operator's lines only end inside of parentheses."""
    flat = f"{head}{code.flat}{tail}"
    if indent + len(flat) <= WIDTH:
        return flat
    if code.binding < POSTFIX:
        doc: Doc = concat(head, "(", Nest(4, concat(SOFT_LINE, code.doc)), SOFT_LINE, ")", tail)
    else:
        doc = concat(head, code.doc, tail)
    return render(doc, WIDTH, indent=indent, column=indent)
