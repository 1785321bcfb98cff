"""Specs to findings, in a form that tests compare: `GS0401 2:16`."""

from __future__ import annotations

from collections.abc import Sequence

from gradspec.diagnostics import Diagnostic, SpecError
from gradspec.ir import Op, Program
from gradspec.pipeline import compile_sources
from gradspec.source import Source


def diagnose(text: str, schemas: str | None = None, externs: Sequence[str] = ()) -> tuple[Program | None, tuple[Diagnostic, ...]]:
    """What a .grad text, or with `schemas` a derivatives.yaml, compiles to (None where it has errors), and all findings."""
    source = Source("x.grad" if schemas is None else "d.yaml", text)
    try:
        compiled = compile_sources([source], None if schemas is None else Source("n.yaml", schemas), externs)
    except SpecError as error:
        return None, error.diagnostics
    return compiled.program, compiled.diagnostics


def place(diagnostic: Diagnostic) -> str:
    """`CODE line:column`."""
    return f"{diagnostic.code.id} {diagnostic.span.line}:{diagnostic.span.column}" if diagnostic.span else diagnostic.code.id


def findings(text: str, schemas: str | None = None) -> list[str]:
    """The places of all findings, in order."""
    return [place(d) for d in diagnose(text, schemas)[1]]


def compile_ops(text: str, schemas: str | None = None) -> dict[str, Op]:
    """The ops of a right spec by name; under a dispatch key of its own, `name KEY`."""
    program, found = diagnose(text, schemas)
    assert program is not None, [f"{place(d)} {d.message}" for d in found]
    return {f"{op.name}{'' if op.dispatch == 'Default' else ' ' + op.dispatch}": op for op in program.ops}


def compile_op(text: str, schemas: str | None = None) -> Op:
    """The only op of a right spec."""
    (op,) = compile_ops(text, schemas).values()
    return op
