"""PyTorch's YAML pair to syntax, each scalar a text with its place; YAML's own types and references are refused.

Parser events are read, not PyYAML's nodes or objects: nothing is expanded, and every value keeps its marks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from attrs import frozen

from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.names import DIFFERENTIABILITY_KEY, ENTRY_KEYS, check_key
from gradspec.op_table import ListedOp, OpTable
from gradspec.parse import parse_formula, parse_schema
from gradspec.source import Excerpt, Source, Span

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER = yaml.resolver.Resolver()
_MAX_DEPTH = 16
_CONFLICT_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@frozen(eq=False)
class _Scalar:
    text: str
    span: Span
    quote: str
    plain: bool

    @property
    def excerpt(self) -> Excerpt:
        return Excerpt(self.text, self.span, self.quote)

    @property
    def kind(self) -> str:
        """What YAML 1.1 takes the scalar for: `str`, `int`, `float`, `bool`, `null`, `timestamp`."""
        if not self.plain or self.text[:1].isalpha() and self.text.lower() not in ("true", "false", "null"):
            return "str"
        return str(_RESOLVER.resolve(yaml.ScalarNode, self.text, (True, False)).rpartition(":")[2])  # type: ignore[no-untyped-call]


@frozen(eq=False)
class _Sequence:
    items: list[_Node]
    span: Span
    kind: str = "list"


@frozen(eq=False)
class _Mapping:
    items: list[tuple[_Scalar, _Node]]
    span: Span
    kind: str = "mapping"


_Node = _Scalar | _Sequence | _Mapping


def parse_derivatives(source: Source, diagnostics: Diagnostics) -> s.Spec:
    """The entries of a derivatives.yaml; what is wrong with it is in `diagnostics`, and what is right in the result."""
    entries: list[s.Entry] = []
    for item in _top_level_items(source, diagnostics):
        entry = _entry(item, diagnostics)
        if entry is not None:
            entries.append(entry)
    return s.Spec(source.path, tuple(entries))


def parse_native_functions(source: Source, diagnostics: Diagnostics) -> OpTable:
    """The operators of a native_functions.yaml, their schemas not yet parsed."""
    listed: dict[str, list[ListedOp]] = {}
    for item in _top_level_items(source, diagnostics):
        if not isinstance(item, _Mapping):
            diagnostics.add("GS0108", f"an operator is a mapping, this is {_a(item.kind)}", item.span)
            continue
        values = {k.text: v for k, v in item.items}
        func, variants = values.get("func"), values.get("variants")
        if not isinstance(func, _Scalar):
            diagnostics.add("GS0110", "an operator without `func`", item.span if func is None else func.span)
            continue
        name = func.text.partition("(")[0]
        base = name.partition(".")[0]
        if not (base.isascii() and base.isidentifier()):
            # Its own grammar says what is wrong with the name.
            parse_schema(func.excerpt, diagnostics)
            continue
        listed.setdefault(base, []).append(ListedOp(func.excerpt, variants.text if isinstance(variants, _Scalar) else "function"))
    return OpTable(listed, diagnostics)


# ------------------------------------------------------------------------------------------------------------- entries


def _entry(item: _Node, diagnostics: Diagnostics) -> s.Entry | None:
    if not isinstance(item, _Mapping):
        diagnostics.add("GS0108", f"an entry is a mapping with `name` and formulas, this is {_a(item.kind)}", item.span)
        return None
    values = {k.text: v for k, v in item.items}
    name = values.get("name")
    if not isinstance(name, _Scalar):
        span = item.items[0][0].span if item.items else item.span
        diagnostics.add("GS0110", "an entry without `name`", span, help="`name` is the op's whole schema")
        return None
    schema = parse_schema(name.excerpt, diagnostics)
    rules = [(k, v) for k, v in item.items if k.text not in ENTRY_KEYS]
    dispatch = values.get("dispatch")
    if dispatch is None:
        blocks = [s.Block("Default", name.span, _rules(rules, schema, diagnostics))]
    elif isinstance(dispatch, _Mapping):
        blocks = []
        for key, value in dispatch.items:
            if isinstance(value, _Mapping):
                blocks.append(s.Block(key.text, key.span, _rules(value.items, schema, diagnostics)))
            else:
                diagnostics.add("GS0108", f"`{key.text}` holds formulas by name, this is {_a(value.kind)}", value.span)
        for key, _ in rules:
            diagnostics.add("GS0307", f"`{key.text}` stands beside `dispatch`", key.span, help="move it below `Default:`")
    else:
        diagnostics.add("GS0108", f"`dispatch` maps dispatch keys to formulas, this is {_a(dispatch.kind)}", dispatch.span)
        return None
    flags = values.get(DIFFERENTIABILITY_KEY)
    differentiability = None if flags is None else _differentiability(flags, diagnostics)
    return None if schema is None else s.Entry(schema, name.excerpt, tuple(blocks), differentiability)


def _rules(items: list[tuple[_Scalar, _Node]], schema: Any, diagnostics: Diagnostics) -> tuple[s.Rule, ...]:
    rules: list[s.Rule] = []
    for key, value in items:
        names = _key_names(key)
        if not check_key(names, schema, diagnostics):
            continue
        if not isinstance(value, _Scalar) or value.kind not in ("str", "null") or (value.kind == "null" and value.text):
            help_ = "put it in quotes if it is a formula"
            diagnostics.add("GS0108", f"a formula is text, this is {_a(value.kind)} to YAML", value.span, help=help_)
            continue
        if value.plain:
            _warn_of_comment(value, diagnostics)
        formula = parse_formula(value.excerpt, diagnostics)
        if formula is not None:
            rules.append(s.Rule(", ".join(n.text for n in names), names, formula))
    return tuple(rules)


def _key_names(key: _Scalar) -> tuple[s.KeyName, ...]:
    if "," not in key.text:
        return (s.KeyName(key.text.strip(), key.span),)
    names: list[s.KeyName] = []
    at = 0
    for part in key.text.split(","):
        start = at + len(part) - len(part.lstrip())
        names.append(s.KeyName(part.strip(), key.excerpt.place(start, at + len(part.rstrip()))))
        at += len(part) + 1
    return tuple(names)


def _warn_of_comment(value: _Scalar, diagnostics: Diagnostics) -> None:
    text, end = value.span.source.text, value.span.end
    line_end = text.find("\n", end)
    rest = text[end : line_end if line_end >= 0 else len(text)]
    if rest.lstrip().startswith("#"):
        start = end + rest.index("#")
        diagnostics.add(
            "GS0112",
            "YAML drops the rest of this line as a comment",
            Span(value.span.source, start, end + len(rest)),
            help="put the formula in quotes if it belongs to it, else move the comment to a line of its own",
        )


def _differentiability(value: _Node, diagnostics: Diagnostics) -> s.Differentiability | None:
    items = value.items if isinstance(value, _Sequence) else [value]
    flags: list[bool] = []
    for item in items:
        if isinstance(item, _Scalar) and item.kind == "bool":
            flags.append(item.text.lower() == "true")
        elif isinstance(item, _Scalar) and item.kind == "str" and len(items) == 1:
            condition = parse_formula(item.excerpt, diagnostics)
            return None if condition is None else s.Differentiability((True,), condition, value.span)
        else:
            message = f"`{DIFFERENTIABILITY_KEY}` is a list of True and False, or one condition; this is {_a(item.kind)}"
            diagnostics.add("GS0309", message, item.span)
            return None
    return s.Differentiability(tuple(flags), None, value.span)


def _a(kind: str) -> str:
    return {"null": "nothing"}.get(kind, f"{'an' if kind[:1] in 'aio' else 'a'} {kind}")


# ---------------------------------------------------------------------------------------------------------------- YAML


def _top_level_items(source: Source, diagnostics: Diagnostics) -> list[_Node]:
    if not _without_conflict_markers(source, diagnostics):
        return []
    try:
        root = _Reader(source, diagnostics).document()
    except yaml.YAMLError as error:
        _report_yaml_error(error, source, diagnostics)
        return []
    except _Refused:
        return []
    if root is None:
        return []
    if isinstance(root, _Sequence):
        return root.items
    shown = ""
    if isinstance(root, _Mapping):
        keys = [k.text for k, _ in root.items]
        shown = f" with the keys {', '.join(keys[:8])}{', ...' if len(keys) > 8 else ''}"
    start = root.span.start
    diagnostics.add("GS0105", f"a list of entries was expected, this is {_a(root.kind)}{shown}", Span(source, start, start + 1))
    return []


def _without_conflict_markers(source: Source, diagnostics: Diagnostics) -> bool:
    if not any(m in source.text for m in _CONFLICT_MARKERS):
        return True
    fine = True
    at = 0
    for line in source.text.splitlines(keepends=True):
        marker = line[:7]
        if marker in _CONFLICT_MARKERS and line[7:8] in (" ", "\n", ""):
            diagnostics.add("GS0104", "merge conflict marker", Span(source, at, at + 7), help="resolve the merge first")
            fine = False
        at += len(line)
    return fine


class _Refused(Exception):
    """A YAML construct that gradspec does not read; already reported."""


class _Reader:
    """Reads one document's events into nodes."""

    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.events: Iterator[Any] = iter(yaml.parse(source.text, Loader=_LOADER))

    def document(self) -> _Node | None:
        """The only document's root, None where the file is empty."""
        next(self.events)  # the stream's start
        if isinstance(next(self.events), yaml.StreamEndEvent):
            return None
        root = self.node(next(self.events), 0)
        next(self.events)  # the document's end
        after = next(self.events)
        if not isinstance(after, yaml.StreamEndEvent):
            self.refuse(
                "GS0106", "a second YAML document begins here", after, "keep one list of entries a file; remove the `---`"
            )
        if isinstance(root, _Scalar) and root.plain and not root.text:
            return None
        return root

    def node(self, event: Any, depth: int) -> _Node:
        if isinstance(event, yaml.AliasEvent):
            self.refuse("GS0107", "a YAML alias", event, "write the value out; anchors and aliases are not read")
        if event.anchor is not None:
            self.refuse(
                "GS0107", f"a YAML anchor `&{event.anchor}`", event, "write the value out; anchors and aliases are not read"
            )
        if event.tag is not None:
            self.refuse("GS0107", f"a YAML tag `{event.tag}`", event, "values are plain text here; remove the tag")
        if depth > _MAX_DEPTH:
            self.refuse("GS0801", f"YAML nested deeper than {_MAX_DEPTH} levels", event)
        start = event.start_mark.index
        if type(event) is yaml.ScalarEvent:
            style = event.style
            span = Span(self.source, start, _end(event))
            return _Scalar(event.value, span, style if style in ("'", '"') else "", style is None or style == "")
        if type(event) is yaml.SequenceStartEvent:
            items: list[_Node] = []
            while type(event := next(self.events)) is not yaml.SequenceEndEvent:
                items.append(self.node(event, depth + 1))
            return _Sequence(items, Span(self.source, start, _end(event)))
        pairs: list[tuple[_Scalar, _Node]] = []
        seen: dict[str, _Scalar] = {}
        while type(event := next(self.events)) is not yaml.MappingEndEvent:
            key = self.node(event, depth + 1)
            if not isinstance(key, _Scalar):
                self.refuse("GS0108", f"a key is text, this is {_a(key.kind)}", event)
                raise AssertionError
            if key.text == "<<" and key.plain:
                self.refuse("GS0107", "a YAML merge key", event, "write the values out; merge keys are not read")
            first = seen.setdefault(key.text, key)
            if first is not key:
                message = f"`{key.text}` stands twice in this entry (lines {first.span.line} and {key.span.line})"
                self.diagnostics.add("GS0109", message, key.span, others=[(first.span, "first here")])
            pairs.append((key, self.node(next(self.events), depth + 1)))
        return _Mapping(pairs, Span(self.source, start, _end(event)))

    def refuse(self, code: str, what: str, event: Any, help_: str = "") -> None:
        at = event.start_mark.index
        self.diagnostics.add(code, what, Span(self.source, at, at + 1), help=help_)
        raise _Refused


