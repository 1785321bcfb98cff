"""Text that can be broken into lines in more than one way, and how the best one is found; knows no language.

The algebra is that of Wadler's "A prettier printer", with a fill besides the group.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen


@frozen(eq=False)
class Concat:
    """One after the other."""

    parts: tuple[Doc, ...]


@frozen(eq=False)
class Nest:
    """Lines that begin inside of `doc` are indented by so much more."""

    indent: int
    doc: Doc


@frozen(eq=False)
class Align:
    """Lines that begin inside of `doc` begin where it does."""

    doc: Doc


@frozen(eq=False)
class Group:
    """Every line of `doc` itself is a blank if all of it fits, else a line end."""

    doc: Doc


@frozen(eq=False)
class Fill:
    """Items with a line between them; each line is a line end only where the next item does not fit.

    `opened`: a line may end before the first item too, where that gives it more room.
    """

    items: tuple[Doc, ...]
    opened: bool = False


@frozen(eq=False)
class Line:
    """A line end, or `flat` where there is room. `hard`: always a line end, so that nothing around it is flat."""

    flat: str = " "
    hard: bool = False


@frozen(eq=False)
class Gap:
    """A blank, unless one is there already or a bracket opens before it."""


@frozen(eq=False)
class Verbatim:
    """Text that may have line ends of its own; they stay as they are."""

    text: str


@frozen(eq=False)
class _Fill:
    """What is left of a fill from item `at` on."""

    items: tuple[Doc, ...]
    opened: bool
    at: int


Doc: TypeAlias = str | Concat | Nest | Align | Group | Fill | Line | Gap | Verbatim | _Fill

LINE = Line()
SOFT_LINE = Line("")
HARD_LINE = Line(hard=True)
GAP = Gap()

_Todo: TypeAlias = tuple[int, Literal["flat", "broken"], Doc]


def concat(*parts: Doc) -> Concat:
    """One after the other."""
    return Concat(parts)


def render(doc: Doc, width: int, *, indent: int = 0, column: int = 0) -> str:
    """The text of `doc`, broken so that lines have at most `width` columns where that is possible.

    `column` columns of the first line are taken already; lines that follow begin with `indent` blanks.
    """
    out: list[str] = []
    last = " "
    todo: list[_Todo] = [(indent, "broken", doc)]

    def put(text: str) -> None:
        nonlocal column, last
        if text:
            out.append(text)
            last = text[-1]
            column += len(text)

    def end_line(blanks: int) -> None:
        nonlocal column, last
        if out:
            out[-1] = out[-1].rstrip(" ")
        out.append("\n" + " " * blanks)
        column, last = blanks, " "

    while todo:
        blanks, mode, current = todo.pop()
        match current:
            case str():
                put(current)
            case Gap():
                put("" if last in " ([{\n" else " ")
            case Verbatim(text):
                put(text)
                if "\n" in text:
                    column = len(text) - text.rindex("\n") - 1
            case Concat(parts):
                todo += [(blanks, mode, part) for part in reversed(parts)]
            case Nest(more, inner):
                todo.append((blanks + more, mode, inner))
            case Align(inner):
                todo.append((column, mode, inner))
            case Group(inner):
                fits = mode == "flat" or _fits((blanks, "flat", inner), todo, width - column)
                todo.append((blanks, "flat" if fits else "broken", inner))
            case Line(flat, hard):
                if mode == "flat" and not hard:
                    put(flat)
                else:
                    end_line(blanks)
            case Fill(items, opened):
                todo.append((blanks, mode, _Fill(items, opened, 0)))
            case _Fill(items, opened, at) if at < len(items):
                todo.append((blanks, mode, _Fill(items, opened, at + 1)))
                item = Group(items[at])
                line = LINE if at else SOFT_LINE
                may_end = mode == "broken" and (at or (opened and column > blanks))
                apart = may_end and not _fits((blanks, "flat", concat(line, item)), todo, width - column)
                todo += [(blanks, mode, item), (blanks, "broken" if apart else "flat", line)]
    return "".join(out)


def _fits(first: _Todo, rest: list[_Todo], room: int) -> bool:
    """Whether `first`, and what comes behind it up to the next place where a line may end, has room."""
    todo = [first]
    following = len(rest)
    while room >= 0:
        if not todo:
            if not following:
                return True
            following -= 1
            todo = [rest[following]]
        blanks, mode, current = todo.pop()
        match current:
            case str():
                room -= len(current)
            case Gap():
                room -= 1
            case Verbatim(text):
                if "\n" in text:
                    return mode == "broken" and text.index("\n") <= room
                room -= len(text)
            case Concat(parts):
                todo += [(blanks, mode, part) for part in reversed(parts)]
            case Nest(_, inner) | Group(inner) | Align(inner):
                todo.append((blanks, mode, inner))
            case Line(flat, hard):
                if mode == "broken" or hard:
                    return mode == "broken"
                room -= len(flat)
            case Fill(items, opened):
                todo.append((blanks, mode, _Fill(items, opened, 0)))
            case _Fill(items, opened, at) if at < len(items):
                todo += [(blanks, mode, _Fill(items, opened, at + 1)), (blanks, mode, items[at])]
                if at or opened:
                    todo.append((blanks, mode, LINE if at else SOFT_LINE))
    return False
