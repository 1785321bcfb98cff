"""The whole compiler: files in, Program out; everything else is a step of this."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import evolve, frozen

from gradspec import syntax as s
from gradspec.check import check_class_names
from gradspec.check_types import check_function_types, check_types, sound_items
from gradspec.diagnostics import Diagnostic, Diagnostics
from gradspec.ir import Function, Op, Program, called_functions
from gradspec.load import load_source
from gradspec.op_table import OpTable
from gradspec.parse import parse_spec
from gradspec.prelude import prelude_functions
from gradspec.resolve import resolve_specs
from gradspec.resolve_functions import resolve_functions
from gradspec.signatures import Signatures
from gradspec.source import Source, Span
from gradspec.suspect import check_suspects
from gradspec.torch_yaml import parse_derivatives, parse_native_functions
from gradspec.variants import derive_foreach, derive_view_copies
from gradspec.verify import verify_program

# Whose functions formulas call, where a spec does not define them: gradspec's own, or those of PyTorch's C++.
Helpers: TypeAlias = Literal["prelude", "torch"]


@frozen
class Compiled:
    """What a run made of its specs: a program, and what there is to say about them (no errors)."""

    program: Program
    diagnostics: tuple[Diagnostic, ...]


def compile_files(
    specs: Iterable[Path], schemas: Path | None = None, externs: Iterable[str] = (), helpers: Helpers = "torch"
) -> Compiled:
    """Compile spec files (`.grad`, or derivatives.yaml) against the operators of a native_functions.yaml, if one is given.

    Raises:
        SpecError: a file cannot be read or is wrong; carries every finding.
    """
    diagnostics = Diagnostics()
    sources = [load_source(path, diagnostics) for path in specs]
    schema_source = load_source(schemas, diagnostics) if schemas is not None else None
    diagnostics.raise_errors()
    return compile_sources([x for x in sources if x is not None], schema_source, externs, diagnostics, helpers)


def compile_sources(
    sources: Iterable[Source],
    schemas: Source | None = None,
    externs: Iterable[str] = (),
    diagnostics: Diagnostics | None = None,
    helpers: Helpers = "torch",
) -> Compiled:
    """Compile texts that are in memory.

    Raises:
        SpecError: a text is wrong; carries every finding.
    """
    found = Diagnostics() if diagnostics is None else diagnostics
    table = OpTable({}, found) if schemas is None else parse_native_functions(schemas, found)
    specs = [parse_source(source, found) for source in sources]
    unread = frozenset[str]().union(*[spec.unread for spec in specs])
    known = unread.union(externs)
    written = [f for spec in specs for f in spec.functions]
    own = resolve_functions(written, table, known.union(*[spec.externs for spec in specs]), found)
    functions = own
    if helpers == "prelude":
        functions += prelude_functions(table, [f.name for f in own])
    ops = resolve_specs(specs, table, known | {f.name for f in functions}, found)
    signatures = Signatures(table.named, functions, unread)
    sound = sound_items(specs, found)
    check_function_types([pair for pair in zip(written, own, strict=True) if pair[0] in sound], signatures, found)
    check_types([evolve(spec, entries=tuple([e for e in spec.entries if e in sound])) for spec in specs], ops, signatures, found)
    found.raise_errors()
    check_suspects(specs, ops, found)
    ops += tuple(derive_view_copies(ops, table))
    ops += tuple(derive_foreach(ops, table))
    check_class_names(ops, found)
    found.raise_errors()
    called = _called(functions[len(own) :], own, ops)
    program = Program(ops, table.named, (*own, *called), own_helpers=helpers == "prelude")
    verify_program(program)
    return Compiled(program, found.all)


def _called(functions: Sequence[Function], own: Iterable[Function], ops: Iterable[Op]) -> tuple[Function, ...]:
    """Of the prelude's functions, those that the specs' functions and ops call."""
    return called_functions(functions, [*[e for op in ops for e in op.formulas], *[e for f in own for e in f.expressions]])


def parse_source(source: Source, diagnostics: Diagnostics) -> s.Spec:
    """One spec, in the language that the ending of its path says."""
    spec = parse_spec(source, diagnostics) if source.path.endswith(".grad") else parse_derivatives(source, diagnostics)
    if not spec.entries and not spec.functions and not diagnostics.has_errors:
        diagnostics.add("GS0111", f"{source.path} has no entries", Span(source, 0, 0))
    return spec
