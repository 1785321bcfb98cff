"""Where the formulas of an op stand in its spec, found by reading the text again; knows no torch."""

from __future__ import annotations

from functools import cache

from gradspec.diagnostics import Diagnostics
from gradspec.ir import Op
from gradspec.pipeline import parse_source
from gradspec.source import Source, Span
from gradspec.syntax import Spec
from gradspec.written import written_formulas


def formula_places(op: Op) -> dict[str, Span]:
    """The place of each input's and output's formula, and of `forward`; none for an op that is derived from another."""
    if op.span is None:
        return {}
    spec = _spec(op.span.source)
    places = {
        name: formula.rule.formula.excerpt.span
        for _, formulas in written_formulas([spec], [op])
        for formula in formulas
        for name in formula.names
    }
    for entry in spec.entries:
        if entry.forward is not None and str(entry.schema) == str(op.schema):
            places["forward"] = entry.forward.excerpt.span
    return places


@cache
def _spec(source: Source) -> Spec:
    # Ops of one spec ask one after the other.
    return parse_source(source, Diagnostics())
