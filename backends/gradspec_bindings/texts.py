"""What docstrings say of nodes and of what they keep, and how both languages quote it; knows no template."""

from __future__ import annotations

from attrs import frozen

from gradspec.emit.cxx import WIDTH, string_literal
from gradspec.ir import Input, Op, Output, Saved, SavedValue, walk
from gradspec.printer import print_expr
from gradspec.types import BaseType


@frozen
class Formula:
    """A gradient as docstrings show it, and the names of what it reads."""

    line: str
    reads: frozenset[str]


def formulas(op: Op) -> tuple[Formula, ...]:
    """The gradients of an op, in their order."""
    found = []
    for derivative in op.derivatives:
        reads = frozenset(part.name for part in walk(derivative.formula) if isinstance(part, Saved))
        found.append(Formula(f"    {', '.join(derivative.inputs)}: {print_expr(derivative.formula)}", reads))
    return tuple(found)


def node_doc(op: Op, gradients: tuple[Formula, ...]) -> str:
    """Of which op the node is, and how its gradients are made."""
    dispatch = "" if op.dispatch == "Default" else f", for {op.dispatch}"
    return f"The backward node of `{op.schema}`{dispatch}.\n\n{_listed(op, 'Gradients', gradients)}"


def value_doc(op: Op, value: SavedValue, gradients: tuple[Formula, ...]) -> str:
    """What a kept value is, and which gradients read it."""
    readers = tuple([formula for formula in gradients if value.name in formula.reads])
    uses = _listed(op, "Gradients that read it", readers) if readers else "No gradient reads it."
    return f"{_origin(value)} ({value.type}).\n\n{uses}"


def raw_doc(name: str) -> str:
    """What the handle of a kept tensor is for. The runtime says the same."""
    return f"What holds `_saved_{name}`: `register_hooks` sets how it is packed and unpacked."


def unkept_doc(name: str) -> str:
    """What is said of an input that torch's own node keeps and that nothing reads."""
    return f"The input `{name}` is not kept: no gradient reads it."


def _origin(value: SavedValue) -> str:
    before = " before the op wrote to it" if value.overwritten else ""
    match value.value:
        case Input(name) | Output(name) if value.type == BaseType("TensorInfo"):
            return f"Sizes and options of `{name}`{before}"
        case Input(name):
            return f"The input `{name}`{before}"
        case Output(name):
            return f"The output `{name}`"
        case expr:
            return f"`{print_expr(expr)}`{before or ' when the op ran'}"


def _listed(op: Op, title: str, gradients: tuple[Formula, ...]) -> str:
    element = ", for element i" if op.foreach else ""
    return "\n".join([f"{title}{element}:", *[formula.line for formula in gradients]])


def cxx_text(text: str, indent: int) -> str:
    """The C++ literals that together are `text`, each on a line of its own, the first without its indentation."""
    room = WIDTH - indent
    literals = []
    piece = ""
    for i, line in enumerate(text.split("\n")):
        if piece.strip():
            literals.append(string_literal(piece))
            piece = ""
        # A line break begins the next literal; one before an empty line goes with the break behind it.
        piece += "\n" if i else ""
        for word in _words(line):
            if piece.strip() and len(string_literal(piece + word)) > room:
                literals.append(string_literal(piece))
                piece = ""
            piece += word
    return ("\n" + " " * indent).join([*literals, string_literal(piece)])


def _words(line: str) -> list[str]:
    parts = line.split(" ")
    return [f"{part} " for part in parts[:-1]] + parts[-1:]


def python_docstring(text: str, indent: int) -> str:
    """A Python docstring whose cleaned value (inspect.cleandoc) is `text`; all but printable ASCII is escaped."""
    escaped = []
    for line in text.split("\n"):
        out = (
            line.replace("\\", "\\\\").replace('"', '\\"') if '"""' in line or line.endswith('"') else line.replace("\\", "\\\\")
        )
        escaped.append("".join([c if " " <= c <= "~" else c.encode("unicode_escape").decode("ascii") for c in out]))
    if len(escaped) == 1:
        return f'"""{escaped[0]}"""'
    pad = " " * indent
    lines = [escaped[0], *[f"{pad}{line}" if line else "" for line in escaped[1:]], f'{pad}"""']
    return '"""' + "\n".join(lines)
