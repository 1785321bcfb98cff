"""Rules of meaning that span a formula or an entry: gradients, arity, what is saved; resolve asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gradspec import ir
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics, count
from gradspec.functions import METADATA_METHODS, TORCH_HELPERS
from gradspec.parse.formula import expr_children
from gradspec.saved import property_of
from gradspec.source import Span
from gradspec.types import OPTIONAL_TENSOR, TENSOR, Type, is_tensor_like, is_tensor_list

if TYPE_CHECKING:
    from gradspec.scope import Scope


def check_derivatives(
    op: ir.Op, rules: Sequence[s.Rule], scopes: Sequence[Scope], candidates: Sequence[str], diagnostics: Diagnostics
) -> None:
    """Check how an entry's backward formulas use gradients, and how many each gives."""
    wrong = Diagnostics()
    _check_spelling(op, scopes, candidates, wrong)
    diagnostics.extend(wrong.all)
    for rule, derivative, scope in zip(rules, op.derivatives, scopes, strict=True):
        _check_arity(op, rule, derivative, diagnostics)
        if not wrong.all and not diagnostics.has_errors:
            _check_undefined(scope, derivative, diagnostics)
            _check_dependence(rule, derivative, diagnostics)


def _check_spelling(op: ir.Op, scopes: Sequence[Scope], candidates: Sequence[str], diagnostics: Diagnostics) -> None:
    uses = [(scope.formula.place(node), gradient) for scope in scopes for node, gradient in scope.gradients_used]
    kinds: dict[str, Span] = {}
    for place, gradient in uses:
        kinds.setdefault(_kind(gradient), place)
    if len(kinds) > 1:
        (first, first_place), (second, place) = list(kinds.items())[:2]
        diagnostics.add(
            "GS0502",
            f"`{op.name}` mixes {first} and {second}",
            place,
            help="use one of grad, grads[i] and grad_NAME in all formulas of an entry",
            others=[(first_place, f"{first} here")],
        )
    indexed = [(place, g) for place, g in uses if isinstance(g, ir.Cotangent) and g.form == "grads"]
    for place, gradient in indexed:
        if gradient.index >= len(candidates):
            total = len(op.outputs)
            if gradient.index < total:
                message = f"`{gradient.name}`: `{op.name}` has {count(len(candidates), 'differentiable output')} of {total}"
                help_ = f"`grads` counts the differentiable outputs alone: {', '.join(candidates) or 'none'}"
                diagnostics.add("GS0504", message, place, help=help_)
            else:
                message = f"`{gradient.name}` is out of range: `{op.name}` has {count(len(candidates), 'differentiable output')}"
                diagnostics.add("GS0501", message, place, help="indices begin at 0")
    whole = any(isinstance(g, ir.Cotangents) for _, g in uses)
    if indexed and not whole and all(g.index == 0 for _, g in indexed):
        help_ = (
            "write `grad` for the first output alone; with `grads` every output counts as differentiable that"
            " `output_differentiability` does not exclude"
        )
        if any(i.name == "grad" for i in op.inputs):
            help_ = "rename the argument `grad`; then `grad` is the gradient of the first output, and of it alone"
        elif any(is_tensor_list(o.type) for o in op.outputs):
            help_ = "write `grads`: it has a gradient for each tensor of the list"
        diagnostics.add("GS0503", f"`{op.name}` uses `grads[0]` and no other gradient", indexed[0][0], help=help_)
    if uses and not candidates and not indexed:
        message = f"no output of `{op.name}` is differentiable, so there is no gradient to read"
        diagnostics.add("GS0504", message, uses[0][0])


def _kind(gradient: ir.Cotangent | ir.Cotangents) -> str:
    return "grads" if isinstance(gradient, ir.Cotangents) else gradient.form


def _check_arity(op: ir.Op, rule: s.Rule, derivative: ir.Derivative, diagnostics: Diagnostics) -> None:
    wanted = len(rule.names)
    for result in _results(derivative.written):
        given = _arity(result)
        if wanted == 1 and not op.foreach and is_tensor_list(_type_of(op, derivative.inputs[0])):
            if given == 1 and not isinstance(result, ir.Braces):
                message = f"the formula gives one tensor, `{derivative.inputs[0]}` is a list of them"
                help_ = "a list of gradients comes from a helper, or from braces: `{grad}`"
                diagnostics.add("GS0510", message, rule.formula.excerpt.span, help=help_)
        elif given is not None and given != wanted:
            message = f"the formula gives {count(given, 'gradient')}, its key names {count(wanted, 'input')}"
            help_ = "give each input a formula of its own" if given == 1 else "name in the key what the formula gives"
            diagnostics.add("GS0510", message, rule.formula.excerpt.span, help=help_)
            return


def _type_of(op: ir.Op, name: str) -> Type:
    return next(i.type for i in op.inputs if i.name == name)


