"""Nodes derived from others: view copies share their view's formulas, foreach ops repeat a reference op's; knows no spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import evolve, frozen

from gradspec.ir import (
    Cotangent,
    Cotangents,
    Derivative,
    ElementIndex,
    Expr,
    Index,
    Input,
    InputInfo,
    InputState,
    Jvp,
    Op,
    Output,
    OutputInfo,
    Primal,
    Saved,
    SavedValue,
    Schema,
    Tangent,
    rewrite,
    walk,
)
from gradspec.op_table import OpTable
from gradspec.types import ListType, Type, is_tensor_like, unsized

_FOREACH = "_foreach_"

# The alpha argument of the reference op is missing in these (torchgen.api.autograd, is_reference_for_foreach).
_WITHOUT_ALPHA = frozenset(f"_foreach_{name}.{overload}" for name in ("add", "sub") for overload in ("Scalar", "ScalarList"))


def derive_view_copies(ops: Iterable[Op], table: OpTable) -> Iterator[Op]:
    """For each view with a `_copy` twin: the twin's record, unless the spec has one of its own."""
    ops = tuple(ops)
    given = {str(op.schema) for op in ops}
    for op in ops:
        if not op.schema.returns_view:
            continue
        twin = _view_copy(op.schema, table)
        if twin is not None and str(twin) not in given:
            yield evolve(op, schema=twin, node=op.node and f"{op.node}_copy", traceable=True, inputs=_retyped(op.inputs, twin))


def _view_copy(view: Schema, table: OpTable) -> Schema | None:
    wanted = [(a.name, a.type, a.default) for a in view.arguments]
    for known in table.named(f"{view.name.base}_copy"):
        schema = known.schema
        if (
            [(a.name, a.type, a.default) for a in schema.arguments] == wanted
            and schema.output_names == view.output_names
            and [r.type for r in schema.returns] == [r.type for r in view.returns]
            and not (schema.out or view.out)
        ):
            return schema
    return None


def _retyped(inputs: tuple[InputInfo, ...], schema: Schema) -> tuple[InputInfo, ...]:
    types = {a.name: a.type for a in schema.arguments}
    return tuple(evolve(i, type=types[i.name]) for i in inputs)


# ----------------------------------------------------------------------------------------------------------------- foreach


def derive_foreach(ops: Iterable[Op], table: OpTable) -> Iterator[Op]:
    """A record for each functional `_foreach_*` op whose reference op has derivatives and that the spec does not name."""
    ops = tuple(ops)
    given = {str(op.schema) for op in ops}
    references: dict[str, list[Op]] = {}
    for op in ops:
        if op.dispatch == "Default" and not op.schema.is_inplace and not _writes(op.schema):
            references.setdefault(op.schema.name.base, []).append(op)
    for base in table.bases():
        if not base.startswith(_FOREACH) or base.endswith("_"):
            continue
        for known in table.named(base):
            schema = known.schema
            if schema.out or str(schema) in given:
                continue
            candidates = references.get(base.removeprefix(_FOREACH), ())
            reference = next((r for r in candidates if _repeats(schema, r.schema) and _works_by_element(schema, r)), None)
            if reference is not None:
                yield _ForeachBuilder(schema, reference).build()


def _writes(schema: Schema) -> bool:
    return any(a.alias is not None and a.alias.write for a in schema.arguments + schema.out)


def _repeats(schema: Schema, reference: Schema) -> bool:
    """Whether a foreach schema is the reference's with lists in place of (some) values."""
    if len(schema.arguments) != len(reference.arguments) and str(schema.name) not in _WITHOUT_ALPHA:
        return False
    if len(schema.returns) != 1 or len(reference.returns) != 1 or schema.returns[0].type != ListType(reference.returns[0].type):
        return False
    return all(_same_or_element(a.type, r.type) for a, r in zip(schema.arguments, reference.arguments, strict=False))


def _same_or_element(type_: Type, reference: Type) -> bool:
    return type_ == reference or (isinstance(type_, ListType) and type_.elem == reference)


def _works_by_element(schema: Schema, reference: Op) -> bool:
    """Whether the reference's formulas can be read element by element: one gradient each, over arguments that both have."""
    present = {r.name for _, r in zip(schema.arguments, reference.schema.arguments, strict=False)}
    formulas = [d.written for d in reference.derivatives] + [j.formula for j in reference.jvps if j.auto != "linear"]
    return all(_inputs_read(formula) <= present for formula in formulas) and all(
        len(d.inputs) == 1 for d in reference.derivatives
    )


