"""What the templates need to know of a node, computed from the IR; knows no shape, no template and no file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import frozen

from gradspec.diagnostics import Diagnostics
from gradspec.emit.cxx import comment
from gradspec.emit.identifiers import is_cxx_reserved
from gradspec.emit.members import member_name, release_flag
from gradspec.ir import Call, Cotangent, Cotangents, Derivative, Expr, InputMask, Op, Saved, SavedValue, walk
from gradspec.types import OPTIONAL_TENSOR, TENSOR, is_tensor_list
from gradspec_cpp.types import CURRENT, Spelling, Words, spell

# What the emitted functions of all shapes call by an unqualified name: no parameter may hide one.
_INTERNAL = frozenset("Scalar SavedVariable Tensor TypeAndSize zeros_for".split())

# The members of torch::autograd::Node (torch/csrc/autograd/node.h): one of the same name would hide them from who holds the node.
_INHERITED = frozenset(
    """
    add_input_metadata add_next_edge add_post_hook add_pre_hook add_retains_grad_hook add_tensor_pre_hook anomaly_metadata_
    apply apply_with_saved assign_parent clear_input_metadata compiled_args decref_pyobject del_post_hook device
    forward_op_name getptr has_parent_ incref_pyobject input_metadata input_metadata_ is_aot_backward is_traceable metadata
    mutable_input_metadata mutex_ name next_edge next_edges next_edges_ num_inputs num_outputs passes_state_transparently
    pop_retains_grad_hook post_hooks post_hooks_ pre_hooks pre_hooks_ pyobj_slot pyobj_slot_ release_resources
    release_variables retains_grad_hooks retains_grad_hooks_ sequence_nr sequence_nr_ set_next_edge set_next_edges
    set_sequence_nr should_compute_output stream task_should_compute_output tensor_post_acc_grad_hooks tensor_pre_hooks
    tensor_pre_hooks_ thread_id thread_id_ topological_nr topological_nr_ traced_apply try_incref_pyobject undefined_input
    update_topological_nr visit will_release_variables
    """.split()
)


@frozen
class Member:
    """A saved value, how C++ keeps it, and whether a formula reads it."""

    value: SavedValue
    spelling: Spelling
    read: bool

    @property
    def name(self) -> str:
        """The name of the value, which formulas use."""
        return self.value.name

    @property
    def variable(self) -> str:
        """The name of the data member."""
        return member_name(self.value)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its data members: one, or with the flag that says whether it was released two."""
        flag = release_flag(self.value)
        return (self.variable, flag) if flag else (self.variable,)

    @property
    def parameter(self) -> str:
        """How a function receives the value."""
        return self.spelling.parameter + (self.name if self.read else f"/*{self.name}*/")

    @property
    def shown(self) -> str:
        """How a visitor is told of the member."""
        return f"{self.spelling.visit}({', '.join(self.names)})" if self.spelling.visit else self.variable

    @property
    def declarations(self) -> tuple[str, ...]:
        """The data members, as C++ declares them."""
        own = f"{self.spelling.member} {self.variable}{self.spelling.initial};"
        return (own, *[f"bool {flag} = false;" for flag in self.names[1:]])


@frozen
class Place:
    """A differentiable input: its name, its place among those, and how many tensors it is, as a C++ expression."""

    name: str
    index: int
    size: str

    @property
    def is_list(self) -> bool:
        """Whether it is a list of tensors, the length of which is a member."""
        return self.size != "1"


@frozen
class Gradient:
    """One formula, and the inputs that it gives gradients to.

    `guarded`: the gradient stays undefined unless some gradient comes in. `each`: the formula stands for element `i` of a list.
    `masked`: the formula reads `grad_input_mask`.
    """

    inputs: tuple[Place, ...]
    formula: Expr
    guarded: bool
    each: bool
    masked: bool


@frozen
class NodeModel:
    """One node. `aliases`: the names by which formulas read the gradients that come in, each with its index, None for all."""

    name: str
    base: str
    doc: str
    retains: bool
    saved: tuple[Member, ...]
    inputs: tuple[Place, ...]
    aliases: tuple[tuple[str, int | None], ...]
    gradients: tuple[Gradient, ...]

    @property
    def members(self) -> tuple[str, ...]:
        """The declarations of all data members but `retain_variables`."""
        return tuple([line for m in self.saved for line in m.declarations] + [f"size_t {length};" for length in self.lengths])

    @property
    def released(self) -> tuple[str, ...]:
        """The members that the node lets go of when its buffers are freed, with the flags that say so."""
        return tuple([name for member in self.saved if member.spelling.visit for name in member.names])

    @property
    def parameters(self) -> tuple[str, ...]:
        """How a function receives all that is saved."""
        own = [member.parameter for member in self.saved]
        return tuple([*own, "bool retain_variables"] if self.retains else own)

    @property
    def lengths(self) -> tuple[str, ...]:
        """The members that are the lengths of lists."""
        return tuple([place.size for place in self.inputs if place.is_list])

    @property
    def length_parameters(self) -> tuple[str, ...]:
        """How a function receives those."""
        return tuple([f"size_t {length}" for length in self.lengths])

    @property
    def sizes(self) -> str:
        """How many tensors each differentiable input is, as a brace list."""
        return f"{{{', '.join([place.size for place in self.inputs])}}}"

    @property
    def shown(self) -> tuple[str, ...]:
        """How a visitor is told of the members."""
        own = [member.shown for member in self.saved]
        return tuple([*own, "retain_variables"] if self.retains else own)


