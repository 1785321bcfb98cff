"""Types of formulas against what the operators and helpers of the torch take; says what is wrong at the place where it stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gradspec import ir
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.signatures import Signatures, result_type
from gradspec.source import Source
from gradspec.typed import Fault, Typing
from gradspec.typed_function import check_result, type_function
from gradspec.types import TENSOR, BaseType, ListType, OptionalType, is_tensor_like, is_tensor_list
from gradspec.values import UNKNOWN, VOID, BracesType, TupleType, ValueType
from gradspec.written import Written, body_nodes, written_formulas


def sound_items(specs: Iterable[s.Spec], diagnostics: Diagnostics) -> set[s.Entry | s.Function]:
    """The entries and functions that no error was found in."""
    items: dict[Source, list[tuple[int, s.Entry | s.Function]]] = {}
    for spec in specs:
        written: list[s.Entry | s.Function] = [*spec.entries, *spec.functions]
        for item in written:
            items.setdefault(item.excerpt.span.source, []).append((item.excerpt.span.start, item))
    sound = {item for found in items.values() for _, item in found}
    for found in items.values():
        found.sort(key=lambda pair: pair[0])
    for diagnostic in diagnostics.all:
        if diagnostic.severity == "error" and diagnostic.span is not None:
            inside = items.get(diagnostic.span.source, [])
            place = bisect_right(inside, diagnostic.span.start, key=lambda pair: pair[0]) - 1
            if place >= 0:
                sound.discard(inside[place][1])
    return sound


def check_types(specs: Iterable[s.Spec], ops: Iterable[ir.Op], signatures: Signatures, diagnostics: Diagnostics) -> None:
    """Check every formula that a spec writes out; what has no schema is of unknown type, and no error."""
    specs = tuple(specs)
    ops = tuple(ops)
    _check_forwards(specs, ops, signatures, diagnostics)
    for op, formulas in written_formulas(specs, ops):
        typing = Typing(signatures)
        for written in formulas:
            typing.type_of(written.expr)
            found = list(typing.faults)
            typing.faults.clear()
            whole = _gradient_fault(typing, op, written.expr, written.names) if written.is_vjp and not found else None
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
    functions: Iterable[tuple[s.Function, ir.Function]], signatures: Signatures, diagnostics: Diagnostics
) -> None:
    """Check functions that specs write out."""
    called: dict[int, list[int]] = {}
    sources: dict[int, s.Function] = {}
    for source, function in functions:
        typing = Typing(signatures)
        type_function(typing, function)
        targets = [b.signature.function for b in typing.bindings.values()]
        called[id(function)] = [id(f) for f in targets if f is not None]
        sources[id(function)] = source
        if typing.faults:
            nodes = body_nodes(function.expressions, source.body)
            for fault in typing.faults:
                node = nodes[id(fault.expr)]
                _report_at(fault, node, s.Formula(source.body_excerpt, node), diagnostics)
    for circle in _circles(called):
        names = list(dict.fromkeys([sources[c].schema.name.base for c in circle]))
        message = f"`{names[0]}` comes to call itself"
        if len(names) > 1:
            message += f", by way of {', '.join([f'`{n}`' for n in names[1:4]])}{', ...' if len(names) > 4 else ''}"
        diagnostics.add("GS0412", message, sources[circle[0]].name_span, help="walk over a list with `fold` instead")


def _circles(called: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """Who reach themselves, those that reach each other together, in order (Tarjan 1972, without recursion)."""
    order = {node: i for i, node in enumerate(called)}
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in called:
        if root in number:
            continue
        way = [(root, iter(called[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while way:
            node, rest = way[-1]
            following = next((n for n in rest if n in called and (n not in number or n in on_stack)), None)
            if following is None:
                way.pop()
                if way:
                    low[way[-1][0]] = min(low[way[-1][0]], low[node])
                if low[node] == number[node]:
                    members: list[int] = []
                    while not members or members[-1] != node:
                        members.append(stack.pop())
                    on_stack.difference_update(members)
                    if len(members) > 1 or node in called[node]:
                        found.append(sorted(members, key=order.__getitem__))
            elif following in number:
                low[node] = min(low[node], number[following])
            else:
                number[following] = low[following] = len(number)
                stack.append(following)
                on_stack.add(following)
                way.append((following, iter(called[following])))
    return iter(sorted(found, key=lambda members: order[members[0]]))


def _report(fault: Fault, written: Written, diagnostics: Diagnostics) -> None:
    node = written.node_of(fault.expr)
    if node is None:
        diagnostics.add(fault.code, fault.message, written.rule.formula.excerpt.span, help=fault.help)
    else:
        _report_at(fault, node, written.rule.formula, diagnostics)


def _report_at(fault: Fault, node: s.Expr, formula: s.Formula, diagnostics: Diagnostics) -> None:
    span = formula.place(node)
    if fault.at == "name" and isinstance(node, s.Method):
        span = formula.excerpt.place(node.name.start, node.name.end)
    elif fault.at == "name" and isinstance(node, s.Call):
        span = formula.place(node.function)
    diagnostics.add(fault.code, fault.message, span, help=fault.help)


def _gradient_fault(typing: Typing, op: ir.Op, expr: ir.Expr, inputs: Sequence[str]) -> Fault | None:
    """What is wrong with the type of a backward formula as a whole: each input's gradient is a tensor, or a list of them."""
    type_ = typing.type_of(expr)
    if len(inputs) == 1:
        wanted = next(i.type for i in op.inputs if i.name == inputs[0])
        fine = type_ is UNKNOWN or isinstance(type_, BracesType) or _is_gradient(type_)
        if fine and is_tensor_list(wanted) and type_ == TENSOR and not op.foreach:
            fine = False
        if fine:
            return None
        what = "a list of tensors" if is_tensor_list(wanted) and not op.foreach else "a tensor"
        return Fault(expr, "GS0905", f"the gradient of `{inputs[0]}` is {what}, the formula gives {type_}")
    if isinstance(type_, TupleType) and len(type_.items) < len(inputs) and isinstance(expr, ir.Call):
        return Fault(expr, "GS0905", f"the formula gives {len(type_.items)} gradients, its key names {len(inputs)} inputs")
    if isinstance(type_, BaseType) and type_ != TENSOR:
        return Fault(expr, "GS0905", f"the formula gives {type_}, its key names {len(inputs)} inputs", "give a tuple of tensors")
    return None


def _is_gradient(type_: ValueType) -> bool:
    """Whether a value can be a gradient."""
    if isinstance(type_, BaseType | ListType | OptionalType):
        return is_tensor_like(type_)
    return type_ is not VOID and not isinstance(type_, TupleType)