@frozen
class _ForeachBuilder:
    schema: Schema
    reference: Op

    def build(self) -> Op:
        schema, reference = self.schema, self.reference
        renamed = self._renamed()
        derivatives: list[Derivative] = []
        saved: dict[str, SavedValue] = {}
        for derivative in reference.derivatives:
            written = rewrite(derivative.written, lambda e: self._element(e, renamed))
            inputs = tuple(renamed[n] for n in derivative.inputs)
            derivatives.append(Derivative(inputs, rewrite(written, lambda e: _kept(e, saved)), written))
        moving = {n for d in derivatives for n in d.inputs}
        states = {renamed[i.name]: i.state for i in reference.inputs if i.name in renamed}
        inputs_info = tuple(
            InputInfo(a.name, a.type, "differentiable" if a.name in moving else _without_gradient(states.get(a.name)))
            for a in schema.arguments
        )
        (output,) = schema.output_names
        return Op(
            schema=schema,
            dispatch="Default",
            node=reference.node and f"Foreach{reference.node}{schema.name.overload}",
            traceable=True,
            inputs=inputs_info,
            outputs=(OutputInfo(output, schema.returns[0].type, True),),
            saved=tuple(sorted(saved.values(), key=lambda v: (v.origin, v.name))),
            derivatives=tuple(derivatives),
            # An automatic tangent calls the op itself, with arguments that the lists may lack.
            jvps=tuple(self._jvp(j, renamed) for j in reference.jvps if _inputs_read(j.formula) <= renamed.keys()),
            uses_retain_variables=reference.uses_retain_variables,
            foreach=True,
            span=reference.span,
        )

    def _renamed(self) -> dict[str, str]:
        pairs = zip(self.schema.arguments, self.reference.schema.arguments, strict=False)
        return {r.name: a.name for a, r in pairs}

    def _element(self, expr: Expr, renamed: Mapping[str, str]) -> Expr | None:
        """What a part of the reference's formula is for one element of the lists."""
        match expr:
            case Cotangent():
                return Index(Cotangents(), ElementIndex())
            case Input(name):
                value = Input(renamed[name], self._type(renamed[name]))
                return Index(value, ElementIndex()) if value.type != expr.type else value
            case Output():
                return self._output_element()
            case _:
                return None

    def _type(self, name: str) -> Type:
        return next(a.type for a in self.schema.arguments if a.name == name)

    def _output_element(self) -> Expr:
        return Index(Output(self.schema.output_names[0], self.schema.returns[0].type), ElementIndex())

    def _jvp(self, jvp: Jvp, renamed: Mapping[str, str]) -> Jvp:
        def change(expr: Expr) -> Expr | None:
            match expr:
                case Tangent(name, original):
                    return Tangent(renamed[name], original)
                case Primal(name, original):
                    return Primal(renamed[name], original)
                case Output():
                    return self._output_element()
                case Input(name) if name in renamed:
                    value = Input(renamed[name], self._type(renamed[name]))
                    of_list = value.type != expr.type and not is_tensor_like(value.type)
                    return Index(value, ElementIndex()) if of_list else value
                case _:
                    return None

        return evolve(
            jvp,
            outputs=self.schema.output_names,
            formula=rewrite(jvp.formula, change),
            tangents=tuple(renamed[n] for n in jvp.tangents),
            primals=tuple(renamed[n] for n in jvp.primals),
        )


def _kept(expr: Expr, saved: dict[str, SavedValue]) -> Expr | None:
    """A value to save for what is read: always the whole, as the property of one element cannot stand for the list."""
    match expr:
        case Input(name, type_) | Output(name, type_):
            type_ = unsized(type_)
            saved[name] = SavedValue(name, type_, "input" if isinstance(expr, Input) else "output", evolve(expr, type=type_))
            return Saved(name, type_)
        case _:
            return None


def _inputs_read(formula: Expr) -> set[str]:
    return {e.name for e in walk(formula) if isinstance(e, Input)}


def _without_gradient(state: InputState | None) -> InputState:
    return "non_differentiable" if state == "non_differentiable" else "unmentioned"
