"""A .grad file to syntax; knows the layout of the file, and leaves schemas and formulas to their own parsers."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from attrs import evolve, frozen
from lark import Lark, Token
from lark.exceptions import UnexpectedInput
from lark.visitors import Transformer

from gradspec import grammar
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics, did_you_mean
from gradspec.parse.formula import parse_formula
from gradspec.parse.schema import parse_schema
from gradspec.source import Excerpt, Source, Span

DIFFERENTIABILITY_KEY = "output_differentiability"


@frozen
class RawRule:
    """`key: value;`, the value still text from `start` to `end`."""

    names: tuple[Token, ...]
    start: int
    end: int


@frozen
class RawDispatch:
    """`dispatch KEY { rules }`."""

    key: Token
    rules: tuple[RawRule, ...]


@frozen
class RawOp:
    """`op schema { members }`, the schema still text."""

    start: int
    end: int
    members: tuple[RawRule | RawDispatch, ...]


@frozen
class RawDeclaration:
    """`library NAME;` or `extern NAME, NAME;`."""

    kind: str
    names: tuple[Token, ...]


RawItem = RawOp | RawDeclaration


def parse_spec(source: Source, diagnostics: Diagnostics) -> s.Spec:
    """A whole .grad file; what is wrong with it is in `diagnostics`, and what is right in the result."""
    entries: list[s.Entry] = []
    externs: list[str] = []
    library = ""
    for item in parse_structure(source, diagnostics):
        if isinstance(item, RawDeclaration):
            if item.kind == "extern":
                externs += map(str, item.names)
            else:
                library = str(item.names[0])
        else:
            entry = _entry(item, source, library, diagnostics)
            if entry is not None:
                entries.append(entry)
    return s.Spec(source.path, tuple(entries), tuple(externs), library)


def parse_structure(source: Source, diagnostics: Diagnostics) -> tuple[RawItem, ...]:
    """The items of a .grad file, their schemas and formulas still text. An item that is wrong is reported and left out."""
    try:
        return cast(tuple[RawItem, ...], _spec_parser().parse(source.text))
    except UnexpectedInput as error:
        starts = _item_starts(source.text)
        if len(starts) <= 1:
            grammar.report_spec_error(error, Excerpt(source.text, Span(source, 0, len(source.text))), diagnostics)
            return ()
    items: list[RawItem] = []
    for start, end in zip(starts, [*starts[1:], len(source.text)], strict=True):
        # Blanks keep the places right: each item is parsed where it stands in the file.
        text = "\n" * start + source.text[start:end]
        try:
            items += cast(tuple[RawItem, ...], _spec_parser().parse(text))
        except UnexpectedInput as error:
            grammar.report_spec_error(error, Excerpt(source.text[:end], Span(source, 0, end)), diagnostics)
    return tuple(items)


def _item_starts(text: str) -> list[int]:
    """Where items begin when the file as a whole cannot be parsed: a keyword at the start of a line."""
    starts = [0]
    at = 0
    for line in text.splitlines(keepends=True):
        if at and line.split(maxsplit=1)[:1] in (["op"], ["library"], ["extern"]) and not line[0].isspace():
            starts.append(at)
        at += len(line)
    return starts


@cache
def _spec_parser() -> Lark:
    return grammar.build_parser("spec", _SpecBuilder())


class _SpecBuilder(Transformer[Token, Any]):
    def start(self, c: list[Any]) -> tuple[Any, ...]:
        return tuple(c)

    def library(self, c: list[Any]) -> RawDeclaration:
        return RawDeclaration("library", tuple(c))

    def extern(self, c: list[Any]) -> RawDeclaration:
        return RawDeclaration("extern", tuple(c))

    def op(self, c: list[Any]) -> RawOp:
        (start, end), *members = c
        return RawOp(start, end, tuple(members))

    def dispatch(self, c: list[Any]) -> RawDispatch:
        return RawDispatch(c[1], tuple(c[2:]))

    def rule(self, c: list[Any]) -> RawRule:
        return RawRule(c[0], *c[1])

    def key(self, c: list[Any]) -> tuple[Token, ...]:
        return tuple(c)

    def schema(self, c: list[Any]) -> tuple[int, int]:
        return _extent(c)

    formula = schema

    def group(self, c: list[Any]) -> Any:
        return _extent(c)

    def block(self, c: list[Any]) -> Any:
        return _extent(c)


def _extent(parts: list[Any]) -> tuple[int, int]:
    first, last = parts[0], parts[-1]
    start = first.start_pos or 0 if isinstance(first, Token) else first[0]
    end = last.end_pos or 0 if isinstance(last, Token) else last[1]
    return start, end


def _slice(source: Source, start: int, end: int) -> Excerpt:
    return Excerpt(source.text[start:end], Span(source, start, end))


def _entry(raw: RawOp, source: Source, library: str, diagnostics: Diagnostics) -> s.Entry | None:
    excerpt = _slice(source, raw.start, raw.end)
    schema = parse_schema(excerpt, diagnostics)
    if schema is not None and library and not schema.name.library:
        schema = evolve(schema, name=evolve(schema.name, library=library))
    direct: list[s.Rule] = []
    blocks: list[s.Block] = []
    differentiability: s.Differentiability | None = None
    for member in raw.members:
        if isinstance(member, RawDispatch):
            rules = [_rule(r, source, diagnostics) for r in member.rules]
            blocks.append(s.Block(str(member.key), _token_span(source, member.key), tuple(r for r in rules if r is not None)))
        elif len(member.names) == 1 and str(member.names[0]) == DIFFERENTIABILITY_KEY:
            if differentiability is not None:
                span = _token_span(source, member.names[0])
                diagnostics.add(
                    "GS0109", f"`{DIFFERENTIABILITY_KEY}` stands twice", span, others=[(differentiability.span, "first here")]
                )
            differentiability = _differentiability(_slice(source, member.start, member.end), diagnostics)
        else:
            rule = _rule(member, source, diagnostics)
            if rule is not None:
                direct.append(rule)
    if direct or not blocks:
        blocks.insert(0, s.Block("Default", excerpt.place(0, 1), tuple(direct)))
    return None if schema is None else s.Entry(schema, excerpt, tuple(blocks), differentiability)


def _rule(raw: RawRule, source: Source, diagnostics: Diagnostics) -> s.Rule | None:
    formula = parse_formula(_slice(source, raw.start, raw.end), diagnostics)
    names = tuple(s.KeyName(str(n), _token_span(source, n)) for n in raw.names)
    return None if formula is None else s.Rule(", ".join(n.text for n in names), names, formula)


def _differentiability(excerpt: Excerpt, diagnostics: Diagnostics) -> s.Differentiability | None:
    text = excerpt.text
    if not text.startswith("["):
        condition = parse_formula(excerpt, diagnostics)
        return None if condition is None else s.Differentiability((True,), condition, excerpt.span)
    flags: list[bool] = []
    for word in text.strip("[]").split(","):
        flag = word.strip()
        if flag.lower() not in ("true", "false"):
            message = f"`{flag}` is neither True nor False"
            help_ = did_you_mean(flag, ("True", "False")) or "write `[True, False]`, a flag an output, or a condition"
            diagnostics.add("GS0309", message, excerpt.span, help=help_)
            return None
        flags.append(flag.lower() == "true")
    return s.Differentiability(tuple(flags), None, excerpt.span)


def _token_span(source: Source, token: Token) -> Span:
    return Span(source, token.start_pos or 0, token.end_pos or 0)
