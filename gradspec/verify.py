"""Invariants of the IR: a violation is a bug of gradspec, never of a spec."""

from __future__ import annotations

from collections.abc import Iterator

from gradspec import ir
from gradspec.printer import print_op


class VerifyError(AssertionError):
    """The IR is not what backends were promised; the message shows the op with the fault marked."""


def verify_program(program: ir.Program) -> None:
    """Check every op.

    Raises:
        VerifyError: a pass broke a promise of the IR.
    """
    owners: dict[str, ir.Op] = {}
    for op in program.ops:
        faults = list(_faults(op))
        if op.node is not None and owners.setdefault(op.node, op) is not op:
            faults.append(f"its class name {op.node} is also that of {owners[op.node].name}")
        if faults:
            marks = "\n".join(f"  ^ {fault}" for fault in faults)
            raise VerifyError(f"the IR of {op.name} ({op.dispatch}) is broken\n{print_op(op)}{marks}")


def _faults(op: ir.Op) -> Iterator[str]:
    inputs = {i.name for i in op.inputs}
    outputs = {o.name for o in op.outputs}
    saved = {v.name: v for v in op.saved}
    gradients = len(ir.differentiable_output_names(op.outputs))
    if (op.node is None) != (not op.derivatives):
        yield "it has a node without formulas, or formulas without a node"
    if len(saved) != len(op.saved):
        yield "two saved values share a name"
    if list(op.saved) != sorted(op.saved, key=lambda v: (v.origin, v.name)):
        yield "saved values are out of order"
    owned: set[str] = set()
    for derivative in op.derivatives:
        if not inputs.issuperset(derivative.inputs):
            yield f"{derivative.inputs} are no inputs"
        if owned & set(derivative.inputs):
            yield f"{derivative.inputs} have two formulas"
        owned |= set(derivative.inputs)
        for node in ir.walk(derivative.formula):
            match node:
                case ir.Input(name) | ir.Output(name):
                    yield f"the vjp of {derivative.inputs} reads {name} itself, not a saved value"
                case ir.Saved(name, type_):
                    if name not in saved:
                        yield f"{name} is read and not saved"
                    elif saved[name].type != type_:
                        yield f"{name} is read as {type_} and saved as {saved[name].type}"
                case ir.Cotangent(index, name):
                    if index >= max(gradients, 1):
                        yield f"{name} is read, and there are {gradients} gradients"
                case ir.Tangent(name) | ir.Primal(name):
                    yield f"a vjp reads the tangent or primal of {name}"
                case ir.InputMask() if len(derivative.inputs) == 1:
                    yield "a mask in the formula of one input"
                case ir.ElementIndex() if not op.foreach:
                    yield "an element index outside of a foreach op"
    for formula in (*(d.written for d in op.derivatives), *(j.formula for j in op.jvps), *(v.value for v in op.saved)):
        for node in ir.walk(formula):
            if isinstance(node, ir.Input) and node.name not in inputs or isinstance(node, ir.Output) and node.name not in outputs:
                yield f"{node.name} is read and is neither input nor output"
    for jvp in op.jvps:
        if not outputs.issuperset(jvp.outputs):
            yield f"{jvp.outputs} are no outputs"
        for node in ir.walk(jvp.formula):
            match node:
                case ir.Saved(name):
                    yield f"a jvp reads the saved value {name}"
                case ir.Tangent(name) | ir.Primal(name) if name not in inputs:
                    yield f"{name} is no input"
