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
from gradspec.ir import Schema
from gradspec.names import DIFFERENTIABILITY_KEY, FORWARD_KEY, check_key
from gradspec.parse.body import check_length, parse_body, report_statements
from gradspec.parse.formula import parse_formula
from gradspec.parse.recovery import FoundFunction, FoundOp, find_function, find_op, first_word, item_starts
from gradspec.parse.schema import parse_schema
from gradspec.source import Excerpt, Source, Span

MAX_OP_LENGTH = 400_000  # code points of a whole op, comments included

_FLAGS = {"True": True, "true": True, "False": False, "false": False}


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


@frozen
class RawFunction:
    """`fn schema { body }`, both still text; `doc` are the lines of the comment above it."""

    start: int
    end: int
    body: tuple[int, int]


@frozen
class RawUnread:
    """Something that could not be read, by the name that others may call it by."""

    name: str


RawItem = RawOp | RawDeclaration | RawFunction | RawUnread


def parse_spec(source: Source, diagnostics: Diagnostics) -> s.Spec:
    """A whole .grad file; what is wrong with it is in `diagnostics`, and what is right in the result."""
    items = parse_structure(source, diagnostics)
    declarations = [i for i in items if isinstance(i, RawDeclaration)]
    externs = ["".join(name.split()) for d in declarations if d.kind == "extern" for name in d.names]
    libraries = [d.names[0] for d in declarations if d.kind == "library"]
    for again in libraries[1:]:
        first = _token_span(source, libraries[0])
        diagnostics.add("GS0109", "`library` stands twice", _token_span(source, again), others=[(first, "first here")])
    # It holds for the whole file, wherever it stands.
    library = str(libraries[0]) if libraries else ""
    entries = [_entry(i, source, library, diagnostics) for i in items if isinstance(i, RawOp)]
    unread = [i.name for i in items if isinstance(i, RawUnread)]
    functions: list[s.Function] = []
    for raw in items:
        if isinstance(raw, RawFunction):
            function = _function(raw, source, diagnostics)
            if function is None:
                unread.append(_called_name(source.text[raw.start : raw.end]))
            else:
                functions.append(function)
    return s.Spec(
        source.path,
        tuple(e for e in entries if e is not None),
        tuple(externs),
        tuple(functions),
        library,
        frozenset(unread),
    )


def parse_structure(source: Source, diagnostics: Diagnostics) -> tuple[RawItem, ...]:
    """The items of a .grad file, their schemas and formulas still text. What is wrong is reported, and left out."""
    if len(source.text) <= MAX_OP_LENGTH:
        try:
            return _parsed_items(source.text)
        except UnexpectedInput:
            pass
    starts = item_starts(source)
    items: list[RawItem] = []
    for start, stop in zip(starts, [*starts[1:], len(source.text)], strict=True):
        if stop - start <= MAX_OP_LENGTH:
            try:
                items += _moved(_parsed_items(source.text[start:stop]), start)
                continue
            except UnexpectedInput:
                pass
        items += _items_of_part(source, start, stop, diagnostics)
    return tuple(items)


def _parsed_items(text: str) -> tuple[RawItem, ...]:
    return cast(tuple[RawItem, ...], _spec_parser().parse(text, start="start"))


def _items_of_part(source: Source, start: int, stop: int, diagnostics: Diagnostics) -> list[RawItem]:
    """The items between two places, each read on its own. Of an op that is wrong, what can be kept."""
    items: list[RawItem] = []
    while True:
        start, word = first_word(source, start, stop, diagnostics)
        if start >= stop:
            return items
        found = Diagnostics()
        if word == "op":
            op = find_op(source, start + len(word), stop, found)
            end = stop if op is None else op.end
            items += _read_op(source, start, end, op, found)
        elif word == "fn":
            function = find_function(source, start + len(word), stop, found)
            end = stop if function is None else function.end
            items += _read_function(source, start, end, function, found)
        else:
            end = source.text.find(";", start, stop) + 1 or stop
            excerpt = _slice(source, start, end)
            try:
                items += _moved(_parsed_items(excerpt.text), start)
            except UnexpectedInput as error:
                grammar.report_spec_error(error, excerpt, found)
                if word not in ("library", "extern"):
                    items.append(RawUnread(_called_name(source.text[start:stop])))
                    end = stop
        diagnostics.extend(found.all)
        start = end


