"""What the templates need to know of a node's class; knows no template, no file and no spelling of a type but Python's."""

from __future__ import annotations

from attrs import frozen

from gradspec.diagnostics import Diagnostics
from gradspec.emit.members import is_kept_tensor, member_name, release_flag
from gradspec.ir import Call, Method, Op, SavedValue, String, walk
from gradspec.types import TENSOR, is_tensor_list
from gradspec_bindings.texts import Formula, formulas, node_doc, raw_doc, unkept_doc, value_doc
from gradspec_bindings.types import python_type


@frozen
class Getter:
    """One kept value. `member` and `released` are the data members to read, `raw` the Python type of its handle.

    A getter without a member is for what is not kept: it says so.
    """

    name: str
    member: str
    released: str
    type: str
    raw: str
    doc: str

    @property
    def raw_doc(self) -> str:
        """What the getter of the handle says of itself."""
        return raw_doc(self.name) if self.member else self.doc


@frozen
class NodeClass:
    """One node's class in Python."""

    name: str
    schema: str
    doc: str
    getters: tuple[Getter, ...]


def node_class(op: Op, diagnostics: Diagnostics) -> NodeClass:
    """The class of an op's node; a value of which Python could not be told is reported."""
    assert op.node is not None
    gradients = formulas(op)
    getters = [getter for value in op.saved if (getter := _getter(op, value, gradients, diagnostics)) is not None]
    getters += [Getter(name, "", "", "Never", "Never", unkept_doc(name)) for name in unkept(op)]
    return NodeClass(op.node, str(op.schema), node_doc(op, gradients), tuple(getters))


def _getter(op: Op, value: SavedValue, gradients: tuple[Formula, ...], diagnostics: Diagnostics) -> Getter | None:
    kept = is_kept_tensor(value.type, value.origin == "output")
    type_ = python_type(TENSOR if kept and value.origin == "output" else value.type)
    if type_ is None:
        message = f"there is no getter for `{value.name}` of type {value.type} (of `{op.name}`)"
        diagnostics.add("GS0705", message, op.span)
        return None
    raw = "SavedTensor" if kept else "tuple[SavedTensorOfList, ...]" if is_tensor_list(value.type) else ""
    return Getter(value.name, member_name(value), release_flag(value), type_, raw, value_doc(op, value, gradients))


def unkept(op: Op) -> tuple[str, ...]:
    """The inputs that torch's own generator keeps though no formula reads them, since it finds their names in a formula's text.

    It takes a word for a use also where it is the name of a method or of a function in a namespace, or stands in a string. Code
    that reads such a value from a node of torch's own finds a getter here that says why there is nothing to read.
    """
    words: set[str] = set()
    for derivative in op.derivatives:
        for part in walk(derivative.formula):
            match part:
                case Call(function):
                    words.update(function.split("::"))
                case Method(name=name):
                    words.add(name)
                case String(value):
                    words.update("".join([c if c.isalnum() or c == "_" else " " for c in value]).split())
                case _:
                    pass
    kept = {value.name for value in op.saved}
    return tuple([i.name for i in op.inputs if i.name in words and i.name not in kept])