def _results(expr: ir.Expr) -> tuple[ir.Expr, ...]:
    """What an expression may come to: itself, or the branches of a conditional."""
    match expr:
        case ir.Conditional(_, then, other):
            return _results(then) + _results(other)
        case _:
            return (expr,)


def _arity(expr: ir.Expr) -> int | None:
    """How many gradients an expression gives, None where that depends on a function that nobody knows here."""
    match expr:
        case ir.Braces(items):
            return len(items)
        case ir.Call(function, args):
            if function.rpartition("::")[2] == "make_tuple":
                return len(args)
            return 1 if function in ("zeros_like", "std::get", "maybe_multiply", "handle_r_to_c") else None
        case ir.Construct(ir.TypeRef(name, args)):
            last = name.rpartition("::")[2]
            return len(args) if last in ("tuple", "pair") else None
        case ir.Unary() | ir.Binary():
            return 1
        case ir.Input(type=type_) | ir.Output(type=type_):
            return 1 if type_ in (TENSOR, OPTIONAL_TENSOR) else None
        case ir.Cotangent():
            return 1
        case ir.Method(receiver, name, args):
            # A method of a gradient or of an input gives a tensor; split, unbind and the like give lists.
            known = isinstance(receiver, ir.Cotangent) and name in ("conj", "neg", "expand_as", "mul", "to", "contiguous")
            return 1 if known else None
        case _:
            return None


def _check_undefined(scope: Scope, derivative: ir.Derivative, diagnostics: Diagnostics) -> None:
    """Warn of a formula over several gradients that computes with one which may be undefined.

    The engine guards formulas of one input only; a helper is trusted to look for itself.
    """
    bare = set(derivative.unguarded)
    for node, gradient in scope.gradients_used:
        if isinstance(gradient, ir.Cotangent) and gradient.index in bare:
            bare.remove(gradient.index)
            name, output = gradient.name, scope.differentiable_outputs[gradient.index]
            message = f"`{name}` may be undefined here"
            help_ = f"write `({name}.defined() ? {name} : zeros_like({output}))`, or hand it to a helper that looks"
            diagnostics.add("GS0513", message, scope.formula.place(node), help=help_)


def _check_dependence(rule: s.Rule, derivative: ir.Derivative, diagnostics: Diagnostics) -> None:
    """Warn of a formula that computes with values and reads no gradient; zeros and `not_implemented` need none."""
    if any(isinstance(e, ir.Cotangent | ir.Cotangents) for e in ir.walk(derivative.written)):
        return
    value = _tensor_read(derivative.written)
    if value:
        message = f"the gradient of {', '.join(derivative.inputs)} depends on `{value}`, and on no gradient of an output"
        help_ = "is a factor `grad` missing? A gradient of zeros is `zeros_like(x)` or `Tensor()`"
        diagnostics.add("GS0514", message, rule.formula.excerpt.span, help=help_)


def _tensor_read(expr: ir.Expr) -> str:
    """A tensor whose values an expression reads, empty where it reads none."""
    if property_of(expr) is not None:
        return ""
    if isinstance(expr, ir.Input | ir.Output):
        return expr.name if is_tensor_like(expr.type) else ""
    return next((found for c in ir.children(expr) if (found := _tensor_read(c))), "")


# ------------------------------------------------------------------------------------------------------------------- nodes


def check_class_names(ops: Iterable[ir.Op], diagnostics: Diagnostics) -> None:
    """Report nodes made of others whose class has the name of one that the specs give."""
    owners: dict[str, ir.Op] = {}
    for op in ops:
        if op.node is None:
            continue
        first = owners.setdefault(op.node, op)
        if first is not op:
            message = f"the nodes of `{first.name}` and `{op.name}` would both be called {op.node}"
            others = [(op.span, f"from which `{op.name}` is made")] if op.span is not None and op.span != first.span else []
            diagnostics.add("GS0706", message, first.span, help="rename one of the two ops", others=others)


# ------------------------------------------------------------------------------------------------------------------- saved