def _read_function(
    source: Source, start: int, end: int, function: FoundFunction | None, diagnostics: Diagnostics
) -> list[RawItem]:
    """A function that stands by itself; where it is wrong, all that is wrong with it."""
    unread: list[RawItem] = [RawUnread(_called_name(source.text[start + len("fn") : end]))]
    if function is None:
        return unread
    body = _slice(source, *function.body)
    if not check_length(body, diagnostics):
        return unread
    if not diagnostics.all:
        excerpt = _slice(source, start, end)
        try:
            return list(_moved(_parsed_items(excerpt.text), start))
        except UnexpectedInput as error:
            grammar.report_spec_error(error, excerpt, diagnostics)
            return unread
    parse_schema(_slice(source, *function.header), diagnostics, is_function=True)
    report_statements(source, function.statements, body.span, diagnostics)
    return unread


def _called_name(text: str) -> str:
    """The word before the first bracket, or the first word: the name of a function, however its header is written."""
    head = text.partition("{")[0]
    words = head.partition("(")[0].split()
    return "" if not words else words[-1] if "(" in head else words[0]


def _read_op(source: Source, start: int, end: int, op: FoundOp | None, diagnostics: Diagnostics) -> list[RawItem]:
    if end - start > MAX_OP_LENGTH:
        message = f"the op has {end - start:,} characters; at most {MAX_OP_LENGTH:,} are read"
        diagnostics.add("GS0802", message, Span(source, start, start + 2), help="move parts of it into helper functions")
        return []
    excerpt = _slice(source, start, end)
    error: UnexpectedInput | None = None
    if not diagnostics.all:
        try:
            return list(_moved(_parsed_items(excerpt.text), start))
        except UnexpectedInput as caught:
            error = caught
    kept: list[RawItem] = [] if op is None else [_kept(source, op, diagnostics)]
    kept += [] if op is None else [RawUnread(_called_name(source.text[at:end])) for at, end in op.nested]
    if error is not None and not diagnostics.all:
        grammar.report_spec_error(error, excerpt, diagnostics)
    return kept


def _kept(source: Source, op: FoundOp, diagnostics: Diagnostics) -> RawOp:
    members: list[RawRule | RawDispatch] = []
    below: dict[tuple[int, int], list[RawRule]] = {}
    for rule in op.rules:
        excerpt = _slice(source, rule.start, rule.end)
        try:
            raw = cast(RawRule, _moved(_spec_parser().parse(excerpt.text, start="rule"), rule.start))
        except UnexpectedInput as error:
            grammar.report_spec_error(error, excerpt, diagnostics)
            continue
        if rule.dispatch is None:
            members.append(raw)
        else:
            below.setdefault(rule.dispatch, []).append(raw)
    for (start, end), rules in below.items():
        members.append(RawDispatch(Token("ID", source.text[start:end], start_pos=start, end_pos=end), tuple(rules)))
    return RawOp(*op.schema, tuple(members))


def _moved(item: Any, by: int) -> Any:
    """Items, or parts of them, of a text that begins at `by` in its source."""
    match item:
        case tuple():
            return tuple([_moved(part, by) for part in item])
        case Token():
            return Token(item.type, item.value, start_pos=(item.start_pos or 0) + by, end_pos=(item.end_pos or 0) + by)
        case RawRule(names, start, end):
            return RawRule(_moved(names, by), start + by, end + by)
        case RawDispatch(key, rules):
            return RawDispatch(_moved(key, by), _moved(rules, by))
        case RawOp(start, end, members):
            return RawOp(start + by, end + by, _moved(members, by))
        case RawFunction(start, end, (opened, closed)):
            return RawFunction(start + by, end + by, (opened + by, closed + by))
        case _:
            return RawDeclaration(item.kind, _moved(item.names, by))


