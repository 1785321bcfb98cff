"""The mathematics of our own specs: each formula against torch's derivative of what the op computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from formula_eval import Environment, as_callables, evaluate
from spec_forwards import FORWARDS
from torch import Tensor
from torch.autograd import forward_ad

from gradspec import ir
from gradspec.parse.concrete import Declaration, parse_layout
from gradspec.pipeline import compile_files

SPECS = sorted((Path(__file__).parent.parent / "specs").glob("*.grad"))
PROGRAM = compile_files(SPECS).program
OPS = [op for op in PROGRAM.ops if op.dispatch == "Default"]
FUNCTIONS = as_callables(PROGRAM.functions)
EXTERNS = {
    name
    for path in SPECS
    for item in parse_layout(path.read_text()).items
    if isinstance(item, Declaration) and item.keyword == "extern"
    for name in item.names
}


def is_known(formula: ir.Expr) -> bool:
    """Whether a formula needs no function that only its author has, and none that says that there is no derivative."""
    called = {e.function for e in ir.walk(formula) if isinstance(e, ir.Call)}
    return not called & {*EXTERNS, "not_implemented"}


BACKWARD = [op for op in OPS if any(is_known(d.written) for d in op.derivatives)]
FORWARD = [op for op in OPS if any(is_known(j.formula) for j in op.jvps)]


def calls(op: ir.Op) -> Iterator[dict[str, Any]]:
    """Arguments by name, for each sample of each type."""
    forward = FORWARDS[str(op.name)]
    for dtype in forward.dtypes:
        torch.manual_seed(17)
        for args in forward.samples(dtype):
            yield dict(zip([i.name for i in op.inputs], args, strict=True))


def computed(op: ir.Op, args: Iterable[Any]) -> dict[str, Any]:
    """The op's outputs by name."""
    values = FORWARDS[str(op.name)].function(*args)
    return dict(zip([o.name for o in op.outputs], values if len(op.outputs) > 1 else (values,), strict=True))


def tensors_of(value: Any) -> list[Tensor]:
    """The tensors in a value, in order."""
    if isinstance(value, Tensor):
        return [value]
    return [t for v in value for t in tensors_of(v)] if isinstance(value, list | tuple) else []


def like(value: Any, tensors: Iterator[Tensor]) -> Any:
    """The value with its tensors replaced."""
    if isinstance(value, Tensor):
        return next(tensors)
    return type(value)(like(v, tensors) for v in value) if isinstance(value, list | tuple) else value


def assert_gradient(found: Tensor | None, expected: Tensor | None, leaf: Tensor) -> None:
    """Compare as the engine takes a gradient: summed over dimensions that were broadcast, and real for a real input."""
    if found is None:
        assert expected is None or not expected.any()
        return
    reduced = torch.real(found) if found.is_complex() and not leaf.is_complex() else found
    reduced = reduced.broadcast_to(torch.broadcast_shapes(reduced.shape, leaf.shape)).sum_to_size(leaf.shape)
    torch.testing.assert_close(reduced, torch.zeros_like(leaf) if expected is None else expected)


@pytest.mark.parametrize("op", BACKWARD, ids=lambda op: str(op.name))
def test_backward(op: ir.Op) -> None:
    for inputs in calls(op):
        moving = [i.name for i in op.differentiable_inputs]
        leaves = {n: [t.detach().requires_grad_() for t in tensors_of(inputs[n])] for n in moving}
        tracked = {n: like(v, iter(leaves[n])) if n in leaves else v for n, v in inputs.items()}
        outputs = computed(op, tracked.values())
        differentiable = [t for o in op.outputs if o.differentiable for t in tensors_of(outputs[o.name])]
        gradients = tuple([torch.randn_like(t) for t in differentiable])
        every_leaf = [t for n in moving for t in leaves[n]]
        wanted = iter(torch.autograd.grad(differentiable, every_leaf, gradients, allow_unused=True))
        expected = {n: [next(wanted) for _ in leaves[n]] for n in moving}
        plain = {n: like(v, iter([t.detach() for t in tensors_of(v)])) for n, v in outputs.items()}
        for derivative in op.derivatives:
            if not is_known(derivative.written):
                continue
            for name, found in gradients_of(op, derivative, inputs, plain, gradients).items():
                for one, other, leaf in zip(found, expected[name], leaves[name], strict=True):
                    assert_gradient(one, other, leaf)