def check_saved(op: ir.Op, rules: Sequence[s.Rule], diagnostics: Diagnostics, name_span: Span) -> None:
    """Check what a node keeps: whole tensors for a property, strides, overwritten inputs, names that would meet."""
    whole = {v.name: v for v in op.saved if isinstance(v.value, ir.Input | ir.Output) and v.name == v.value.name}
    for rule in rules:
        for node in _surface(rule.formula):
            if not isinstance(node, s.Method) or not isinstance(node.receiver, s.Name):
                continue
            receiver, method = node.receiver.text, node.name.text
            if method == "sym_strides" and receiver in {i.name for i in op.inputs} and [n.text for n in rule.names] != [receiver]:
                message = f"`{receiver}.sym_strides()` can only be saved for the formula of `{receiver}` alone"
                help_ = "strides are known to exist only where the tensor's own gradient is wanted"
                diagnostics.add("GS0702", message, rule.formula.place(node), help=help_)
            if method in METADATA_METHODS and receiver in whole and _only_metadata(op, receiver):
                message = f"the whole tensor `{receiver}` is saved for `{receiver}.{method}()`"
                cheap = METADATA_METHODS[method]
                help_ = f"`{receiver}.{cheap}` is saved without the tensor" if cheap else ""
                diagnostics.add("GS0406", message, rule.formula.place(node), help=help_)
    for value in whole.values():
        if value.overwritten and is_tensor_like(value.type):
            message = f"the in-place op `{op.name}` saves `{value.name}`, which it overwrites"
            help_ = "its kernel must save a clone from before the write; a formula over `result` needs none"
            diagnostics.add("GS0704", message, name_span, help=help_)
    names = {v.name for v in op.saved}
    for value in whole.values():
        if f"{value.name}_" in names and (is_tensor_like(value.type) or value.origin == "output"):
            message = f"`{value.name}_` would meet the member that keeps the tensor `{value.name}`"
            diagnostics.add("GS0701", message, name_span, help=f"rename the argument `{value.name}_`")


def _surface(formula: s.Formula) -> Iterator[s.Expr]:
    if isinstance(formula.value, str):
        return
    pending: list[s.Expr] = [formula.value]
    while pending:
        node = pending.pop()
        yield node
        pending += expr_children(node)


def _only_metadata(op: ir.Op, name: str) -> bool:
    """Whether every use of an input or output that keeps it whole asks for metadata alone."""

    def only(expr: ir.Expr) -> bool:
        if property_of(expr) is not None:
            return True
        match expr:
            case ir.Method(ir.Input(used) | ir.Output(used), method, args) if used == name and method in METADATA_METHODS:
                return all(only(a) for a in args)
            case ir.Input(used, type_) | ir.Output(used, type_) if used == name:
                return is_tensor_list(type_)
            case _:
                return all(only(c) for c in ir.children(expr))

    return all(only(d.written) for d in op.derivatives)


# ----------------------------------------------------------------------------------------------------------------- forward


def check_jvps(op: ir.Op, jvps: Sequence[ir.Jvp], rules: Sequence[s.Rule], diagnostics: Diagnostics) -> None:
    """Warn of tangents that no tangent reaches, and of `auto_linear` where the backward formula shows that the op is not linear.

    The vjp of a linear op reads no value of a differentiable input or of an output. Arguments of helpers are left out: many
    take a tensor for its shape.
    """
    if diagnostics.has_errors:
        return  # what is wrong may be what is missed here
    moving = {i.name for i in op.differentiable_inputs}
    for jvp, rule in zip(jvps, rules, strict=False):
        if not jvp.auto and not _reads_tangents(jvp.formula):
            message = f"the tangent of {', '.join(jvp.outputs)} depends on no tangent of an input"
            help_ = "read the tangent of an input `x` as `x_t`"
            diagnostics.add("GS0605", message, rule.formula.excerpt.span, help=help_)
        if jvp.auto != "linear":
            continue
        for derivative in op.derivatives:
            value = _value_read(derivative.written, moving)
            if value:
                message = f"`{op.name}` is not linear: the gradient of {', '.join(derivative.inputs)} depends on `{value}`"
                help_ = "write the tangent's formula, or `auto_element_wise` if each element depends on one alone"
                diagnostics.add("GS0604", message, rule.formula.excerpt.span, help=help_)
                break


# Methods that take a tensor for its shape alone.
_SHAPE_METHODS = ("expand_as", "view_as", "reshape_as", "type_as", "sum_to_size")


def _reads_tangents(formula: ir.Expr) -> bool:
    # A list of tensors carries its tangents along.
    return any(isinstance(e, ir.Tangent) or (isinstance(e, ir.Input) and is_tensor_list(e.type)) for e in ir.walk(formula))


def _value_read(expr: ir.Expr, moving: set[str]) -> str:
    if property_of(expr) is not None:
        return ""
    match expr:
        case ir.Input(name, type_):
            return name if name in moving and not is_tensor_list(type_) else ""
        case ir.Output(name, type_):
            return name if is_tensor_like(type_) else ""
        case ir.Call(function) if function in TORCH_HELPERS or not function.startswith("at::"):
            return ""
        case ir.Method(name=name) if name in METADATA_METHODS:
            return ""
        case ir.Method(receiver, name) if name in _SHAPE_METHODS:
            return _value_read(receiver, moving)
        case ir.Conditional(_, then, other):
            return _value_read(then, moving) or _value_read(other, moving)
        case _:
            return next((found for c in ir.children(expr) if (found := _value_read(c, moving))), "")
