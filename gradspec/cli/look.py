"""Commands that look and change nothing: `check`, `ir` and `backends`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from gradspec.cli.shared import compile_inputs, fail, gather_inputs, print_diagnostics, with_inputs


@click.command()
@with_inputs
@click.option("--format", type=click.Choice(["text", "json"]), default="text", help="How findings are printed.")
def check(
    specs: Sequence[Path], schemas: str | None, torch: str | None, externs: Sequence[str], strict: bool, format: str
) -> None:
    """Say what is wrong with specs, and write nothing."""
    inputs = gather_inputs(specs, schemas, torch, externs, strict, format)
    compiled = compile_inputs(inputs)
    print_diagnostics(compiled.diagnostics, format)
    if format == "text":
        click.echo(f"{len(compiled.program.ops)} ops, {len(compiled.program.nodes)} nodes: no errors")


@click.command()
@with_inputs
@click.option("--format", type=click.Choice(["text", "json"]), default="text", help="Text to read, or JSON (docs/ir.md).")
@click.option("--op", "ops", multiple=True, metavar="NAME", help="Only this op, with or without overload.")
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
    from gradspec.ir import Program
    from gradspec.printer import print_json, print_program

    inputs = gather_inputs(specs, schemas, torch, externs, strict)
    program = compile_inputs(inputs).program
    if ops:
        for name in ops:
            if not program.select(name).ops:
                near = did_you_mean(name, [str(o.name) for o in program.ops] + [o.name.base for o in program.ops])
                fail(f"no op `{name}` in these specs{'; ' + near if near else ''}")
        program = Program(tuple(o for name in ops for o in program.select(name).ops))
    click.echo(print_json(program) if format == "json" else print_program(program), nl=False)


@click.command("backends")
def backends_() -> None:
    """List the installed backends and their options."""
    from attrs import fields

    from gradspec.backend import backend_entry_points, load_backend

    for name in backend_entry_points():
        try:
            backend = load_backend(name)
        except (LookupError, ImportError) as error:
            click.echo(f"{name}: cannot be loaded: {error}", err=True)
            continue
        click.echo(f"{name}: {backend.description}")
        for attribute in fields(backend.Options):
            click.echo(f"  -O {attribute.name}={attribute.default}  {attribute.metadata.get('help', '')}".rstrip())
