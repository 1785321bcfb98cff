"""Types of formulas against what the operators and helpers of the torch take; says what is wrong at the place where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradspec import ir
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.op_table import OpTable
from gradspec.parse.formula import expr_children
from gradspec.signatures import Signatures
from gradspec.typed import Fault, Typing, gradient_fault


def check_types(specs: Iterable[s.Spec], ops: Iterable[ir.Op], table: OpTable, diagnostics: Diagnostics) -> None:
    """Check every formula that a spec writes out; what has no schema is of unknown type, and no error."""
    blocks = {(str(e.schema), b.dispatch): b for spec in specs for e in spec.entries for b in e.blocks}
    signatures = Signatures(table.named)
    for op in ops:
        block = blocks.get((str(op.schema), op.dispatch))
        if block is None:
            continue
        rules = {tuple([n.text for n in r.names]): r for r in block.rules}
        typing = Typing(signatures, op)
        for names, formula, is_vjp in _formulas(op):
            typing.type_of(formula)
            found = list(typing.faults)
            typing.faults.clear()
            whole = gradient_fault(typing, formula, names) if is_vjp and not found else None
            for fault in [*found, *([whole] if whole else [])]:
                _report(fault, rules[names].formula, formula, diagnostics)


def _formulas(op: ir.Op) -> Iterator[tuple[tuple[str, ...], ir.Expr, bool]]:
    for derivative in op.derivatives:
        yield derivative.inputs, derivative.written, True
    for jvp in op.jvps:
        if not jvp.auto:
            yield jvp.outputs, jvp.formula, False


def _report(fault: Fault, formula: s.Formula, written: ir.Expr, diagnostics: Diagnostics) -> None:
    node = _node_of(fault.expr, written, formula.value) if not isinstance(formula.value, str) else None
    if node is None:
        span = formula.excerpt.span
    elif fault.at == "name" and isinstance(node, s.Method):
        span = formula.excerpt.place(node.name.start, node.name.end)
    elif fault.at == "name" and isinstance(node, s.Call):
        span = formula.place(node.function)
    else:
        span = formula.place(node)
    diagnostics.add(fault.code, fault.message, span, help=fault.help)


def _node_of(wanted: ir.Expr, expr: ir.Expr, node: s.Expr) -> s.Expr | None:
    """Where a part of the resolved formula comes from: both trees have the same shape, down to names and gradients."""
    if expr is wanted:
        return node
    for part, written in zip(ir.children(expr), expr_children(node), strict=False):
        found = _node_of(wanted, part, written)
        if found is not None:
            return found
    return None