@frozen
class Speech:
    """What a shape says differently, as far as the model of a node depends on it.

    `words`: names of types. `translate`: a formula as that release of torch has it. `internal`: names that its emitted functions
    use. `local`: the names that they declare for an input. `within_node`: whether formulas stand inside of the class, where its
    members are found before functions.
    """

    words: Words = CURRENT
    translate: Callable[[Expr], Expr] = lambda expr: expr
    internal: frozenset[str] = frozenset()
    local: str = ""
    within_node: bool = False


def node_model(op: Op, speech: Speech, diagnostics: Diagnostics) -> NodeModel:
    """The model of an op's node; what C++ cannot express is reported."""
    assert op.node is not None
    parts = [part for derivative in op.derivatives for part in walk(derivative.formula)]
    read = {part.name for part in parts if isinstance(part, Saved)}
    members = []
    for value in op.saved:
        spelling = spell(value.type, value.origin == "output", speech.words)
        if spelling is None:
            message = f"a C++ node cannot keep `{value.name}` of type {value.type}"
            diagnostics.add("GS0705", f"{message} (of `{op.name}`)", op.span)
            continue
        members.append(Member(value, spelling, value.name in read))
    places = {
        info.name: Place(info.name, i, f"{info.name}_size_" if is_tensor_list(info.type) else "1")
        for i, info in enumerate(op.differentiable_inputs)
    }
    # With no gradient defined, the formula of one tensor gives an undefined one.
    guarded = {info.name for info in op.differentiable_inputs if info.type in (TENSOR, OPTIONAL_TENSOR)}
    model = NodeModel(
        name=op.node,
        base="TraceableFunction" if op.traceable else "Node",
        doc=comment(f"{op.schema}" if op.dispatch == "Default" else f"{op.schema}, for {op.dispatch}"),
        retains=op.uses_retain_variables,
        saved=tuple(members),
        inputs=tuple(places.values()),
        aliases=_aliases(parts),
        gradients=tuple([_gradient(d, op.foreach, places, guarded, speech) for d in op.derivatives]),
    )
    called = {part.function for part in parts if isinstance(part, Call)}
    _check_names(op, model, called, speech, diagnostics)
    return model


def _aliases(parts: Iterable[Expr]) -> tuple[tuple[str, int | None], ...]:
    """The names by which formulas read gradients: `grad`, `grad_NAME`, or `grads` for all."""
    found: dict[str, int | None] = {}
    for part in parts:
        match part:
            case Cotangent(index, name) if part.form != "grads":
                found[name] = index
            case Cotangent() | Cotangents():
                found["grads"] = None
            case _:
                pass
    return tuple([(name, found[name]) for name in sorted(found)])


def _gradient(derivative: Derivative, foreach: bool, places: dict[str, Place], guarded: set[str], speech: Speech) -> Gradient:
    formula, names = derivative.formula, derivative.inputs
    single = len(names) == 1
    # Unimplemented formulas say so whatever comes in.
    unimplemented = isinstance(formula, Call) and formula.function.startswith("not_implemented")
    return Gradient(
        inputs=tuple([places[name] for name in names]),
        formula=speech.translate(formula),
        guarded=single and not foreach and names[0] in guarded and not unimplemented,
        each=single and foreach,
        masked=not single and any(isinstance(part, InputMask) for part in walk(formula)),
    )


def _check_names(op: Op, model: NodeModel, called: set[str], speech: Speech, diagnostics: Diagnostics) -> None:
    """Report what C++ would refuse, or silently take for something else."""
    members = [line.partition(" = ")[0].rstrip(";").rpartition(" ")[2] for line in model.members]
    if model.retains:
        members.append("retain_variables")
    if len(set(members)) < len(members):
        for name in sorted({n for n in members if members.count(n) > 1}):
            message = f"two members of `{model.name}` would be called `{name}` in C++ (of `{op.name}`)"
            diagnostics.add("GS0701", message, op.span, help="rename an argument")
    used = _INTERNAL | speech.internal | ({f"{p.name}{speech.local}" for p in model.inputs} if speech.local else set())
    if op.foreach:
        used |= {"i"}
    reasons = [
        f"saves a value called `{value.name}`, {why}" for value in op.saved if (why := _why_reserved(value.name, used, called))
    ]
    reasons += [f"saves a value as `{m}`, which would hide a member of torch::autograd::Node" for m in members if m in _INHERITED]
    for reason in reasons:
        diagnostics.add("GS0703", f"`{op.name}` {reason}", op.span, help="rename the argument")
    for name in sorted(called & _INHERITED) if speech.within_node else ():
        message = f"`{op.name}` calls `{name}`, which within its node is a member of torch::autograd::Node"
        diagnostics.add("GS0703", message, op.span, help="write its namespace, such as `at::`")


def _why_reserved(name: str, used: frozenset[str], called: set[str]) -> str:
    if is_cxx_reserved(name):
        return "which C++ reserves"
    if name in used:
        return "which the emitted code uses itself"
    return "which is also a function that the formula calls" if name in called else ""
