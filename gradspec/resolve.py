"""Syntax to IR: every error of meaning comes from here; knows no file format and no target language."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from attrs import Factory, define, evolve, frozen

from gradspec import ir
from gradspec import syntax as s
from gradspec.check import check_derivatives, check_jvps, check_saved
from gradspec.diagnostics import Diagnostics, count, did_you_mean
from gradspec.forward import element_wise_formula, linear_formula, primals_read, tangents_read
from gradspec.names import DIFFERENTIABILITY_KEY, DISPATCH_KEYS, RESERVED_ARGUMENTS
from gradspec.op_table import OpTable
from gradspec.saved import infer_saved
from gradspec.scope import Scope, resolve_formula
from gradspec.source import Span
from gradspec.types import Type, is_tensor_like

# Ops whose result may alias an input though the backward can be traced (torchgen's VIEW_FUNCTIONS leaves them out).
_TRACEABLE_VIEWS = frozenset({"chunk", "lift_fresh"})


def class_prefix(base: str) -> str:
    """The class name of an op's nodes, without key and number (torchgen's load_derivatives._create_op_prefix)."""
    return ("".join([part.title() for part in base.split("_")]) + "Backward").replace("ForwardBackward", "Backward")


def resolve_specs(
    specs: Iterable[s.Spec], table: OpTable, externs: frozenset[str], diagnostics: Diagnostics
) -> tuple[ir.Op, ...]:
    """The ops of all specs, in order, numbered as one; what is wrong with them is in `diagnostics`."""
    specs = tuple(specs)
    # The ops of the specs are functions that formulas may call, as those of the table are.
    names = [entry.schema.name for spec in specs for entry in spec.entries]
    externs |= {f"{n.library}::{n.base}" if n.library else n.base for n in names} | {n.base for n in names}
    resolver = _Resolver(table, externs, diagnostics)
    ops: list[ir.Op] = []
    for spec in specs:
        resolver.externs = externs | set(spec.externs)
        starts = [e.excerpt.span.start for e in spec.entries]
        wrong = diagnostics.syntax_errors(spec.entries[0].excerpt.span.source) if spec.entries else []
        for entry, start, end in zip(spec.entries, starts, [*starts[1:], sys.maxsize], strict=False):
            resolver.unread = bisect_left(wrong, start) < bisect_left(wrong, end)
            ops += resolver.entry(entry)
    return tuple(ops)


@frozen
class _Sides:
    """The rules of a block, told apart."""

    vjps: tuple[s.Rule, ...]
    jvps: tuple[s.Rule, ...]
    non_differentiable: tuple[str, ...]


@define
class _Resolver:
    table: OpTable
    externs: frozenset[str]
    diagnostics: Diagnostics
    unread: bool = False
    numbers: Counter[str] = Factory(Counter)
    seen: dict[str, s.Entry] = Factory(dict)

    def entry(self, entry: s.Entry) -> list[ir.Op]:
        schema = entry.schema
        first = self.seen.setdefault(str(schema.name), entry)
        if first is not entry:
            message = f"two entries for `{schema.name}` ({_places(first.name_span, entry.name_span)})"
            self.diagnostics.add("GS0305", message, entry.name_span, others=[(first.name_span, "first here")])
            return []
        if not self._is_known(entry):
            return []
        for argument in schema.arguments:
            if argument.name in RESERVED_ARGUMENTS:
                message = f"`{argument.name}` is reserved: in formulas it is {RESERVED_ARGUMENTS[argument.name]}"
                self.diagnostics.add("GS0310", message, self._argument_span(entry, argument.name), help="rename the argument")
        self._check_differentiability(entry)
        known = [b.dispatch for b in entry.blocks]
        if known and "Default" not in known and set(known) <= set(DISPATCH_KEYS):
            message = f"`{schema.name}` has no Default formulas: it is not differentiable outside of {', '.join(known)}"
            self.diagnostics.add("GS0308", message, entry.name_span)
        ops: list[ir.Op] = []
        for block in entry.blocks:
            if block.dispatch not in DISPATCH_KEYS:
                help_ = did_you_mean(block.dispatch, DISPATCH_KEYS) or f"one of {', '.join(DISPATCH_KEYS)}"
                self.diagnostics.add("GS0306", f"unknown dispatch key `{block.dispatch}`", block.dispatch_span, help=help_)
            elif known.count(block.dispatch) > 1 and next(b for b in entry.blocks if b.dispatch == block.dispatch) is not block:
                self.diagnostics.add("GS0109", f"`dispatch {block.dispatch}` stands twice", block.dispatch_span)
            else:
                ops.append(self._block(entry, block))
        return ops

    # ------------------------------------------------------------------------------------------------------------ entries

    def _is_known(self, entry: s.Entry) -> bool:
        schema = entry.schema
        if schema.name.library or not self.table.listed or self.table.find(schema) is not None:
            return True
        if self.table.has_functional_form(schema):
            return True
        near = self.table.nearest(schema)
        help_ = "the nearest schemas are:\n" + "\n".join(f"       {n}" for n in near) if near else "no op has a name like it"
        if difference := self.table.difference(schema):
            help_ = f"{difference}; {help_}"
        message = f"no operator has the schema of `{schema.name}`"
        # YAML has no word for it.
        if entry.name_span.source.path.endswith(".grad"):
            help_ = f"for an op of your own library write `library NAME;` or `NAME::op`; {help_}"
        self.diagnostics.add("GS0304", message, entry.name_span, help=help_)
        return False

    def _argument_span(self, entry: s.Entry, name: str) -> Span:
        # Names are whole words of the schema's text; the last one is the name, as a type may be spelled the same.
        text = entry.excerpt.text
        at = -1
        while True:
            at = text.find(name, at + 1)
            if at < 0:
                return entry.name_span
            after = text[at + len(name) : at + len(name) + 1]
            if text[at - 1 : at].isspace() and not (after.isalnum() or after == "_"):
                return entry.excerpt.place(at, at + len(name))

    def _check_differentiability(self, entry: s.Entry) -> None:
        said = entry.differentiability
        if said is None:
            return
        outputs = len(entry.schema.returns)
        if said.condition is not None and outputs != 1:
            message = f"a condition stands only for an op with one output; `{entry.schema.name}` has {outputs}"
            self.diagnostics.add("GS0309", message, said.span, help="write a flag an output")
        elif len(said.flags) != outputs:
            values = count(len(said.flags), "value")
            message = f"`{DIFFERENTIABILITY_KEY}` has {values}, `{entry.schema.name}` has {count(outputs, 'output')}"
            self.diagnostics.add("GS0309", message, said.span, help="write a flag an output")
        elif entry.schema.is_inplace and not all(said.flags):
            message = f"the output of the in-place op `{entry.schema.name}` cannot be declared non-differentiable"
            help_ = "its version counter would not be raised, and what other nodes saved would be stale without an error"
            self.diagnostics.add("GS0309", message, said.span, help=help_)

    # ------------------------------------------------------------------------------------------------------------- blocks

    def _block(self, entry: s.Entry, block: s.Block) -> ir.Op:
        schema = entry.schema
        flags = entry.differentiability.flags if entry.differentiability else ()
        sides = self._tell_apart(schema, block, _candidate_outputs(schema, flags, ()))
        inputs = self._inputs(schema, sides)
        candidates = _candidate_outputs(schema, flags, sides.non_differentiable)
        scopes: list[Scope] = []
        derivatives: list[ir.Derivative] = []
        for rule in sides.vjps:
            scope = self._scope(entry, inputs, candidates, rule, forward=False)
            written = resolve_formula(scope)
            scopes.append(scope)
            derivatives.append(ir.Derivative(tuple(n.text for n in rule.names), written, written))
        uses_single = any(isinstance(g, ir.Cotangent) and g.form == "grad" for scope in scopes for _, g in scope.gradients_used)
        outputs = _outputs(schema, flags, candidates, uses_single)
        condition = self._condition(entry, inputs)
        draft = ir.Op(
            schema=schema,
            dispatch=block.dispatch,
            node=self._class_name(schema, block.dispatch) if derivatives else None,
            traceable=not schema.returns_view or schema.name.base in _TRACEABLE_VIEWS,
            inputs=inputs,
            outputs=outputs,
            saved=(),
            derivatives=tuple(derivatives),
            jvps=(),
            uses_retain_variables=any(isinstance(e, ir.RetainVariables) for d in derivatives for e in ir.walk(d.written)),
            named_gradients=_named_gradients(scopes, candidates),
            differentiable_if=condition,
            foreach=schema.is_foreach,
            forward=self._forward(entry, inputs) if block is entry.blocks[0] else None,
            span=entry.name_span,
        )
        check_derivatives(draft, sides.vjps, scopes, candidates, self.diagnostics)
        jvps = tuple(j for rule in sides.jvps if (j := self._jvp(entry, draft, rule, sides)) is not None)
        # A formula that is wrong may be the one that is missed here.
        if jvps and not derivatives and not self.diagnostics.has_errors:
            self._warn_of_lost_node(entry, block)
        op = infer_saved(draft, lambda a, b: self._report_shared_name(entry, a, b))
        check_saved(op, sides.vjps, self.diagnostics, entry.name_span)
        check_jvps(op, jvps, sides.jvps, self.diagnostics)
        return evolve(op, jvps=jvps)

    def _tell_apart(self, schema: ir.Schema, block: s.Block, moving: Sequence[str]) -> _Sides:
        """Sort the rules by key, as their numbering and saving need it, and into backward and forward ones."""
        inputs = {a.name: a.type for a in schema.arguments + schema.out}
        outputs = schema.output_names
        owner: dict[str, s.KeyName] = {}
        vjps: list[s.Rule] = []
        jvps: list[s.Rule] = []
        non_differentiable: list[str] = []
        for rule in sorted(block.rules, key=lambda r: r.key):
            known_names = [n for n in rule.names if n.text in inputs or n.text in outputs]
            for_inputs = bool(known_names) and known_names[0].text in inputs
            if not self._key_is_fine(rule, inputs, moving, for_inputs, schema, owner):
                continue
            value = rule.formula.value
            if for_inputs and value == "non_differentiable":
                non_differentiable += [n.text for n in rule.names]
            elif for_inputs and isinstance(value, str):
                help_ = "it says how an output's tangent comes from the op itself; write the gradient's formula"
                self.diagnostics.add("GS0512", f"`{value}` stands for a forward formula", rule.formula.excerpt.span, help=help_)
            elif value == "non_differentiable":
                help_ = f"write `{DIFFERENTIABILITY_KEY}` to say which outputs are differentiable"
                self.diagnostics.add("GS0512", "`non_differentiable` is said of inputs", rule.formula.excerpt.span, help=help_)
            else:
                (vjps if for_inputs else jvps).append(rule)
        return _Sides(tuple(vjps), tuple(jvps), tuple(non_differentiable))

    def _key_is_fine(
        self,
        rule: s.Rule,
        inputs: dict[str, Type],
        moving: Sequence[str],
        for_inputs: bool,
        schema: ir.Schema,
        owner: dict[str, s.KeyName],
    ) -> bool:
        fine = bool(rule.names)
        in_key: set[str] = set()
        for name in rule.names:
            if name.text in in_key:
                self.diagnostics.add("GS0507", f"`{name.text}` stands twice in one key", name.span)
                fine = False
                continue
            in_key.add(name.text)
            if (name.text in inputs) != for_inputs:
                message = f"`{rule.key}` mixes inputs and outputs of `{schema.name}`"
                self.diagnostics.add("GS0511", message, name.span, help="a gradient and a tangent have formulas of their own")
                fine = False
            elif for_inputs and not is_tensor_like(inputs[name.text]) and rule.formula.value != "non_differentiable":
                message = f"`{name.text}` is {inputs[name.text]}: it cannot have a gradient"
                self.diagnostics.add(
                    "GS0505", message, name.span, help="gradients are for Tensor, Tensor? and Tensor[] arguments"
                )
                fine = False
            elif not for_inputs and name.text not in moving and rule.formula.value != "non_differentiable":
                message = f"the output `{name.text}` cannot have a tangent"
                help_ = f"it is no tensor, or `{DIFFERENTIABILITY_KEY}` says so"
                self.diagnostics.add("GS0505", message, name.span, help=help_)
                fine = False
            first = owner.setdefault(name.text, name)
            if first is not name:
                message = f"`{name.text}` has two formulas ({_places(first.span, name.span)})"
                self.diagnostics.add("GS0506", message, name.span, others=[(first.span, "first here")])
                fine = False
        return fine

    def _inputs(self, schema: ir.Schema, sides: _Sides) -> tuple[ir.InputInfo, ...]:
        moving = {n.text for rule in sides.vjps for n in rule.names}

        def state(name: str) -> ir.InputState:
            if name in moving:
                return "differentiable"
            return "non_differentiable" if name in sides.non_differentiable else "unmentioned"

        return tuple(ir.InputInfo(a.name, a.type, state(a.name)) for a in schema.arguments + schema.out)

    def _scope(
        self, entry: s.Entry, inputs: Sequence[ir.InputInfo], candidates: tuple[str, ...], rule: s.Rule, *, forward: bool
    ) -> Scope:
        schema = entry.schema
        return Scope(
            schema=schema,
            inputs={i.name: i.type for i in inputs},
            outputs=dict(zip(schema.output_names, [r.type for r in schema.returns], strict=True)),
            differentiable_inputs=frozenset(i.name for i in inputs if i.state == "differentiable"),
            differentiable_outputs=candidates,
            table=self.table,
            externs=self.externs,
            diagnostics=self.diagnostics,
            forward=forward,
            masked=len(rule.names) if not forward and len(rule.names) > 1 else None,
            foreach=schema.is_foreach,
            formula=rule.formula,
            unread=self.unread,
        )

    def _condition(self, entry: s.Entry, inputs: Sequence[ir.InputInfo]) -> ir.Expr | None:
        said = entry.differentiability
        if said is None or said.condition is None:
            return None
        rule = s.Rule("", (), said.condition)
        return resolve_formula(evolve(self._scope(entry, inputs, (), rule, forward=False), before="a condition"))

    def _forward(self, entry: s.Entry, inputs: Sequence[ir.InputInfo]) -> ir.Expr | None:
        """What the op computes, where the spec says so."""
        said = entry.forward
        if said is None:
            return None
        if isinstance(said.value, str):
            message = f"`{said.value}` is nothing that an op computes"
            self.diagnostics.add("GS0312", message, said.excerpt.span, help="write an expression over the op's inputs")
            return None
        if any(a.alias is not None and a.alias.write for a in entry.schema.arguments + entry.schema.out):
            message = f"`{entry.schema.name}` writes to an argument, which no expression can"
            self.diagnostics.add("GS0312", message, said.excerpt.span, help="say what the functional form of the op computes")
            return None
        scope = self._scope(entry, inputs, (), s.Rule("", (), said), forward=False)
        return resolve_formula(evolve(scope, before="what an op computes"))

    def _class_name(self, schema: ir.Schema, dispatch: str) -> str:
        prefix = class_prefix(schema.name.base) + ("" if dispatch == "Default" else dispatch)
        name = f"{prefix}{self.numbers[prefix]}"
        self.numbers[prefix] += 1
        return name

    def _jvp(self, entry: s.Entry, op: ir.Op, rule: s.Rule, sides: _Sides) -> ir.Jvp | None:
        names = tuple(n.text for n in rule.names)
        value = rule.formula.value
        moving = [i.name for i in op.differentiable_inputs]
        formula: ir.Expr
        auto: Literal["", "linear", "element_wise"] = ""
        if value == "auto_linear":
            if len(sides.jvps) > 1 or len(names) > 1 or not moving:
                why = "no input of it has a gradient" if not moving else "it has forward formulas for several outputs"
                self.diagnostics.add("GS0601", f"`auto_linear` does not fit `{op.name}`: {why}", rule.formula.excerpt.span)
                return None
            known = self.table.find(op.schema)
            has_function = known is None or known.has_function
            formula, auto = linear_formula(op.schema, moving, has_function=has_function), "linear"
        elif value == "auto_element_wise":
            why = ""
            if op.schema.is_inplace:
                why = "it is an in-place op"
            elif len(moving) != 1 or len(op.derivatives) != 1:
                why = f"it has {len(moving)} inputs with a gradient" if moving else "its input has no backward formula"
            elif len(sides.jvps) > 1 or len(names) > 1:
                why = "it has forward formulas for several outputs"
            if why:
                help_ = "it takes the jvp from the vjp of the only input, so there must be one such input and one output"
                self.diagnostics.add(
                    "GS0602", f"`auto_element_wise` does not fit `{op.name}`: {why}", rule.formula.excerpt.span, help=help_
                )
                return None
            formula, auto = element_wise_formula(op.derivatives[0]), "element_wise"
        else:
            formula = resolve_formula(self._scope(entry, op.inputs, (), rule, forward=True))
        # An element-wise op has a tangent where its input has one, even if that tangent is zero and the formula reads nothing.
        tangents = tuple(moving) if auto == "element_wise" else tangents_read(formula, op.inputs)
        return ir.Jvp(names, formula, tangents, primals_read(formula, op.inputs), auto)

    def _warn_of_lost_node(self, entry: s.Entry, block: s.Block) -> None:
        prefix = class_prefix(entry.schema.name.base) + ("" if block.dispatch == "Default" else block.dispatch)
        message = f"`{entry.schema.name}` has forward formulas alone: it has no node"
        help_ = (
            f"the next `{prefix}` class takes the number {self.numbers[prefix]}; give a backward formula, or `not_implemented`"
        )
        self.diagnostics.add("GS0603", message, entry.name_span, help=help_)

    def _report_shared_name(self, entry: s.Entry, first: ir.SavedValue, second: ir.SavedValue) -> None:
        message = f"two values of `{entry.schema.name}` would share the name `{first.name}`"
        both = f"one is the {first.origin} `{first.name}`, the other a property of an {second.origin}"
        self.diagnostics.add("GS0701", message, self._argument_span(entry, first.name), help=f"rename the argument; {both}")


def _places(first: Span, second: Span) -> str:
    if first.source.path != second.source.path:
        return f"{first.source.path}:{first.line} and {second.source.path}:{second.line}"
    return f"line {first.line}" if first.line == second.line else f"lines {first.line} and {second.line}"


def _candidate_outputs(schema: ir.Schema, flags: Sequence[bool], non_differentiable: Sequence[str]) -> tuple[str, ...]:
    """The outputs whose gradients the node may get, as far as the entry says: by flag, else those of tensor type."""
    names = []
    for i, (name, returned) in enumerate(zip(schema.output_names, schema.returns, strict=True)):
        if not is_tensor_like(returned.type) or name in non_differentiable:
            continue
        if not flags or (i < len(flags) and flags[i]):
            names.append(name)
    return tuple(names)


def _outputs(
    schema: ir.Schema, flags: Sequence[bool], candidates: tuple[str, ...], uses_single: bool
) -> tuple[ir.OutputInfo, ...]:
    differentiable = candidates[:1] if uses_single and not flags else candidates
    pairs = zip(schema.output_names, schema.returns, strict=True)
    return tuple(ir.OutputInfo(name, r.type, name in differentiable) for name, r in pairs)


def _named_gradients(scopes: Iterable[Scope], candidates: tuple[str, ...]) -> tuple[str, ...]:
    used = {g.name for scope in scopes for _, g in scope.gradients_used if isinstance(g, ir.Cotangent)}
    return tuple(f"grad_{n}" for n in candidates if f"grad_{n}" in used)
