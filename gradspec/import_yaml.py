"""PyTorch's derivatives.yaml as .grad text that means the same; knows how both are written, and no meaning of names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.fmt import format_spec
from gradspec.names import DIFFERENTIABILITY_KEY
from gradspec.source import Source, Span
from gradspec.torch_yaml import parse_derivatives


def import_derivatives(source: Source, externs: Sequence[str], diagnostics: Diagnostics) -> str | None:
    """The .grad text of a derivatives.yaml, in canonical form; None where the YAML is wrong, with the reasons in `diagnostics`.

    `externs` are functions that the text declares. Rules come in the order of the op's inputs, then outputs. Comments inside of
    formulas are kept, and YAML comments right above or right behind an entry's name or rule.
    """
    found = Diagnostics()
    spec = parse_derivatives(source, found)
    diagnostics.extend(found.all)
    if found.has_errors:
        return None
    lines = [f"extern {', '.join(externs)};"] if externs else []
    lines += [line for entry in spec.entries for line in _entry(entry)]
    text = format_spec(Source(source.path, "".join([f"{line}\n" for line in lines])), found)
    assert text is not None, found.all
    return text


def _entry(entry: s.Entry) -> Iterator[str]:
    yield from _comments_above(entry.excerpt.span)
    yield f"op {entry.schema} {{{_comment_behind(entry.excerpt.span)}"
    said = entry.differentiability
    if said is not None:
        yield from _comments_above(said.span)
        value = said.condition.excerpt.text if said.condition is not None else f"[{', '.join(map(str, said.flags))}]"
        yield f"{DIFFERENTIABILITY_KEY}: {value}"
        yield f";{_comment_behind(said.span)}"
    for i, block in enumerate(entry.blocks):
        # Rules outside of a block are the Default's, and come first.
        plain = i == 0 and block.dispatch == "Default" and (block.rules or len(entry.blocks) == 1)
        if not plain:
            yield from _comments_above(block.dispatch_span)
            yield f"dispatch {block.dispatch} {{{_comment_behind(block.dispatch_span)}"
        for rule in _in_schema_order(entry, block):
            yield from _comments_above(rule.names[0].span)
            # A formula may end in a comment of its own that goes to the end of its line.
            yield f"{', '.join([n.text for n in rule.names])}: {rule.formula.excerpt.text}"
            yield f";{_comment_behind(rule.formula.excerpt.span)}"
        if not plain:
            yield "}"
    yield "}"


def _in_schema_order(entry: s.Entry, block: s.Block) -> list[s.Rule]:
    schema = entry.schema
    names = [*[a.name for a in schema.arguments + schema.out], *schema.output_names]
    return sorted(block.rules, key=lambda rule: names.index(rule.names[0].text))


def _comments_above(span: Span) -> list[str]:
    """The comment lines that stand without a blank line above the line of a place."""
    found: list[str] = []
    line = span.line - 1
    while line > 0 and (text := span.source.line_text(line).strip()).startswith("#"):
        found.append(_comment(text))
        line -= 1
    return found[::-1]


def _comment_behind(span: Span) -> str:
    """The comment between a place and the end of its line."""
    text, start = span.source.text, span.end
    end = text.find("\n", start)
    rest = text[start : end if end >= 0 else len(text)].strip()
    return f"  {_comment(rest)}" if rest.startswith("#") else ""


def _comment(text: str) -> str:
    return f"//{text[1:]}"
