"""PyTorch's YAML pair to syntax; knows its keys, not what formulas mean."""

from __future__ import annotations

from typing import Any

from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.names import DIFFERENTIABILITY_KEY, ENTRY_KEYS, check_key
from gradspec.op_table import ListedOp, OpTable
from gradspec.parse import parse_formula, parse_schema
from gradspec.source import Source, Span
from gradspec.yaml_nodes import Mapping, Node, Scalar, Sequence, a_kind, top_level_items


def parse_derivatives(source: Source, diagnostics: Diagnostics) -> s.Spec:
    """The entries of a derivatives.yaml; what is wrong with it is in `diagnostics`, and what is right in the result."""
    entries: list[s.Entry] = []
    for item in top_level_items(source, diagnostics):
        entry = _entry(item, diagnostics)
        if entry is not None:
            entries.append(entry)
    return s.Spec(source.path, tuple(entries))


def parse_native_functions(source: Source, diagnostics: Diagnostics) -> OpTable:
    """The operators of a native_functions.yaml, their schemas not yet parsed."""
    listed: dict[str, list[ListedOp]] = {}
    for item in top_level_items(source, diagnostics):
        if not isinstance(item, Mapping):
            diagnostics.add("GS0108", f"an operator is a mapping, this is {a_kind(item.kind)}", item.span)
            continue
        values = {k.text: v for k, v in item.items}
        func, variants = values.get("func"), values.get("variants")
        if not isinstance(func, Scalar):
            help_ = "this looks like a derivatives.yaml, which is no list of operators" if "name" in values else ""
            diagnostics.add("GS0110", "an operator without `func`", item.span if func is None else func.span, help=help_)
            continue
        name = func.text.partition("(")[0]
        base = name.partition(".")[0]
        if not (base.isascii() and base.isidentifier()):
            # Its own grammar says what is wrong with the name.
            parse_schema(func.excerpt, diagnostics)
            continue
        listed.setdefault(base, []).append(ListedOp(func.excerpt, variants.text if isinstance(variants, Scalar) else "function"))
    return OpTable(listed, diagnostics)


# ------------------------------------------------------------------------------------------------------------- entries


def _entry(item: Node, diagnostics: Diagnostics) -> s.Entry | None:
    if not isinstance(item, Mapping):
        diagnostics.add("GS0108", f"an entry is a mapping with `name` and formulas, this is {a_kind(item.kind)}", item.span)
        return None
    values = {k.text: v for k, v in item.items}
    name = values.get("name")
    if not isinstance(name, Scalar):
        span = item.items[0][0].span if item.items else item.span
        help_ = "`name` is the op's whole schema"
        if "func" in values:
            help_ = "with `func` it is an operator: give the native_functions.yaml to --schemas"
        diagnostics.add("GS0110", "an entry without `name`", span, help=help_)
        return None
    schema = parse_schema(name.excerpt, diagnostics)
    rules = [(k, v) for k, v in item.items if k.text not in ENTRY_KEYS]
    dispatch = values.get("dispatch")
    if dispatch is None:
        blocks = [s.Block("Default", name.span, _rules(rules, schema, diagnostics))]
    elif isinstance(dispatch, Mapping):
        blocks = []
        for key, value in dispatch.items:
            if isinstance(value, Mapping):
                blocks.append(s.Block(key.text, key.span, _rules(value.items, schema, diagnostics)))
            else:
                diagnostics.add("GS0108", f"`{key.text}` holds formulas by name, this is {a_kind(value.kind)}", value.span)
        for key, _ in rules:
            diagnostics.add("GS0307", f"`{key.text}` stands beside `dispatch`", key.span, help="move it below `Default:`")
    else:
        diagnostics.add("GS0108", f"`dispatch` maps dispatch keys to formulas, this is {a_kind(dispatch.kind)}", dispatch.span)
        return None
    flags = values.get(DIFFERENTIABILITY_KEY)
    differentiability = None if flags is None else _differentiability(flags, diagnostics)
    return None if schema is None else s.Entry(schema, name.excerpt, tuple(blocks), differentiability)


def _rules(items: list[tuple[Scalar, Node]], schema: Any, diagnostics: Diagnostics) -> tuple[s.Rule, ...]:
    rules: list[s.Rule] = []
    for key, value in items:
        names = _key_names(key)
        if not check_key(names, schema, diagnostics):
            continue
        if not isinstance(value, Scalar) or value.kind not in ("str", "null") or (value.kind == "null" and value.text):
            help_ = "put it in quotes if it is a formula"
            diagnostics.add("GS0108", f"a formula is text, this is {a_kind(value.kind)} to YAML", value.span, help=help_)
            continue
        if value.plain:
            _warn_of_comment(value, diagnostics)
        formula = parse_formula(value.excerpt, diagnostics)
        if formula is not None:
            rules.append(s.Rule(", ".join(n.text for n in names), names, formula))
    return tuple(rules)


def _key_names(key: Scalar) -> tuple[s.KeyName, ...]:
    if "," not in key.text:
        return (s.KeyName(key.text.strip(), key.span),)
    names: list[s.KeyName] = []
    at = 0
    for part in key.text.split(","):
        start = at + len(part) - len(part.lstrip())
        names.append(s.KeyName(part.strip(), key.excerpt.place(start, at + len(part.rstrip()))))
        at += len(part) + 1
    return tuple(names)


def _warn_of_comment(value: Scalar, diagnostics: Diagnostics) -> None:
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


def _differentiability(value: Node, diagnostics: Diagnostics) -> s.Differentiability | None:
    items = value.items if isinstance(value, Sequence) else [value]
    flags: list[bool] = []
    for item in items:
        if isinstance(item, Scalar) and item.kind == "bool":
            flags.append(item.text.lower() == "true")
        elif isinstance(item, Scalar) and item.kind == "str" and len(items) == 1:
            condition = parse_formula(item.excerpt, diagnostics)
            return None if condition is None else s.Differentiability((True,), condition, value.span)
        else:
            message = f"`{DIFFERENTIABILITY_KEY}` is a list of True and False, or one condition; this is {a_kind(item.kind)}"
            diagnostics.add("GS0309", message, item.span)
            return None
    return s.Differentiability(tuple(flags), None, value.span)
