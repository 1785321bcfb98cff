"""The IR as text that people read (and `read_ir` reads back), and as JSON; knows no target language."""

from __future__ import annotations

import json
from typing import Any, assert_never

from gradspec import ir

# C++'s operator precedence, tightest first ([expr]); larger binds tighter.
_BINARY_LEVELS = (
    ("*", "/", "%"),
    ("+", "-"),
    ("<<", ">>"),
    ("<", ">", "<=", ">="),
    ("==", "!="),
    ("&",),
    ("^",),
    ("|",),
    ("&&",),
    ("||",),
)
PRECEDENCE = {op: len(_BINARY_LEVELS) - level + 1 for level, ops in enumerate(_BINARY_LEVELS) for op in ops}
_CONDITIONAL, _UNARY, _POSTFIX = 1, len(_BINARY_LEVELS) + 2, len(_BINARY_LEVELS) + 3


def print_expr(expr: ir.Expr) -> str:
    """An expression in the formula language, with the fewest parentheses that keep its meaning."""
    return _print(expr, 0)


def _print(expr: ir.Expr, outer: int) -> str:
    match expr:
        case ir.Input(name) | ir.Output(name) | ir.Saved(name) | ir.Local(name) | ir.Constant(name) | ir.Cotangent(name=name):
            return name
        case ir.Number(text):
            return text
        case ir.Cotangents():
            return "grads"
        case ir.InputMask():
            return "grad_input_mask"
        case ir.RetainVariables():
            return "retain_variables"
        case ir.ElementIndex():
            return "i"
        case ir.Tangent(name, original):
            return f"{'original_' if original else ''}{name}_t"
        case ir.Primal(name, original):
            return f"{'original_' if original else ''}{name}_p"
        case ir.Bool(value):
            return "true" if value else "false"
        case ir.String(value):
            return quote(value)
        case ir.Call("std::make_tuple", args, ()) if len(args) > 1:
            return f"({_list(args)})"
        case ir.Call(function, args, template):
            return f"{function}{print_template(template)}({_list(args)})"
        case ir.Method(receiver, name, args, arrow, template):
            # The sign that follows a number would be a part of it.
            object_ = f"({receiver.text})" if isinstance(receiver, ir.Number) else _print(receiver, _POSTFIX)
            return f"{object_}{'->' if arrow else '.'}{name}{print_template(template)}({_list(args)})"
        case ir.Construct(type_, args, braces):
            opened, closed = "{}" if braces else "()"
            return f"{print_type(type_)}{opened}{_list(args)}{closed}"
        case ir.Braces(items):
            return f"{{{_list(items)}}}"
        case ir.Index(value, index):
            return f"{_print(value, _POSTFIX)}[{_print(index, 0)}]"
        case ir.Unary(op, operand):
            inner = _print(operand, _UNARY)
            # Two signs in a row would be read as one: - -x, + +x.
            gap = " " if op in "+-" and inner.startswith(op) else ""
            return _wrap(f"{op}{gap}{inner}", _UNARY, outer)
        case ir.Binary(op, left, right):
            level = PRECEDENCE[op]
            return _wrap(f"{_print(left, level)} {op} {_print(right, level + 1)}", level, outer)
        case ir.Conditional(test, then, other):
            text = f"{_print(test, _CONDITIONAL + 1)} ? {_print(then, 0)} : {_print(other, _CONDITIONAL)}"
            return _wrap(text, _CONDITIONAL, outer)
        case ir.Lambda(param_type, param, body):
            return f"[]({print_type(param_type)} {param}) {{ return {_print(body, 0)}; }}"
        case ir.Comprehension(value, names, sources, test):
            condition = "" if test is None else f" if {_print(test, 0)}"
            return f"[{_print(value, 0)} for {_walk(names, sources)}{condition}]"
        case ir.Fold(accumulator, initial, names, sources, value):
            return f"fold({accumulator} = {_print(initial, 0)}; {_walk(names, sources)}; {_print(value, 0)})"
        case _:
            assert_never(expr)


def _walk(names: tuple[str, ...], sources: tuple[ir.Expr, ...]) -> str:
    source = _print(sources[0], 0) if len(sources) == 1 else f"zip({_list(sources)})"
    return f"{', '.join(names)} in {source}"


def _list(items: tuple[ir.Expr, ...]) -> str:
    return ", ".join([_print(i, 0) for i in items])


def _wrap(text: str, level: int, outer: int) -> str:
    return f"({text})" if level < outer else text


def print_type(type_: ir.TypeRef) -> str:
    """A C++-style type as formulas spell it."""
    return f"{type_.name}{print_template(type_.args)}"


def print_template(args: tuple[ir.TypeRef | str, ...]) -> str:
    """Template arguments with their brackets, empty where there are none."""
    return f"<{', '.join([a if isinstance(a, str) else print_type(a) for a in args])}>" if args else ""


