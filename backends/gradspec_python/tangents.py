"""The forward mode of an op: the method `jvp`, and what it reads; knows no gradient."""

from __future__ import annotations

from attrs import define, field

from gradspec import ir
from gradspec.layout import LINE, concat
from gradspec.printer import print_expr
from gradspec.types import is_tensor_like, is_tensor_list
from gradspec_python import code as c
from gradspec_python.code import Code, bracketed, statement
from gradspec_python.expr import CannotLower, Lowering
from gradspec_python.names import python_name
from gradspec_python.operands import Operands, attribute, original_name, unpack_saved

_INDENT = 8


@define
class Tangents:
    """The tangents of one op that Python can express; `refused` says why not the others."""

    op: ir.Op
    lowering: Lowering
    operands: Operands
    refused: list[str] = field(factory=list)
    lowered: list[tuple[ir.Jvp, Code]] = field(factory=list)
    tensors: list[str] = field(factory=list)
    others: list[str] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        for jvp in self.op.jvps:
            try:
                self._refuse(jvp)
                made = self.lowering.lower(jvp.formula)
                if self.op.schema.returns_view and isinstance(jvp.formula, ir.Tangent):
                    # The tangent of a view must be a view as well.
                    made = Code(f"{made.flat}.view_as({made.flat})", c.POSTFIX)
                self.lowered.append((jvp, made))
            except CannotLower as reason:
                self.refused.append(str(reason))
        if self.refused:
            # A function that knew some of its tangents alone would take the others for zero.
            self.lowered = []
        self._note_what_is_read()

    def _refuse(self, jvp: ir.Jvp) -> None:
        moving = {i.name for i in self.op.differentiable_inputs}
        parts = list(ir.walk(jvp.formula))
        if self.op.foreach:
            if not all(self.operands.is_list(n) for n in (*jvp.tangents, *jvp.primals)):
                raise CannotLower("form for the tangent of one tensor for all elements")
        elif any(isinstance(e, ir.Input) and is_tensor_list(e.type) and e.name in moving for e in parts):
            raise CannotLower("form for the tangents of a list")

    def _note_what_is_read(self) -> None:
        tensors: dict[str, None] = {}
        others: dict[str, None] = {}
        for jvp, _ in self.lowered:
            if len(jvp.tangents) > 1:
                tensors.update(dict.fromkeys(jvp.tangents))
            for part in ir.walk(jvp.formula):
                match part:
                    case ir.Primal():
                        tensors[_saved_name(part)] = None
                    case ir.Input(name, type_) | ir.Output(name, type_):
                        (tensors if is_tensor_like(type_) else others)[name] = None
                    case ir.Constant("options"):
                        others.update(dict.fromkeys(("dtype", "layout", "device", "pin_memory")))
        self.tensors = sorted(tensors, key=self.operands.is_list)
        self.others = list(others)

    def lines(self) -> list[str]:
        """The body of `jvp(ctx, saved, *tangents)`; none where there are no tangents."""
        if not self.lowered:
            return []
        foreach = self.op.foreach
        primals = {_saved_name(e) for j, _ in self.lowered for e in ir.walk(j.formula) if isinstance(e, ir.Primal)}
        primals |= {n for j, _ in self.lowered if len(j.tangents) > 1 for n in j.tangents}
        plain = {e.name for j, _ in self.lowered for e in ir.walk(j.formula) if isinstance(e, ir.Input | ir.Output)}
        kept = [(python_name(f"{n}_p" if n in primals and not foreach else n), self.operands.is_list(n)) for n in self.tensors]
        lines = unpack_saved(kept, "saved", "ctx.forward_lengths", self.lowering)
        if not foreach:
            lines += [f"{python_name(n)} = {python_name(f'{n}_p')}" for n in self.tensors if n in primals and n in plain]
        lines += [f"{python_name(n)} = {attribute(n)}" for n in self.others]
        lines += self._take_tangents()
        for jvp, formula in self.lowered:
            lines += self._foreach(jvp, formula) if foreach else self._one(jvp, formula)
        covered = {o for j, _ in self.lowered for o in j.outputs}
        results = [f"{python_name(n)}_t" if n in covered else "None" for n in self.operands.output_names]
        listed = foreach or (len(results) == 1 and self.operands.is_list(self.operands.output_names[0]))
        return [*lines, f"return tuple({results[0]})" if listed else f"return {', '.join(results)}"]

    def _take_tangents(self) -> list[str]:
        moved = list(dict.fromkeys(n for j, _ in self.lowered for n in j.tangents))
        operands = self.operands
        names = [f"{a.name}_t" if a.name in moved else "_" for a in operands.lists]
        source = f"tangents[{operands.offset}:]"
        lines = operands.regrouped(names, source, "ctx.argument_lengths", self.lowering) if moved else []
        for name in moved:
            if operands.is_plain(name):
                lines.append(f"{python_name(f'{name}_t')} = tangents[{operands.place(name)}]")
            elif not operands.several:
                lines.append(f"{name}_t = {source}")
        return lines

    def _one(self, jvp: ir.Jvp, formula: Code) -> list[str]:
        out = [f"{python_name(n)}_t" for n in jvp.outputs]
        tangents = [python_name(f"{n}_t") for n in jvp.tangents]
        lines = [f"# {', '.join(jvp.outputs)}: {print_expr(jvp.formula)}", f"{' = '.join(out)} = None"]
        if tangents:
            lines.append(f"if {' or '.join(f'{t} is not None' for t in tangents)}:")
        pad = "    " if tangents else ""
        if len(tangents) > 1:
            fill = self.lowering.use("zeros_for")
            pairs = zip(tangents, jvp.tangents, strict=True)
            lines += [f"{pad}{t} = {fill}({t}, {python_name(f'{n}_p')})" for t, n in pairs]
        for name in sorted({e.input for e in ir.walk(jvp.formula) if isinstance(e, ir.Tangent) and e.original}):
            lines.append(f"{pad}original_{name}_t = {python_name(f'{name}_t')}.clone()")
        return [*lines, pad + statement(f"{', '.join(out)} = ", formula, _INDENT + len(pad))]

    def _foreach(self, jvp: ir.Jvp, formula: Code) -> list[str]:
        tangents = [f"{n}_t" for n in jvp.tangents]
        if len(tangents) > 1:
            fill = self.lowering.use("zeros_for")
            sources = [f"[{fill}(t, p) for t, p in zip({n}_t, {python_name(n)})]" for n in jvp.tangents]
        else:
            sources = list(tangents)
        targets = [*tangents, *[f"{n}_p" for n in jvp.primals]]
        sources += [python_name(n) for n in jvp.primals]
        if len(targets) == 1:
            head = f"for i, {targets[0]} in enumerate({sources[0]})"
        else:
            head = f"for i, ({', '.join(targets)}) in enumerate(zip({', '.join(sources)}))"
        element = formula.doc
        if len(tangents) == 1:
            element = concat(f"None if {tangents[0]} is None else ", formula.within(c.TERNARY))
        comment = f"# {', '.join(jvp.outputs)}, each: {print_expr(jvp.formula)}"
        out = python_name(f"{jvp.outputs[0]}_t")
        return [comment, statement(f"{out} = ", Code(bracketed("[", [concat(element, LINE, head)], "]")), _INDENT)]


def _saved_name(primal: ir.Primal) -> str:
    return original_name(primal.input) if primal.original else primal.input
