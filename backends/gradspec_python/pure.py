"""The pure function of an op: gradients from gradients and saved values; knows no autograd function."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from gradspec import ir
from gradspec.layout import LINE, concat
from gradspec.printer import print_expr
from gradspec.types import SYMINT, ListType, is_tensor_list
from gradspec_python import code as c
from gradspec_python.code import Code, bracketed, called, statement
from gradspec_python.expr import Lowering
from gradspec_python.names import python_name, unique

_INDENT = 4


@frozen
class PureFunction:
    """A function's head, the lines of its docstring and of its body."""

    head: str
    doc: tuple[str, ...]
    body: tuple[str, ...]
    parameters: tuple[str, ...]


def pure_function(op: ir.Op, name: str, lowering: Lowering) -> PureFunction:
    """The function `<op>_backward`.

    Raises:
        CannotLower: a formula calls what Python does not have.
    """
    saved = [python_name(v.name) for v in op.saved]
    parts = [part for d in op.derivatives for part in ir.walk(d.formula)]
    aliases = sorted({(p.name, p.index) for p in parts if isinstance(p, ir.Cotangent) and p.form != "grads"})
    taken = {"grads", "needs_input_grad", "grad_input_mask", *saved, *[a for a, _ in aliases]}
    results: dict[str, str] = {}
    for info in op.differentiable_inputs:
        results[info.name] = unique(f"grad_{info.name}", taken)
        taken.add(results[info.name])
    body = [f"{alias} = grads[{index}]" for alias, index in aliases]
    body.append(f"{' = '.join(results.values())} = None")
    places = {info.name: i for i, info in enumerate(op.differentiable_inputs)}
    outputs = ir.differentiable_output_names(op.outputs)
    lists = any(o.differentiable and is_tensor_list(o.type) for o in op.outputs)
    single = len(outputs) == 1 and not lists
    present = f"{aliases[0][0] if aliases else 'grads[0]'} is not None" if single else "any(g is not None for g in grads)"
    for derivative in op.derivatives:
        needed = [f"needs_input_grad[{places[n]}]" for n in derivative.inputs]
        if len(needed) == 1:
            formula = _of_one(op, derivative, lowering)
            body.append(f"if {needed[0]} and {present}:")
            body.append("    " + statement(f"{results[derivative.inputs[0]]} = ", formula, _INDENT + 4))
        else:
            asked = "any(needs_input_grad)" if len(needed) == len(places) else f"({' or '.join(needed)})"
            body.append(f"if {asked} and {present}:")
            whole = list(derivative.inputs) == list(results)
            mask = "needs_input_grad" if whole else f"[{', '.join(needed)}]"
            if any(isinstance(p, ir.InputMask) for p in ir.walk(derivative.formula)):
                body.append(f"    grad_input_mask = {'list(needs_input_grad)' if whole else mask}")
                mask = "grad_input_mask"
            made = lowering.lower(_guarded(derivative.formula) if single else derivative.formula)
            # An operator that is told what to leave out may not do so: under forward mode, torch takes some apart.
            made = called(lowering.use("where_needed"), [made.doc, mask])
            body.append("    " + statement(f"{', '.join(results[n] for n in derivative.inputs)} = ", made, _INDENT + 4))
    values = list(results.values())
    body.append(f"return ({values[0]},)" if len(values) == 1 else f"return {', '.join(values)}")
    doc = [f"The gradients of `{op.name}`, of those inputs that need one.", "", f"    {op.schema}", ""]
    for derivative in op.derivatives:
        doc.append(f"    {', '.join(derivative.inputs)}: {print_expr(derivative.written)}")
    head = Code(bracketed(f"def {name}(", ["grads", "needs_input_grad", *saved], "):"))
    return PureFunction(statement("", head, 0), tuple(doc), tuple(body), tuple(saved))


def _guarded(formula: ir.Expr) -> ir.Expr:
    """The formula without its own question for the only gradient: whether that is there has been asked already."""
    match formula:
        case ir.Conditional(ir.Method(ir.Cotangent(), "defined", ()), then, ir.Construct(args=())):
            return then
        case _:
            return formula


def _of_one(op: ir.Op, derivative: ir.Derivative, lowering: Lowering) -> Code:
    made = lowering.lower(derivative.formula)
    if not op.foreach:
        return made
    element = concat("None if grads[i] is None else ", made.within(c.TERNARY))
    items = concat(element, LINE, "for i in range(len(grads))")
    of_list = is_tensor_list(next(i.type for i in op.inputs if i.name == derivative.inputs[0]))
    if of_list:
        return Code(bracketed("[", [items], "]"))
    return called(lowering.use("add_up"), [bracketed("[", [items], "]"), python_name(_sizes(derivative.inputs[0]))])


def with_sizes(op: ir.Op) -> ir.Op:
    """The op, and saved with it the sizes of a tensor that stands for one to each element of a list."""
    if not op.foreach:
        return op
    names = {v.name for v in op.saved}
    alone = [i for i in op.differentiable_inputs if not is_tensor_list(i.type) and _sizes(i.name) not in names]
    sizes = [
        ir.SavedValue(_sizes(i.name), ListType(SYMINT), "input", ir.Method(ir.Input(i.name, i.type), "sym_sizes", ()))
        for i in alone
    ]
    return evolve(op, saved=(*op.saved, *sizes))


def _sizes(name: str) -> str:
    return f"{name}_sym_sizes"


def docstring(lines: Iterable[str], indent: int) -> list[str]:
    """The lines of a docstring, quotes included; text from a spec cannot end it."""
    pad = " " * indent
    texts = [line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') for line in lines]
    if len(texts) == 1:
        return [f'{pad}"""{texts[0]}"""']
    return [f'{pad}"""{texts[0]}', *[f"{pad}{t}".rstrip() for t in texts[1:]], f'{pad}"""']
