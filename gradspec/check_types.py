"""Types of formulas against what the operators and helpers of the torch take; says what is wrong at the place where it stands."""

from __future__ import annotations

from collections.abc import Iterable

from gradspec import ir
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.op_table import OpTable
from gradspec.parse.formula import body_expressions
from gradspec.signatures import Signatures, result_type
from gradspec.typed import Fault, Typing, gradient_fault
from gradspec.typed_function import check_result, type_function
from gradspec.written import Written, written_formulas


def check_types(
    specs: Iterable[s.Spec], ops: Iterable[ir.Op], functions: tuple[ir.Function, ...], table: OpTable, diagnostics: Diagnostics
) -> None:
    """Check every formula that a spec writes out; what has no schema is of unknown type, and no error."""
    signatures = Signatures(table.named, functions)
    specs = tuple(specs)
    ops = tuple(ops)
    _check_forwards(specs, ops, signatures, diagnostics)
    for op, formulas in written_formulas(specs, ops):
        typing = Typing(signatures)
        for written in formulas:
            typing.type_of(written.expr)
            found = list(typing.faults)
            typing.faults.clear()
            whole = gradient_fault(typing, op, written.expr, written.names) if written.is_vjp and not found else None
            for fault in [*found, *([whole] if whole else [])]:
                _report(fault, written, diagnostics)


def _check_forwards(specs: Iterable[s.Spec], ops: Iterable[ir.Op], signatures: Signatures, diagnostics: Diagnostics) -> None:
    """Check what ops are said to compute."""
    said = {str(e.schema): e.forward for spec in specs for e in spec.entries if e.forward is not None}
    for op in ops:
        formula = said.get(str(op.schema))
        if formula is None or op.forward is None:
            continue
        typing = Typing(signatures)
        check_result(typing, op.forward, result_type(op.schema))
        whole = Written((), op.forward, s.Rule("", (), formula), False)
        for fault in typing.faults:
            _report(fault, whole, diagnostics)


def check_function_types(
    written: Iterable[s.Function],
    resolved: Iterable[ir.Function],
    known: tuple[ir.Function, ...],
    table: OpTable,
    diagnostics: Diagnostics,
) -> None:
    """Check every function that specs write out, where `known` are all that these may call."""
    signatures = Signatures(table.named, known)
    pairs_of_functions = list(zip(written, resolved, strict=True))
    called: dict[int, set[int]] = {}
    for source, function in pairs_of_functions:
        typing = Typing(signatures)
        type_function(typing, function)
        targets = [b.signature.function for b in typing.bindings.values()]
        called[id(function)] = {id(f) for f in targets if f is not None}
        pairs = list(zip(function.expressions, body_expressions(source.body), strict=True))
        for fault in typing.faults:
            for expr, node in pairs:
                whole = Written((), expr, s.Rule("", (), s.Formula(source.body_excerpt, node)), False)
                if whole.node_of(fault.expr) is not None:
                    _report(fault, whole, diagnostics)
                    break
    in_circles = _in_circles(called)
    for source, function in pairs_of_functions:
        if id(function) in in_circles:
            message = f"`{function.name}` comes to call itself"
            diagnostics.add("GS0412", message, source.name_span, help="walk over a list with `fold` instead")


def _in_circles(called: dict[int, set[int]]) -> set[int]:
    """Who reaches itself."""
    found = set()
    for start, first in called.items():
        seen: set[int] = set()
        todo = list(first)
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += called.get(at, ())
        if start in seen:
            found.add(start)
    return found


def _report(fault: Fault, written: Written, diagnostics: Diagnostics) -> None:
    node = written.node_of(fault.expr) if fault.at == "name" else None
    if isinstance(node, s.Method):
        span = written.rule.formula.excerpt.place(node.name.start, node.name.end)
    elif isinstance(node, s.Call):
        span = written.rule.formula.place(node.function)
    else:
        span = written.place(fault.expr)
    diagnostics.add(fault.code, fault.message, span, help=fault.help)
