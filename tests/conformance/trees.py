"""Formula texts as trees that can be compared, whichever program printed them; knows no record and no spec."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from attrs import AttrsInstance, field, fields, frozen

from gradspec import syntax
from gradspec.diagnostics import Diagnostics
from gradspec.parse.formula import parse_formula
from gradspec.source import Excerpt

# ("Method", receiver, name, ...): a class of the surface tree and its fields, without places.
Tree: TypeAlias = object


@frozen
class Formula:
    """A formula: equal where the trees are, shown as its text."""

    tree: Tree
    text: str = field(eq=False)

    def __str__(self) -> str:
        return self.text


def formula(text: str, normalise: Callable[[Tree], Tree] = lambda tree: tree) -> Formula:
    """Parse a text with gradspec's own formula parser.

    Raises:
        ValueError: it is no formula.
    """
    diagnostics = Diagnostics()
    parsed = parse_formula(Excerpt.of_text(text), diagnostics)
    if parsed is None:
        raise ValueError(f"{'; '.join(d.message for d in diagnostics.all)}: {text}")
    return Formula(normalise(without_places(parsed.value)), text)


def without_places(node: object) -> Tree:
    """A part of the surface tree as plain tuples, its offsets left out."""
    if isinstance(node, tuple):
        return tuple(without_places(part) for part in node)
    if isinstance(node, str | bool) or node is None:
        return node
    names = [f.name for f in fields(cast(type[AttrsInstance], type(node))) if f.name not in ("start", "end")]
    return (type(node).__name__, *(without_places(getattr(node, name)) for name in names))


def rewrite(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with `change` applied to every part, inner parts first."""
    if isinstance(tree, tuple):
        return change(tuple(rewrite(part, change) for part in tree))
    return change(tree)


def mentions(tree: Tree, name: str) -> bool:
    """Whether a name stands in the tree; strings and comments do not count."""
    if isinstance(tree, tuple):
        return tree == (syntax.Name.__name__, name) or any(mentions(part, name) for part in tree)
    return False
