"""The printed IR back to a Program: what `printer.print_program` wrote, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

from attrs import define, evolve, frozen

from gradspec import ir
from gradspec.diagnostics import Diagnostics
from gradspec.forward import primals_read, tangents_read
from gradspec.op_table import EMPTY
from gradspec.parse import parse_formula, parse_schema, parse_spec
from gradspec.parse.schema import parse_type
from gradspec.resolve_functions import resolve_functions
from gradspec.scope import Scope, resolve_formula
from gradspec.source import Excerpt, Source, Span
from gradspec.types import SAVED_BASE_TYPES, TENSOR, Type, base, with_suffixes


def read_program(text: str, path: str = "<ir>") -> ir.Program:
    """The program that a text form says.

    Raises:
        SpecError: a schema or formula in it is wrong.
        ValueError: a line is none of the text form; the message quotes it.
    """
    source = Source(path, text)
    diagnostics = Diagnostics()
    blocks: list[list[_Line]] = [[]]
    at = 0
    # A string may hold what else counts as the end of a line.
    for line in text.split("\n"):
        if line.strip():
            blocks[-1].append(_Line(source, at, line))
        elif blocks[-1]:
            blocks.append([])
        at += len(line) + 1
    functions = [lines for lines in blocks if lines and lines[0].text.startswith("fn ")]
    ops = [_read_op(lines, diagnostics) for lines in blocks if lines and lines not in functions]
    written = parse_spec(Source(path, "\n".join(line.text for lines in functions for line in lines)), diagnostics).functions
    resolved = resolve_functions(written, EMPTY, frozenset(), diagnostics)
    diagnostics.raise_errors()
    return ir.Program(tuple(ops), functions=resolved)


@frozen
class _Line:
    """One line and where it begins."""

    source: Source
    start: int
    text: str

    def tail(self, text: str) -> Excerpt:
        """The excerpt of a text that ends the line (before a remark, maybe)."""
        at = self.start + self.text.rindex(text)
        return Excerpt(text, Span(self.source, at, at + len(text)))


def _read_op(lines: list[_Line], diagnostics: Diagnostics) -> ir.Op:
    first = lines[0]
    word, _, schema_text = first.text.partition(" ")
    if word != "op":
        raise ValueError(f"an op was expected: {first.text}")
    schema = parse_schema(first.tail(schema_text), diagnostics)
    if schema is None:
        diagnostics.raise_errors()
        raise AssertionError
    empty = ir.Op(schema, "Default", None, True, (), (), (), (), ())
    reader = _OpReader(empty, diagnostics)
    for line in lines[1:]:
        reader.line(line)
    return reader.op


@define
class _OpReader:
    """Adds to `op` what each line says; lines stand in the printer's order."""

    op: ir.Op
    diagnostics: Diagnostics

    def line(self, line: _Line) -> None:
        word, _, rest = line.text.strip().partition(" ")
        op = self.op
        match word:
            case "dispatch":
                self.op = evolve(op, dispatch=rest)
            case "node":
                name, _, remark = rest.partition(" ")
                self.op = evolve(op, node=name, traceable=not remark)
            case "not":
                self.op = evolve(op, traceable=False)
            case "for":
                self.op = evolve(op, foreach=True)
            case "input":
                name, type_, state = _described(rest)
                info = ir.InputInfo(name, parse_type(type_)[0], cast(ir.InputState, state or "unmentioned"))
                self.op = evolve(op, inputs=(*op.inputs, info))
            case "output":
                name, type_, state = _described(rest)
                self.op = evolve(op, outputs=(*op.outputs, ir.OutputInfo(name, parse_type(type_)[0], bool(state))))
            case "differentiable":
                self.op = evolve(op, differentiable_if=self._expr(line, rest.removeprefix("if "), self._values()))
            case "forward":
                self.op = evolve(op, forward=self._expr(line, rest, self._values()))
            case "gradients":
                self.op = evolve(op, named_gradients=tuple(rest.split(", ")))
            case "save":
                self.op = evolve(op, saved=(*op.saved, self._saved(line, rest)))
            case "vjp":
                self._vjp(line, rest)
            case "written":
                *others, last = op.derivatives
                written = self._expr(line, rest, self._values() | self._gradients(), masked=len(last.inputs))
                self.op = evolve(op, derivatives=(*others, ir.Derivative(last.inputs, last.formula, written)))
            case "jvp":
                self.op = evolve(op, jvps=(*op.jvps, self._jvp(line, rest)))
            case _:
                raise ValueError(f"no line of an op: {line.text}")

    def _saved(self, line: _Line, rest: str) -> ir.SavedValue:
        described, _, text = rest.partition(" = ")
        origin, _, named = described.partition(" ")
        name, type_, _ = _described(named)
        value = self._expr(line, text.removesuffix(" before the write"), self._values())
        return ir.SavedValue(
            name, _saved_type(type_), "input" if origin == "input" else "output", value, text.endswith(" before the write")
        )

    def _vjp(self, line: _Line, rest: str) -> None:
        names, _, text = rest.partition(" = ")
        inputs = tuple(names.split(", "))
        saved: dict[str, ir.Expr] = {v.name: ir.Saved(v.name, v.type) for v in self.op.saved}
        formula = self._expr(line, text, saved | self._gradients(), masked=len(inputs))
        retained = any(isinstance(e, ir.RetainVariables) for e in ir.walk(formula))
        # The line below says how it was written.
        self.op = evolve(
            self.op,
            derivatives=(*self.op.derivatives, ir.Derivative(inputs, formula, formula)),
            uses_retain_variables=self.op.uses_retain_variables or retained,
        )

    def _jvp(self, line: _Line, rest: str) -> ir.Jvp:
        described, _, text = rest.partition(" = ")
        names, _, remark = described.partition(" (auto_")
        kind = remark.removesuffix(")")
        inputs = self.op.inputs
        moving: dict[str, ir.Expr] = {}
        for i in inputs:
            for prefix in ("", "original_"):
                moving[f"{prefix}{i.name}_t"] = ir.Tangent(i.name, bool(prefix))
                moving[f"{prefix}{i.name}_p"] = ir.Primal(i.name, bool(prefix))
        formula = self._expr(line, text, moving | self._values(), forward=True)
        element_wise = kind == "element_wise"
        tangents = tuple(i.name for i in self.op.differentiable_inputs) if element_wise else tangents_read(formula, inputs)
        auto: Literal["", "linear", "element_wise"] = "element_wise" if element_wise else "linear" if kind == "linear" else ""
        return ir.Jvp(tuple(names.split(", ")), formula, tangents, primals_read(formula, inputs), auto)

    def _values(self) -> dict[str, ir.Expr]:
        values: dict[str, ir.Expr] = {o.name: ir.Output(o.name, o.type) for o in self.op.outputs}
        return values | {i.name: ir.Input(i.name, i.type) for i in self.op.inputs}

    def _gradients(self) -> dict[str, ir.Expr]:
        names = ir.differentiable_output_names(self.op.outputs)
        return {f"grad_{n}": ir.Cotangent(k, f"grad_{n}") for k, n in enumerate(names) if f"grad_{n}" in self.op.named_gradients}

    def _expr(self, line: _Line, text: str, meaning: Mapping[str, ir.Expr], *, masked: int = 0, forward: bool = False) -> ir.Expr:
        """An expression whose names mean what `meaning` says; gradients, masks and constants are the language's own."""
        formula = parse_formula(line.tail(text), self.diagnostics, is_printed=True)
        if formula is None:
            return ir.Constant(text)
        scope = Scope(
            schema=self.op.schema,
            inputs=dict.fromkeys(meaning, TENSOR),
            outputs={},
            differentiable_inputs=frozenset(),
            differentiable_outputs=(),
            table=EMPTY,
            externs=frozenset(),
            diagnostics=self.diagnostics,
            forward=forward,
            masked=masked or None,
            foreach=self.op.foreach,
            formula=formula,
        )
        return ir.rewrite(resolve_formula(scope), lambda e: meaning[e.name] if isinstance(e, ir.Input) else None)


def _described(text: str) -> tuple[str, str, str]:
    """`name: type state` in its parts."""
    name, _, rest = text.partition(": ")
    type_, _, state = rest.partition(" ")
    return name, type_, state


def _saved_type(text: str) -> Type:
    name = text.partition("?")[0].partition("[")[0]
    return with_suffixes(base(name), text[len(name) :]) if name in SAVED_BASE_TYPES else parse_type(text)[0]
