"""Ops with their derivatives, and the program that holds them; knows no target language."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from attrs import evolve, field, frozen

from gradspec.ir.expr import Binary, Cotangent, Expr, Method, Unary, children, walk
from gradspec.ir.function import Function, called_functions
from gradspec.ir.schema import Operator, OpName, Schema, no_operators
from gradspec.source import Span
from gradspec.types import Type

InputState: TypeAlias = Literal["differentiable", "non_differentiable", "unmentioned"]


@frozen
class InputInfo:
    """An input of an op and what the spec says of its gradient."""

    name: str
    type: Type
    state: InputState


@frozen
class OutputInfo:
    """An output of an op; `differentiable` where its gradient reaches the node."""

    name: str
    type: Type
    differentiable: bool


@frozen
class SavedValue:
    """What a node keeps. `value` is computed when the op runs, over its inputs or outputs.

    `overwritten`: the op writes to this input, so its value from before the write must be saved.
    """

    name: str
    type: Type
    origin: Literal["input", "output"]
    value: Expr
    overwritten: bool = False


@frozen
class Derivative:
    """A vjp: the gradients of `inputs` together. `formula` reads saved values; `written` is the same over inputs and outputs."""

    inputs: tuple[str, ...]
    formula: Expr
    written: Expr

    @property
    def unguarded(self) -> frozenset[int]:
        """Of several gradients that it reads, those that it computes with itself and does not ask whether they are there.

        The engine guards formulas over one gradient alone. A function that a gradient is handed to is trusted to look for itself.
        """
        parts = tuple(walk(self.written))
        if len({e.index for e in parts if isinstance(e, Cotangent)}) < 2:
            return frozenset()
        bare: set[int] = set()
        guarded: set[int] = set()
        for part in parts:
            operands: tuple[Expr, ...] = ()
            if isinstance(part, Method) and part.name == "defined" and isinstance(part.receiver, Cotangent):
                guarded.add(part.receiver.index)
            elif isinstance(part, Method):
                operands = (part.receiver,)
            elif isinstance(part, Binary | Unary):
                operands = children(part)
            bare |= {e.index for e in operands if isinstance(e, Cotangent)}
        return frozenset(bare - guarded)


@frozen
class Jvp:
    """Forward mode: the tangents of `outputs`, and which inputs' tangents and primals the formula reads."""

    outputs: tuple[str, ...]
    formula: Expr
    tangents: tuple[str, ...]
    primals: tuple[str, ...]
    auto: Literal["", "linear", "element_wise"] = ""


@frozen
class Op:
    """One record: a schema under one dispatch key.

    `node` is the class name of its backward node, None where it has none. `saved` lists inputs, then outputs, each by name.
    `differentiable_if`: a condition on the inputs under which the only output is differentiable.
    `forward`: what the op computes over its inputs, where the spec says so.
    `foreach`: formulas stand for one element of the lists, at `ElementIndex`.
    `span` is where the spec says so (of the view or reference op, for derived ones).
    """

    schema: Schema
    dispatch: str
    node: str | None
    traceable: bool
    inputs: tuple[InputInfo, ...]
    outputs: tuple[OutputInfo, ...]
    saved: tuple[SavedValue, ...]
    derivatives: tuple[Derivative, ...]
    jvps: tuple[Jvp, ...]
    named_gradients: tuple[str, ...] = ()
    uses_retain_variables: bool = False
    differentiable_if: Expr | None = None
    forward: Expr | None = None
    foreach: bool = False
    span: Span | None = field(default=None, eq=False, repr=False)

    @property
    def name(self) -> OpName:
        """The op's name with overload."""
        return self.schema.name

    @property
    def formulas(self) -> tuple[Expr, ...]:
        """Its formulas, backward ones first."""
        return (*[d.formula for d in self.derivatives], *[j.formula for j in self.jvps])

    @property
    def differentiable_inputs(self) -> tuple[InputInfo, ...]:
        """The inputs that get a gradient, in schema order."""
        return tuple(i for i in self.inputs if i.state == "differentiable")


@frozen
class Program:
    """Everything one run compiles, in the order of the specs; derived ops follow.

    `functions` are the functions of the specs, and those of the prelude that are called. `own_helpers`: what formulas call is
    among them, where it is no operator; else it is in PyTorch.
    `operators` gives the overloads of a base name among the operators that exist: what a call in a formula may mean.
    """

    ops: tuple[Op, ...]
    operators: Callable[[str], tuple[Operator, ...]] = field(default=no_operators, eq=False, repr=False)
    functions: tuple[Function, ...] = ()
    own_helpers: bool = False

    def select(self, name: str) -> Program:
        """The ops called `name`, with or without overload."""
        return evolve(self, ops=tuple(o for o in self.ops if name in (str(o.name), o.name.base)))

    def of(self, ops: Iterable[Op]) -> Program:
        """Some of the ops, and the functions that they call."""
        kept = tuple(ops)
        formulas = [formula for op in kept for formula in op.formulas]
        return evolve(self, ops=kept, functions=called_functions(self.functions, formulas))

    @property
    def nodes(self) -> tuple[Op, ...]:
        """The ops that have a backward node."""
        return tuple(o for o in self.ops if o.node is not None)


def differentiable_output_names(outputs: tuple[OutputInfo, ...]) -> tuple[str, ...]:
    """The names of the outputs whose gradients the node gets, in order."""
    return tuple(o.name for o in outputs if o.differentiable)
