"""Commands that look and change nothing: `check`, `ir` and `backends`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from gradspec.cli.backends import backend_options, choose_backends, emit_or_fail
from gradspec.cli.shared import compile_inputs, end_wrong, fail, gather_inputs, print_diagnostics, select_ops, with_inputs


@click.command()
@with_inputs
@click.option("-b", "--backend", "backends", multiple=True, metavar="NAME", help="Also say what this target cannot express.")
@click.option("-O", "options", multiple=True, metavar="KEY=VALUE", help="An option of the backends.")
@click.option("--format", type=click.Choice(["text", "json"]), default="text", help="How findings are printed.")
def check(
    specs: Sequence[Path],
    schemas: str | None,
    torch: str | None,
    externs: Sequence[str],
    strict: bool,
    backends: Sequence[str],
    options: Sequence[str],
    format: str,
) -> None:
    """Say what is wrong with specs, and write nothing; `-` reads stdin as .grad."""
    from gradspec.diagnostics import Diagnostics, SpecError, count
    from gradspec.ir import Call, walk

    inputs = gather_inputs(specs, schemas, torch, externs, strict, format)
    chosen = choose_backends(backends)
    if options and not chosen:
        fail("-O is an option of a backend: name it with -b")
    with_values = backend_options(chosen, options)
    compiled = compile_inputs(inputs)
    refusals = Diagnostics()
    for backend, values in with_values:
        try:
            emit_or_fail(backend, compiled.program, values)
        except SpecError as error:
            refusals.extend(error.diagnostics)
    if refusals.has_errors:
        refusals.extend(compiled.diagnostics)
        end_wrong(refusals.all, inputs, None)
    print_diagnostics(compiled.diagnostics, format)
    if format == "text":
        program = compiled.program
        targets = f" for {', '.join(chosen)}" if chosen else ""
        click.echo(f"{count(len(program.ops), 'op')}, {count(len(program.nodes), 'node')}: no errors{targets}")
        formulas = [d.written for op in program.ops for d in op.derivatives] + [j.formula for op in program.ops for j in op.jvps]
        calls = (e for formula in formulas for e in walk(formula) if isinstance(e, Call))
        if inputs.schemas is None and any(c.function.startswith("at::") for c in calls):
            click.echo("note: names of ATen were not checked: --schemas torch does", err=True)


@click.command()
@with_inputs
@click.option("--format", type=click.Choice(["text", "json"]), default="text", help="Text to read, or JSON (docs/ir.md).")
@click.option(
    "--op", "ops", multiple=True, metavar="NAME", help="Only this op, with or without overload, or the class of its node."
)
def ir(
    specs: Sequence[Path],
    schemas: str | None,
    torch: str | None,
    externs: Sequence[str],
    strict: bool,
    format: str,
    ops: Sequence[str],
) -> None:
    """Print the resolved program."""
    from gradspec.diagnostics import did_you_mean
    from gradspec.printer import print_json, print_program

    inputs = gather_inputs(specs, schemas, torch, externs, strict)
    program = compile_inputs(inputs).program
    if ops:
        for name in ops:
            if not select_ops(program, name):
                known = [n for o in program.ops for n in (str(o.name), o.name.base, o.node) if n]
                near = did_you_mean(name, known)
                fail(f"no op `{name}` in these specs{'; ' + near if near else ''}")
        program = program.of(o for name in ops for o in select_ops(program, name))
    click.echo(print_json(program) if format == "json" else print_program(program), nl=False)


@click.command("backends")
def backends_() -> None:
    """List the installed backends and their options."""
    from attrs import fields

    from gradspec.backend import backend_entry_points, load_backend

    broken = []
    for name in backend_entry_points():
        try:
            backend = load_backend(name)
        except LookupError as error:
            broken.append(str(error))
            continue
        click.echo(f"{name}: {backend.description}")
        for attribute in fields(backend.Options):
            click.echo(f"  -O {attribute.name}={attribute.default}  {attribute.metadata.get('help', '')}".rstrip())
    if broken:
        fail("\nerror: ".join(broken))
