"""Types of formulas against what the operators and helpers of the torch take; says what is wrong at the place where it stands."""

from __future__ import annotations

from collections.abc import Iterable

from gradspec import ir
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.op_table import OpTable
from gradspec.signatures import Signatures
from gradspec.typed import Fault, Typing, gradient_fault
from gradspec.written import Written, written_formulas


def check_types(specs: Iterable[s.Spec], ops: Iterable[ir.Op], table: OpTable, diagnostics: Diagnostics) -> None:
    """Check every formula that a spec writes out; what has no schema is of unknown type, and no error."""
    signatures = Signatures(table.named)
    for op, formulas in written_formulas(specs, ops):
        typing = Typing(signatures, op)
        for written in formulas:
            typing.type_of(written.expr)
            found = list(typing.faults)
            typing.faults.clear()
            whole = gradient_fault(typing, written.expr, written.names) if written.is_vjp and not found else None
            for fault in [*found, *([whole] if whole else [])]:
                _report(fault, written, diagnostics)


def _report(fault: Fault, written: Written, diagnostics: Diagnostics) -> None:
    node = written.node_of(fault.expr) if fault.at == "name" else None
    if isinstance(node, s.Method):
        span = written.rule.formula.excerpt.place(node.name.start, node.name.end)
    elif isinstance(node, s.Call):
        span = written.rule.formula.place(node.function)
    else:
        span = written.place(fault.expr)
    diagnostics.add(fault.code, fault.message, span, help=fault.help)