def quote(value: str) -> str:
    """A string literal of the formula language."""
    out = []
    for c in value:
        if c in '"\\':
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif c == "\t":
            out.append("\\t")
        elif c < " " or c == "\x7f":
            # Octal ends by itself after three digits; hexadecimal would swallow what follows.
            out.append(f"\\{ord(c):03o}")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


# -------------------------------------------------------------------------------------------------------------------- text


def print_program(program: ir.Program) -> str:
    """The whole program as text, one block an op or function."""
    return "\n".join([*[print_function(f) for f in program.functions], *[print_op(op) for op in program.ops]])


def print_function(function: ir.Function) -> str:
    """One function, as the language has it; its comment is left out."""
    lines = [f"fn {function.schema} {{"]
    for statement in function.statements:
        match statement:
            case ir.Let(names, value):
                lines.append(f"  let {', '.join(names)} = {print_expr(value)};")
            case ir.Guard(test, value):
                lines.append(f"  if ({print_expr(test)}) return {print_expr(value)};")
    return "\n".join([*lines, f"  return {print_expr(function.result)};", "}"]) + "\n"


def print_op(op: ir.Op) -> str:
    """One op as text: a headline, then a line a fact, two blanks in."""
    lines = [f"op {op.schema}"]
    if op.dispatch != "Default":
        lines.append(f"  dispatch {op.dispatch}")
    if op.node is not None:
        lines.append(f"  node {op.node}{'' if op.traceable else ' (not traceable)'}")
    elif not op.traceable:
        lines.append("  not traceable")
    if op.foreach:
        lines.append("  for each element i")
    for i in op.inputs:
        lines.append(f"  input {i.name}: {i.type}{'' if i.state == 'unmentioned' else ' ' + i.state}")
    for o in op.outputs:
        lines.append(f"  output {o.name}: {o.type}{' differentiable' if o.differentiable else ''}")
    if op.differentiable_if is not None:
        lines.append(f"  differentiable if {print_expr(op.differentiable_if)}")
    if op.forward is not None:
        lines.append(f"  forward {print_expr(op.forward)}")
    if op.named_gradients:
        lines.append(f"  gradients {', '.join(op.named_gradients)}")
    for v in op.saved:
        before = " before the write" if v.overwritten else ""
        lines.append(f"  save {v.origin} {v.name}: {v.type} = {print_expr(v.value)}{before}")
    for d in op.derivatives:
        lines.append(f"  vjp {', '.join(d.inputs)} = {print_expr(d.formula)}")
        lines.append(f"    written {print_expr(d.written)}")
    for j in op.jvps:
        auto = f" (auto_{j.auto})" if j.auto else ""
        lines.append(f"  jvp {', '.join(j.outputs)}{auto} = {print_expr(j.formula)}")
    return "\n".join(lines) + "\n"


# -------------------------------------------------------------------------------------------------------------------- JSON


def as_record(op: ir.Op) -> dict[str, Any]:
    """One op as plain data; docs/ir.md describes the form."""
    return {
        "op": str(op.name),
        "schema": str(op.schema),
        "dispatch": op.dispatch,
        "node": op.node,
        "traceable": op.traceable,
        "foreach": op.foreach,
        "inputs": [{"name": i.name, "type": str(i.type), "state": i.state} for i in op.inputs],
        "outputs": [{"name": o.name, "type": str(o.type), "differentiable": o.differentiable} for o in op.outputs],
        "differentiable_if": None if op.differentiable_if is None else print_expr(op.differentiable_if),
        "forward": None if op.forward is None else print_expr(op.forward),
        "saved": [
            {
                "name": v.name,
                "type": str(v.type),
                "from": v.origin,
                "value": print_expr(v.value),
                "before_write": v.overwritten,
            }
            for v in op.saved
        ],
        "derivatives": [
            {"inputs": list(d.inputs), "formula": print_expr(d.formula), "written": print_expr(d.written)} for d in op.derivatives
        ],
        "tangents": [
            {
                "outputs": list(j.outputs),
                "formula": print_expr(j.formula),
                "tangents": list(j.tangents),
                "primals": list(j.primals),
                "auto": j.auto or None,
            }
            for j in op.jvps
        ],
        "named_gradients": list(op.named_gradients),
        "uses_retain_variables": op.uses_retain_variables,
    }


def print_json(program: ir.Program) -> str:
    """The whole program as one JSON document: `{"format": 1, "nodes": [...], "functions": [...]}`."""
    functions = [
        {"name": f.name, "schema": str(f.schema), "doc": "\n".join(f.doc), "text": print_function(f)} for f in program.functions
    ]
    nodes = [as_record(op) for op in program.ops]
    return json.dumps({"format": 1, "nodes": nodes, "functions": functions}, indent=1) + "\n"
