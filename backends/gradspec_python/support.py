"""The functions that emitted modules bring along, each only where it is used; knows no op.

A formula's helper `NAME` is `_NAME` in the module, as `NAME` may be an op's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from gradspec.emit.templates import template_environment

_TEMPLATES = Path(__file__).parent / "templates"


# Where `_` before the name of a helper would make the name of an op's gradient.
_RENAMED = {"_to_copy_backward": "_copied_backward"}


def support_name(helper: str) -> str:
    """The name in emitted modules of a helper that formulas call."""
    return _RENAMED.get(helper, f"_{helper}")


@cache
def support_functions() -> dict[str, str]:
    """The text of every support function by name, in order."""
    text = template_environment(_TEMPLATES).get_template("support.py.j2").render()
    lines = text.splitlines()
    found: dict[str, str] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = "\n".join(lines[node.lineno - 1 : node.end_lineno])
    return found


@cache
def _needs(name: str) -> frozenset[str]:
    text = support_functions()[name]
    return frozenset(n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name))


def with_dependencies(names: Iterable[str]) -> tuple[str, ...]:
    """The support functions that these need, themselves included, in the order of the library."""
    wanted: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += _needs(name) & support_functions().keys()
    return tuple([n for n in support_functions() if n in wanted])


def names_read(names: Iterable[str]) -> frozenset[str]:
    """All names that these support functions read: what their module must import."""
    return frozenset().union(*[_needs(n) for n in names])