@cache
def _spec_parser() -> Lark:
    return grammar.build_parser("spec", _SpecBuilder(), starts=("start", "rule"))


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

    def fn(self, c: list[Any]) -> RawFunction:
        (start, end), opened, *_, closed = c
        return RawFunction(start, end, (opened.end_pos or 0, closed.start_pos or 0))

    def dispatch(self, c: list[Any]) -> RawDispatch:
        return RawDispatch(c[1], tuple(c[2:]))

    def rule(self, c: list[Any]) -> RawRule:
        names, colon, formula, _ = c
        # An empty formula stands right behind its colon.
        return RawRule(names, *(formula or (colon.end_pos, colon.end_pos)))

    def key(self, c: list[Any]) -> tuple[Token, ...]:
        return tuple(c)

    def schema(self, c: list[Any]) -> tuple[int, int]:
        return _extent(c)

    formula = schema

    def group(self, c: list[Any]) -> Any:
        return _extent(c)

    block = inner = group


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
    forward: s.Formula | None = None
    for member in raw.members:
        if isinstance(member, RawDispatch):
            rules = [_rule(r, source, schema, diagnostics) for r in member.rules]
            blocks.append(s.Block(str(member.key), _token_span(source, member.key), tuple(r for r in rules if r is not None)))
        elif len(member.names) == 1 and str(member.names[0]) == DIFFERENTIABILITY_KEY:
            if differentiability is not None:
                span = _token_span(source, member.names[0])
                diagnostics.add(
                    "GS0109", f"`{DIFFERENTIABILITY_KEY}` stands twice", span, others=[(differentiability.span, "first here")]
                )
            differentiability = _differentiability(_slice(source, member.start, member.end), diagnostics)
        elif _says_forward(member, schema):
            span = _token_span(source, member.names[0])
            if forward is not None:
                diagnostics.add("GS0109", f"`{FORWARD_KEY}` stands twice", span, others=[(forward.excerpt.span, "first here")])
            forward = parse_formula(_slice(source, member.start, member.end), diagnostics)
        else:
            rule = _rule(member, source, schema, diagnostics)
            if rule is not None:
                direct.append(rule)
    if direct or not blocks:
        blocks.insert(0, s.Block("Default", excerpt.place(0, 1), tuple(direct)))
    return None if schema is None else s.Entry(schema, excerpt, tuple(blocks), differentiability, forward)


def _says_forward(rule: RawRule, schema: Schema | None) -> bool:
    """Whether a rule says what the op computes, and is not that of an argument or output of that name."""
    named = () if schema is None else (*[a.name for a in schema.arguments], *schema.output_names)
    return [str(n) for n in rule.names] == [FORWARD_KEY] and FORWARD_KEY not in named


def _function(raw: RawFunction, source: Source, diagnostics: Diagnostics) -> s.Function | None:
    excerpt = _slice(source, raw.start, raw.end)
    schema = parse_schema(excerpt, diagnostics, is_function=True)
    inside = _slice(source, *raw.body)
    body = parse_body(inside, diagnostics)
    if schema is None or body is None:
        return None
    return s.Function(schema, excerpt, inside, body, _comment_above(source.text, raw.start))


def _comment_above(text: str, at: int) -> tuple[str, ...]:
    """The lines of `//` right above the line of a place, without their signs."""
    lines: list[str] = []
    end = text.rfind("\n", 0, at)
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end].strip()
        if not line.startswith("//"):
            break
        lines.append(line.lstrip("/").strip())
        end = start - 1
    return tuple(reversed(lines))


def _rule(raw: RawRule, source: Source, schema: Schema | None, diagnostics: Diagnostics) -> s.Rule | None:
    excerpt = _slice(source, raw.start, raw.end)
    names = tuple(s.KeyName(str(n), _token_span(source, n)) for n in raw.names)
    fine = check_key(names, schema, diagnostics)
    if not fine and (excerpt.text in _FLAGS or excerpt.text.startswith("[")):
        return None  # flags below a key that is misspelt are no formula
    formula = parse_formula(excerpt, diagnostics)
    if not fine or formula is None:
        return None
    return s.Rule(", ".join(n.text for n in names), names, formula)


def _differentiability(excerpt: Excerpt, diagnostics: Diagnostics) -> s.Differentiability | None:
    text = excerpt.text
    if text in _FLAGS:
        return s.Differentiability((_FLAGS[text],), None, excerpt.span)
    if not (text.startswith("[") and text.endswith("]")):
        condition = parse_formula(excerpt, diagnostics)
        return None if condition is None else s.Differentiability((True,), condition, excerpt.span)
    flags: list[bool] = []
    at = 1
    for part in text[1:-1].split(",") if text[1:-1].strip() else ():
        word = part.strip()
        if word not in _FLAGS:
            start = at + part.index(word)
            help_ = did_you_mean(word, ("True", "False")) or "write `[True, False]`, a flag an output, or a condition"
            place = excerpt.place(start, start + max(1, len(word)))
            diagnostics.add("GS0309", f"`{word}` is neither True nor False", place, help=help_)
            return None
        flags.append(_FLAGS[word])
        at += len(part) + 1
    return s.Differentiability(tuple(flags), None, excerpt.span)


def _token_span(source: Source, token: Token) -> Span:
    return Span(source, token.start_pos or 0, token.end_pos or 0)
