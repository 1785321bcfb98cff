"""What the templates need to know of a node, computed from the IR; knows no template and no file."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from gradspec.diagnostics import Diagnostics
from gradspec.emit.cxx import call, comment
from gradspec.emit.identifiers import is_cxx_reserved
from gradspec.ir import Call, Cotangent, Cotangents, Derivative, Expr, InputMask, Op, Saved, walk
from gradspec.types import OPTIONAL_TENSOR, TENSOR, is_tensor_list
from gradspec_cpp.expr import emit_expr_lines
from gradspec_cpp.types import Spelling, spell

# What emitted functions call by an unqualified name of their own or of the runtime headers: no parameter may hide one.
_INTERNAL = frozenset(
    """
    NodeOf Scalar SavedVariable Tensor TypeAndSize Vjp Visitor releasable saved_input saved_inputs saved_optional_inputs
    saved_optional_outputs saved_output saved_outputs vjp visit visitor zeros_for
    """.split()
)

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
class Gradient:
    """One formula. `asks` is the question that guards it, `into` the inputs that it gives gradients to, as C++ arguments."""

    asks: str
    into: str
    setter: str
    formula: str
    uses_mask: bool


@frozen
class NodeModel:
    """One node: every field is C++ text, or a list of such."""

    name: str
    base: str
    doc: str
    retains: bool
    members: tuple[str, ...]
    signature: str
    visit: str
    aliases: tuple[str, ...]
    gradients: tuple[Gradient, ...]


def node_model(op: Op, diagnostics: Diagnostics) -> NodeModel:
    """The model of an op's node; what C++ cannot express is reported."""
    assert op.node is not None
    parts = [part for derivative in op.derivatives for part in walk(derivative.formula)]
    read = {part.name for part in parts if isinstance(part, Saved)}
    members, parameters, visited = [], ["Vjp& vjp"], []
    for value in op.saved:
        spelling = spell(value.type, value.origin == "output")
        if spelling is None:
            message = f"a C++ node cannot keep `{value.name}` of type {value.type}"
            diagnostics.add("GS0705", f"{message} (of `{op.name}`)", op.span)
            continue
        members += _member_lines(value.name, spelling)
        parameters.append(spelling.parameter + (value.name if value.name in read else f"/*{value.name}*/"))
        visited.append(_visit(value.name, spelling))
    inputs = op.differentiable_inputs
    sizes = [f"{i.name}_size_" if is_tensor_list(i.type) else "1" for i in inputs]
    members += [f"size_t {size};" for size in sizes if size != "1"]
    if op.uses_retain_variables:
        parameters.append("bool retain_variables")
        visited.append("retain_variables")
    places = {info.name: i for i, info in enumerate(inputs)}
    guarded = {info.name for info in inputs if info.type in (TENSOR, OPTIONAL_TENSOR)}
    model = NodeModel(
        name=op.node,
        base="TraceableFunction" if op.traceable else "Node",
        doc=comment(f"{op.schema}" if op.dispatch == "Default" else f"{op.schema}, for {op.dispatch}"),
        retains=op.uses_retain_variables,
        members=tuple(members),
        signature=call(f"static void {op.node}_gradients(", tuple(parameters), ") {", 0),
        visit=call("visitor(", (f"{op.node}_gradients", f"{{{', '.join(sizes)}}}", *visited), ");", 2),
        aliases=_aliases(parts),
        gradients=tuple([_gradient(d, op.foreach, places, guarded) for d in op.derivatives]),
    )
    called = {part.function for part in parts if isinstance(part, Call)}
    _check_names(op, model, called, diagnostics)
    return model


def _member_lines(name: str, spelling: Spelling) -> list[str]:
    lines = [f"{spelling.member} {name}{spelling.suffix}{spelling.initial};"]
    if spelling.released:
        lines.append(f"bool {name}_released_ = false;")
    return lines


def _visit(name: str, spelling: Spelling) -> str:
    member = name + spelling.suffix
    if spelling.released:
        return f"{spelling.visit}({member}, {name}_released_)"
    return f"{spelling.visit}({member})" if spelling.visit else member


def _aliases(parts: Iterable[Expr]) -> tuple[str, ...]:
    """The declarations that give gradients the names by which formulas read them: `grad`, `grad_NAME`, or `grads` for all."""
    found: dict[str, str] = {}
    for part in parts:
        match part:
            case Cotangent(index, name) if name.isidentifier():
                found[name] = f"const auto& {name} = vjp.grads[{index}];"
            case Cotangent() | Cotangents():
                found["grads"] = "const auto& grads = vjp.grads;"
            case _:
                pass
    return tuple([found[name] for name in sorted(found)])


def _gradient(derivative: Derivative, foreach: bool, places: dict[str, int], guarded: set[str]) -> Gradient:
    formula, names = derivative.formula, derivative.inputs
    labels = [f"/*{name}*/ {places[name]}" for name in names]
    into = str(places[names[0]])
    if len(names) > 1:
        into = f"{{{', '.join([str(places[name]) for name in names])}}}"
        asks = f"needs({{{', '.join(labels)}}})"
    elif foreach or names[0] not in guarded or (isinstance(formula, Call) and formula.function.startswith("not_implemented")):
        asks = f"needs({labels[0]})"
    else:
        # With no gradient defined, the formula of one tensor gives an undefined one. Unimplemented formulas say so all the same.
        asks = f"flows_to({labels[0]})"
    if foreach and len(names) == 1:
        text = emit_expr_lines(formula, len(f"    vjp.set_each({into}, [&](size_t i) {{ return "), 8, 5)
        return Gradient(asks, into, "set_each", f"[&](size_t i) {{ return {text}; }}", False)
    mask = len(names) > 1 and any(isinstance(part, InputMask) for part in walk(formula))
    return Gradient(asks, into, "set", emit_expr_lines(formula, len(f"    vjp.set({into}, "), 8, 2), mask)


def _check_names(op: Op, model: NodeModel, called: set[str], diagnostics: Diagnostics) -> None:
    """Report what C++ would refuse, or silently take for something else."""
    members = [line.partition(" = ")[0].rstrip(";").rpartition(" ")[2] for line in model.members]
    if model.retains:
        members.append("retain_variables")
    if len(set(members)) < len(members):
        for name in sorted({n for n in members if members.count(n) > 1}):
            message = f"two members of `{model.name}` would be called `{name}` in C++ (of `{op.name}`)"
            diagnostics.add("GS0701", message, op.span, help="rename an argument")
    reasons = [
        (f"saves a value called `{value.name}`, {why}")
        for value in op.saved
        if (why := _why_reserved(value.name, op.foreach, called))
    ]
    reasons += [f"saves a value as `{m}`, which would hide a member of torch::autograd::Node" for m in members if m in _INHERITED]
    for reason in reasons:
        diagnostics.add("GS0703", f"`{op.name}` {reason}", op.span, help="rename the argument")


def _why_reserved(name: str, foreach: bool, called: set[str]) -> str:
    if is_cxx_reserved(name):
        return "which C++ reserves"
    if name in _INTERNAL or (foreach and name == "i"):
        return "which the emitted code uses itself"
    return "which is also a function that the formula calls" if name in called else ""
