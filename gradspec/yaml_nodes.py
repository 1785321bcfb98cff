"""A YAML file as nodes, each scalar a text with its place; YAML's own types and references are refused.

Parser events are read, not PyYAML's nodes or objects: nothing is expanded, and every value keeps its marks. What the nodes say is
not known here.
"""

from __future__ import annotations

import unicodedata
from typing import Any, NoReturn

import yaml
from attrs import frozen

from gradspec.diagnostics import Diagnostics
from gradspec.habits import yaml_help
from gradspec.source import Excerpt, Source, Span

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER = yaml.resolver.Resolver()
_MAX_DEPTH = 16
_CONFLICT_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@frozen(eq=False)
class Scalar:
    """A text; `quote` is the quoting character, empty for plain and block scalars."""

    source: Source
    text: str
    start: int
    end: int
    quote: str
    plain: bool

    @property
    def span(self) -> Span:
        return Span(self.source, self.start, self.end)

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
class Sequence:
    items: list[Node]
    span: Span
    kind: str = "list"


@frozen(eq=False)
class Mapping:
    items: list[tuple[Scalar, Node]]
    span: Span
    kind: str = "mapping"


Node = Scalar | Sequence | Mapping


def a_kind(kind: str) -> str:
    """A kind of node in a sentence: `an int`, `a mapping`, `nothing`."""
    return {"null": "nothing"}.get(kind, f"{'an' if kind[:1] in 'aio' else 'a'} {kind}")


def top_level_items(source: Source, diagnostics: Diagnostics) -> list[Node]:
    """The items of the list that a file must be; empty where it is wrong, with the reason in `diagnostics`."""
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
    if isinstance(root, Sequence):
        return root.items
    shown = ""
    if isinstance(root, Mapping):
        keys = [k.text for k, _ in root.items]
        shown = f" with the keys {', '.join(keys[:8])}{', ...' if len(keys) > 8 else ''}"
    start = root.span.start
    help_ = "each entry begins with `- name:`, each operator with `- func:`"
    help_ = yaml_help(source.text, source.path) or help_
    message = f"a list of entries was expected, this is {a_kind(root.kind)}{shown}"
    diagnostics.add("GS0105", message, Span(source, start, start + 1), help=help_)
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
        # The loader is asked directly: PyYAML's own loop around it costs as much again.
        self.next: Any = _LOADER(source.text).get_event

    def document(self) -> Node | None:
        """The only document's root, None where the file is empty."""
        self.next()  # the stream's start
        if isinstance(self.next(), yaml.StreamEndEvent):
            return None
        root = self.node(self.next(), 0)
        self.next()  # the document's end
        after = self.next()
        if not isinstance(after, yaml.StreamEndEvent):
            self.refuse(
                "GS0106", "a second YAML document begins here", after, "keep one list of entries a file; remove the `---`"
            )
        if isinstance(root, Scalar) and root.plain and not root.text:
            return None
        return root

    def node(self, event: Any, depth: int) -> Node:
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
            quote = style if style in ("'", '"') else ""
            return Scalar(self.source, event.value, start, _end(event), quote, style is None or style == "")
        if type(event) is yaml.SequenceStartEvent:
            items: list[Node] = []
            while type(event := self.next()) is not yaml.SequenceEndEvent:
                items.append(self.node(event, depth + 1))
            return Sequence(items, Span(self.source, start, _end(event)))
        pairs: list[tuple[Scalar, Node]] = []
        seen: dict[str, Scalar] = {}
        while type(event := self.next()) is not yaml.MappingEndEvent:
            key = self.node(event, depth + 1)
            if not isinstance(key, Scalar):
                self.refuse("GS0108", f"a key is text, this is {a_kind(key.kind)}", event)
            if key.text == "<<" and key.plain:
                self.refuse("GS0107", "a YAML merge key", event, "write the values out; merge keys are not read")
            first = seen.setdefault(key.text, key)
            if first is not key:
                message = f"`{key.text}` stands twice in this entry (lines {first.span.line} and {key.span.line})"
                self.diagnostics.add("GS0109", message, key.span, others=[(first.span, "first here")])
            value = self.node(self.next(), depth + 1)
            if first is key:
                pairs.append((key, value))
        return Mapping(pairs, Span(self.source, start, _end(event)))

    def refuse(self, code: str, what: str, event: Any, help_: str = "") -> NoReturn:
        at = event.start_mark.index
        self.diagnostics.add(code, what, Span(self.source, at, at + 1), help=help_)
        raise _Refused


def _end(event: Any) -> int:
    return int(event.end_mark.index)


_INDENT_HELP = "the keys of an entry stand below each other: `name` behind its `- `, the others with two blanks more than the `-`"


def _report_yaml_error(error: yaml.YAMLError, source: Source, diagnostics: Diagnostics) -> None:
    problem = getattr(error, "problem", None)
    if problem is None:  # the reader refused a character
        # libyaml counts bytes there, PyYAML's own reader code points; the character itself is the same to both.
        character = getattr(error, "character", 0)
        character = chr(character) if isinstance(character, int) else str(character)
        at = max(source.text.find(character), 0)
        kind = "control character" if unicodedata.category(character) == "Cc" else "character"
        diagnostics.add("GS0204", f"{kind} U+{ord(character):04X} in a YAML file", Span(source, at, at + 1))
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
    elif "expected ':'" in problem and context is not None:
        at, problem, help_ = context.index, "a line that is no `key: value`", "text of several lines is indented, or in quotes"
    elif "mapping values are not allowed" in problem:
        problem = "`: ` inside of an unquoted formula starts a mapping to YAML"
        help_ = "put the formula in quotes"
        if all(part.strip().isidentifier() for part in source.text[line_start:at].split(",")):
            problem, help_ = "a key that is indented more than the one before", _INDENT_HELP
    elif "expected '-' indicator" in problem:
        problem, help_ = "a key that is indented less than the one before", _INDENT_HELP
    help_ = yaml_help(source.text, source.path) or help_
    if at >= len(source.text):
        at = max(len(source.text.rstrip()) - 1, 0)
    diagnostics.add("GS0103", f"YAML: {problem}", Span(source, at, min(at + 1, len(source.text))), help=help_)