def gradients_of(
    op: ir.Op, derivative: ir.Derivative, inputs: dict[str, Any], outputs: dict[str, Any], gradients: tuple[Tensor, ...]
) -> dict[str, list[Tensor | None]]:
    """For each input of a formula the gradients of the tensors in it."""
    elements = range(len(gradients)) if op.foreach else range(1)
    results = []
    for element in elements:
        env = Environment(inputs, outputs, gradients, functions=FUNCTIONS, element=element, masked=len(derivative.inputs))
        results.append(evaluate(derivative.written, env))
    if op.foreach:
        return {derivative.inputs[0]: results}
    values = results[0] if len(derivative.inputs) > 1 else [results[0]]
    pairs = zip(derivative.inputs, values, strict=True)
    return {n: v if isinstance(v, list) else [] if inputs[n] is None else [v] for n, v in pairs}


# torch scripts its own decompositions at the first dual tensor, and says of that that it is outdated.
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("op", FORWARD, ids=lambda op: str(op.name))
def test_forward(op: ir.Op) -> None:
    for inputs in calls(op):
        moving = [i.name for i in op.differentiable_inputs if inputs[i.name] is not None]
        names = [n for j in op.jvps for n in j.outputs]
        directions = {n: [torch.randn_like(t) for t in tensors_of(inputs[n])] for n in moving}
        expected = directional(op, inputs, directions, names)
        tangents = {n: like(inputs[n], iter(directions[n])) for n in moving}
        outputs = computed(op, inputs.values())
        found = [t for j in op.jvps if is_known(j.formula) for t in tangents_of(op, j, inputs, outputs, tangents)]
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other)


def directional(op: ir.Op, inputs: dict[str, Any], directions: dict[str, list[Tensor]], names: list[str]) -> list[Tensor]:
    """What torch's forward mode makes of these directions: the tangents of the outputs called `names`."""
    with forward_ad.dual_level():
        duals = {
            n: iter([forward_ad.make_dual(t, d) for t, d in zip(tensors_of(inputs[n]), ways, strict=True)])
            for n, ways in directions.items()
        }
        outputs = computed(op, [like(v, duals[n]) if n in duals else v for n, v in inputs.items()])
        pairs = [forward_ad.unpack_dual(t) for n in names for t in tensors_of(outputs[n])]
        return [torch.zeros_like(p.primal) if p.tangent is None else p.tangent for p in pairs]


def tangents_of(
    op: ir.Op, jvp: ir.Jvp, inputs: dict[str, Any], outputs: dict[str, Any], tangents: dict[str, Any]
) -> list[Tensor]:
    """The tangents that a forward formula gives, of all its outputs."""
    own = f"{op.name.library}::{op.name.base}"
    functions = {own: FORWARDS[str(op.name)].function}
    if not op.foreach:
        # An in-place op writes its tangent over that of its input.
        copies = {n: like(v, iter([t.clone() for t in tensors_of(v)])) for n, v in tangents.items()}
        return tensors_of(evaluate(jvp.formula, Environment(inputs, outputs, (), copies, functions | FUNCTIONS)))
    count = len(outputs[jvp.outputs[0]])
    of_element = [{n: v[i] for n, v in tangents.items()} for i in range(count)]
    return [
        evaluate(jvp.formula, Environment(inputs, outputs, (), t, functions | FUNCTIONS, i)) for i, t in enumerate(of_element)
    ]


def test_a_wrong_formula_is_found() -> None:
    (op,) = [op for op in OPS if op.name.base == "log_cosh"]
    (inputs, *_) = calls(op)
    wrong = ir.Derivative(("self",), ir.Cotangent(0, "grad"), ir.Cotangent(0, "grad"))
    gradient = torch.ones_like(inputs["self"])
    (found,) = gradients_of(op, wrong, inputs, {}, (gradient,))["self"]
    with pytest.raises(AssertionError):
        assert_gradient(found, gradient * inputs["self"].tanh(), inputs["self"])