def _end(event: Any) -> int:
    return int(event.end_mark.index)


def _report_yaml_error(error: yaml.YAMLError, source: Source, diagnostics: Diagnostics) -> None:
    problem = getattr(error, "problem", None)
    if problem is None:  # the reader refused a character
        at = int(getattr(error, "position", 0))
        character = source.text[at : at + 1]
        message = f"control character U+{ord(character or chr(0)):04X} in a YAML file"
        diagnostics.add("GS0204", message, Span(source, at, at + 1))
        return
    mark = getattr(error, "problem_mark", None)
    context = getattr(error, "context_mark", None)
    at = min(mark.index if mark else 0, len(source.text))
    line_start = source.text.rfind("\n", 0, at) + 1
    line = source.text[line_start : source.text.find("\n", at) if "\n" in source.text[at:] else len(source.text)]
    help_ = ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        at = line_start + line.index("\t")
        problem, help_ = "a tab is used as indentation", "indent with blanks"
    elif "quoted scalar" in (getattr(error, "context", "") or "") and context is not None:
        at, problem = context.index, "the quoted text is not closed"
    elif "mapping values are not allowed" in problem:
        problem = "`: ` inside of an unquoted formula starts a mapping to YAML"
        help_ = "put the formula in quotes"
    diagnostics.add("GS0103", f"YAML: {problem}", Span(source, at, at + 1), help=help_)
