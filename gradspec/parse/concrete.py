"""Text to a fold over every token and comment, for tools that print it again; knows what is written, not what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeVar, cast

from attrs import frozen
from lark import Lark, Token, Tree

from gradspec.grammar import grammar_folder

T = TypeVar("T")


@frozen
class Comment:
    """A comment as written, with its place in the text."""

    text: str
    start: int
    end: int


@frozen
class Rule:
    """`names: formula;`. The formula's place is without the comments around it."""

    names: tuple[str, ...]
    start: int
    colon: int
    formula: tuple[int, int]
    end: int


@frozen
class Statement:
    """A statement of a function, with its `;`."""

    start: int
    end: int


@frozen
class Declaration:
    """`library NAME;` or `extern NAME, NAME;`."""

    keyword: str
    names: tuple[str, ...]
    start: int
    end: int


@frozen
class Block:
    """`op SCHEMA {...}`, `fn SCHEMA {...}` or `dispatch KEY {...}`. `head` is the place of the schema or of the key."""

    keyword: str
    start: int
    head: tuple[int, int]
    opened: int
    members: tuple[Rule | Statement | Block, ...]
    closed: int
    end: int


@frozen
class Layout:
    """A .grad file: what stands in it, in order, and every comment."""

    items: tuple[Declaration | Block, ...]
    comments: tuple[Comment, ...]


def parse_layout(text: str) -> Layout:
    """The layout of a .grad file that `parse_spec` has found to be right.

    Raises:
        lark.exceptions.UnexpectedInput: it is not right.
    """
    tree = _parser("spec", "start").parse(text, start="start")
    return Layout(tuple([_item(child) for child in tree.children]), tuple(_comments(tree, text)))


def fold_formula(
    text: str, leaf: Callable[[str, str, tuple[str, ...]], T], branch: Callable[[str, list[T]], T], start: str = "start"
) -> T:
    """What `leaf` makes of each token (its terminal, its text and the comments before it) and `branch` of each rule, bottom up.

    `start` is the rule of the grammar that the text is. Comments behind the last token are left out. Deep nesting costs no stack.

    Raises:
        lark.exceptions.UnexpectedInput: the text is no formula.
    """
    tree = _parser("formula", "start", "statement").parse(text, start=start)
    before: dict[int, tuple[str, ...]] = {}
    at = 0
    for token in _tokens(tree):
        begin, end = _place(token)
        before[begin] = tuple([c.text for c in _comments_between(text, at, begin)])
        at = end
    made: dict[int, T] = {}
    for node in tree.iter_subtrees():
        parts = [
            made[id(child)] if isinstance(child, Tree) else leaf(child.type, str(child), before[_place(child)[0]])
            for child in node.children
        ]
        made[id(node)] = branch(str(node.data), parts)
    return made[id(tree)]


@cache
def _parser(name: str, *starts: str) -> Lark:
    folder = grammar_folder()
    return Lark.open(
        str(folder / f"{name}.lark"),
        parser="lalr",
        lexer="contextual",
        start=list(starts),
        import_paths=[str(folder)],
        keep_all_tokens=True,
        maybe_placeholders=False,
        propagate_positions=True,
    )


def _tokens(tree: Tree[Token]) -> list[Token]:
    found = [child for node in tree.iter_subtrees() for child in node.children if isinstance(child, Token)]
    return sorted(found, key=_place)


def _place(token: Token) -> tuple[int, int]:
    return cast(int, token.start_pos), cast(int, token.end_pos)


def _comments(tree: Tree[Token], text: str) -> Iterator[Comment]:
    at = 0
    for token in _tokens(tree):
        start, end = _place(token)
        yield from _comments_between(text, at, start)
        at = end
    yield from _comments_between(text, at, len(text))


def _comments_between(text: str, start: int, end: int) -> Iterator[Comment]:
    """The comments of a stretch between two tokens, where nothing else but blanks can stand."""
    while (start := text.find("/", start, end)) >= 0:
        if text.startswith("/*", start):
            stop = text.index("*/", start + 2) + 2
        else:
            line_end = text.find("\n", start, end)
            stop = end if line_end < 0 else line_end
        yield Comment(text[start:stop].rstrip(), start, stop)
        start = stop


def _item(tree: Any) -> Declaration | Block:
    if tree.data in ("op", "fn"):
        return _block(tree)
    keyword, *names, last = tree.children
    declared = tuple(["".join(n.split()) for n in names if n.type != "COMMA"])
    return Declaration(str(keyword), declared, _place(keyword)[0], _place(last)[1])


def _block(tree: Any) -> Block:
    keyword, head, opened, *members, closed = tree.children
    place = _extent(head)
    if tree.data == "fn":
        return Block(str(keyword), _place(keyword)[0], place, _place(opened)[1], tuple(_statements(members)), *_place(closed))
    # Only an op holds blocks, so that this goes one level down at most.
    parts = tuple([_rule(m) if m.data == "rule" else _block(m) for m in members])
    return Block(str(keyword), _place(keyword)[0], place, _place(opened)[1], parts, *_place(closed))


def _extent(part: Any) -> tuple[int, int]:
    return _place(part) if isinstance(part, Token) else (part.meta.start_pos, part.meta.end_pos)


def _statements(parts: list[Any]) -> Iterator[Statement]:
    start: int | None = None
    for part in parts:
        first, last = _extent(part)
        start = first if start is None else start
        if isinstance(part, Token) and part.type == "SEMICOLON":
            yield Statement(start, last)
            start = None


def _rule(tree: Any) -> Rule:
    key, colon, formula, last = tree.children
    names = tuple([str(t) for t in key.children if t.type != "COMMA"])
    place = (formula.meta.start_pos, formula.meta.end_pos)
    return Rule(names, key.meta.start_pos, _place(colon)[0], place, _place(last)[1])
