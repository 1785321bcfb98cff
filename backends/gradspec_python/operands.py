"""How an op's arguments pass through `torch.autograd.Function.apply`; knows no formula.

`apply` sees tensors only where they stand by themselves: lists of tensors are handed to it element by element, behind everything
else, and with several lists their lengths before them.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from gradspec import ir
from gradspec.types import TENSOR, OptionalType, Type, is_tensor_list
from gradspec_python.expr import CannotLower, Lowering
from gradspec_python.names import python_name

# Attributes that a torch.autograd.Function's context has of its own.
_CONTEXT = frozenset(
    "name metadata saved_tensors saved_variables saved_for_forward to_save needs_input_grad materialize_grads next_functions"
    " non_differentiable dirty_tensors lengths forward_lengths argument_lengths".split()
)


def attribute(name: str) -> str:
    """Where the context keeps a value that is no tensor."""
    return f"ctx.{name}_" if name in _CONTEXT or name.startswith("_") else f"ctx.{python_name(name)}"


@frozen
class Operands:
    """The arguments of an op, lists of tensors apart.

    `original` is one more of the plain ones: a copy of the argument that the op overwrites, where its old value is read. It is
    made outside, as what is made inside of a function is a constant to higher derivatives.
    """

    op: ir.Op
    plain: tuple[ir.Argument, ...]
    lists: tuple[ir.Argument, ...]
    original: ir.Argument | None

    @property
    def several(self) -> bool:
        """Whether the lengths of lists must be handed along."""
        return len(self.lists) > 1

    @property
    def offset(self) -> int:
        """Where the elements of lists begin among what `apply` takes."""
        return len(self.plain) + self.several

    @property
    def parameters(self) -> list[str]:
        """The parameters of forward."""
        names = [python_name(a.name) for a in self.plain]
        if self.several:
            return [*names, "lengths", "*tensors"]
        return [*names, *[f"*{python_name(a.name)}" for a in self.lists]]

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the results."""
        return self.op.schema.output_names

    def place(self, name: str) -> int:
        """The position of a plain argument."""
        return [a.name for a in self.plain].index(name)

    def is_plain(self, name: str) -> bool:
        """Whether an argument is no list of tensors."""
        return any(a.name == name for a in self.plain)

    def type_of(self, name: str) -> Type:
        """The type of an input or an output."""
        types = {a.name: a.type for a in self.plain} | {i.name: i.type for i in self.op.inputs}
        types |= {o.name: o.type for o in self.op.outputs}
        return types[name]

    def is_list(self, name: str) -> bool:
        """Whether an input or an output is a list of tensors."""
        return is_tensor_list(self.type_of(name))

    def regrouped(self, names: Sequence[str], source: str, lengths: str, lowering: Lowering) -> list[str]:
        """The statement that makes lists again, where there are several."""
        if not self.several:
            return []
        return [f"{', '.join(names)} = {lowering.use('regroup')}({source}, {lengths})"]


def operands_of(op: ir.Op) -> Operands:
    """The operands of an op.

    Raises:
        CannotLower: its arguments or results cannot pass through an autograd function.
    """
    arguments = op.schema.arguments + op.schema.out
    lists = tuple(a for a in arguments if is_tensor_list(a.type))
    if any(isinstance(a.type, OptionalType) for a in lists):
        raise CannotLower("form for an optional list of tensors")
    listed = [i for i, o in enumerate(op.outputs) if is_tensor_list(o.type)]
    if not op.outputs or len(listed) > 1 or (listed and listed[0] != len(op.outputs) - 1):
        raise CannotLower("form for results other than tensors followed by at most one list")
    plain = tuple(a for a in arguments if not is_tensor_list(a.type))
    if not _reads_original(op):
        return Operands(op, plain, lists, None)
    original = ir.Argument(original_name(plain[0].name), TENSOR)
    return Operands(op, (*plain, original), lists, original)


def original_name(name: str) -> str:
    """What an argument that is overwritten was before."""
    return f"original_{name}"


def _reads_original(op: ir.Op) -> bool:
    return any(v.overwritten for v in op.saved) or any(
        isinstance(e, ir.Primal) and e.original for j in op.jvps for e in ir.walk(j.formula)
    )


def unpack_saved(kept: Sequence[tuple[str, bool]], source: str, lengths: str, lowering: Lowering) -> list[str]:
    """Statements that name what `source` holds, (name, whether it is a list), lists last: `lengths` tells several apart."""
    if not kept:
        return []
    lists = [n for n, listed in kept if listed]
    if len(lists) > 1:
        plain = [n for n, listed in kept if not listed]
        head = [f"{', '.join([*plain, '*tensors'])} = {source}"] if plain else []
        return [*head, f"{', '.join(lists)} = {lowering.use('regroup')}({'tensors' if plain else source}, {lengths})"]
    items = [f"*{n}" if listed else n for n, listed in kept]
    return [f"{f'({items[0]},)' if len(items) == 1 else ', '.join(items)} = {source}"]
