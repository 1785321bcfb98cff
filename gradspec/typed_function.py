"""The types of a function's names and result; knows no op and no place."""

from __future__ import annotations

from gradspec import ir
from gradspec.signatures import result_type
from gradspec.typed import Fault, Typing
from gradspec.values import UNKNOWN, BracesType, TupleType, ValueType, conversion


def type_function(typing: Typing, function: ir.Function) -> None:
    """Find the type of every part of a function; what is wrong goes to the typing's faults."""
    for parameter in function.parameters:
        typing.locals[parameter.name] = parameter.type
    wanted = result_type(function.schema)
    for statement in function.statements:
        match statement:
            case ir.Let(names, value):
                _bind(typing, names, value)
            case ir.Guard(test, value):
                typing.check_condition(test)
                check_result(typing, value, wanted)
    check_result(typing, function.result, wanted)


def _bind(typing: Typing, names: tuple[str, ...], value: ir.Expr) -> None:
    if len(names) == 1:
        typing.locals[names[0]] = typing.named(value)
        return
    type_ = typing.type_of(value)
    items: tuple[ValueType, ...] = (UNKNOWN,) * len(names)
    if isinstance(type_, TupleType) and len(type_.items) == len(names):
        items = type_.items
    elif type_ is not UNKNOWN:
        what = f"{len(type_.items)} values" if isinstance(type_, TupleType) else str(type_)
        typing.faults.append(Fault(value, "GS0903", f"there are {len(names)} names for {what}"))
    typing.locals.update(zip(names, items, strict=True))


def check_result(typing: Typing, value: ir.Expr, wanted: ValueType) -> None:
    """Note a fault where an expression does not give what a header says."""
    given = typing.type_of(value)
    if conversion(wanted, given) is None:
        help_ = ""
        if isinstance(wanted, TupleType) and isinstance(given, BracesType):
            help_ = "several results are a tuple: `(a, b)`"
        elif isinstance(given, TupleType) and not isinstance(wanted, TupleType):
            help_ = f"for several results the header says `-> ({', '.join(['Tensor'] * min(len(given.items), 4))})`"
        typing.faults.append(Fault(value, "GS0907", f"the header says {wanted}, this is {given}", help_))
