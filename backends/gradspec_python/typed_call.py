"""The typed function of an op: its schema as a Python signature, and the call of the autograd function; knows no formula."""

from __future__ import annotations

from gradspec import ir
from gradspec.types import is_tensor_list
from gradspec_python.code import Code, bracketed, called, statement
from gradspec_python.names import python_name
from gradspec_python.operands import Operands
from gradspec_python.types import annotation, default_text


def call_head(operands: Operands, name: str) -> str:
    """The `def` of the function, with the schema's types and defaults."""
    schema = operands.op.schema
    items = [_declared(a) for a in schema.positional]
    if schema.keyword or schema.out:
        items.append("*")
    items += [_declared(a) for a in schema.keyword + schema.out]
    returns = ["list[Tensor]" if is_tensor_list(o.type) else annotation(o.type) for o in operands.op.outputs]
    result = returns[0] if len(returns) == 1 else f"tuple[{', '.join(returns)}]"
    return statement("", Code(bracketed(f"def {name}(", items, f") -> {result}:")), 0)


def _declared(argument: ir.Argument) -> str:
    text = f"{python_name(argument.name)}: {annotation(argument.type)}"
    return text if argument.default is None else f"{text} = {default_text(argument.type, argument.default)}"


def call_body(operands: Operands) -> str:
    """The function's only statements: lists are taken apart, and what comes back is put together again."""
    given = [
        f"{python_name(operands.plain[0].name)}.clone()" if a is operands.original else python_name(a.name)
        for a in operands.plain
    ]
    if operands.several:
        given.append(f"[{', '.join(f'len({python_name(a.name)})' for a in operands.lists)}]")
    given += [f"*{python_name(a.name)}" for a in operands.lists]
    call = called(f"{operands.op.node}.apply", given)
    outputs = operands.op.outputs
    if not is_tensor_list(outputs[-1].type):
        return statement("return ", call, 4)
    if len(outputs) == 1:
        return statement("return ", called("list", [call.doc]), 4)
    count = len(outputs) - 1
    return f"{statement('output = ', call, 4)}\n    return (*output[:{count}], list(output[{count}:]))"
