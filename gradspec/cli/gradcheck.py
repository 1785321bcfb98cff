"""The command `gradcheck`: emitted gradients against differences and against torch's own."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradspec.cli.shared import SPEC_IS_WRONG, compile_inputs, fail, gather_inputs, print_diagnostics, select_ops, with_inputs

if TYPE_CHECKING:
    from gradspec.gradcheck.report import OpReport
    from gradspec.ir import Program


@click.command()
@with_inputs
@click.option(
    "--op", "ops", multiple=True, metavar="NAME", help="Only this op, with or without overload, or the class of its node."
)
@click.option(
    "--load",
    "libraries",
    multiple=True,
    metavar="PATH",
    help="A shared library, Python file or module that defines ops, loaded before they are looked up.",
)
@click.option("--seed", default=0, show_default=True, help="Where random numbers begin.")
@click.option(
    "--limit",
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="What the checks of one op may take; calls that are left over are named.",
)
@click.option("--format", type=click.Choice(["text", "json"]), default="text", help="How the reports are printed.")
def gradcheck(
    specs: Sequence[Path],
    schemas: str | None,
    torch: str | None,
    externs: Sequence[str],
    strict: bool,
    ops: Sequence[str],
    libraries: Sequence[str],
    seed: int,
    limit: float,
    format: str,
) -> None:
    """Check gradients against numeric differences, and against those of torch.

    Operators are those of the installed torch, unless --schemas names others.
    """
    if schemas is None and torch is None:
        # What runs is this torch's.
        schemas = "torch"
    inputs = gather_inputs(specs, schemas, torch, externs, strict, format)
    compiled = compile_inputs(inputs)
    program = compiled.program
    for name in ops:
        if not any(o.node for o in select_ops(program, name)):
            fail(f"no op `{name}` with a gradient in these specs")
    if ops:
        program = program.of(o for name in ops for o in select_ops(program, name))
    try:
        from gradspec.gradcheck.libraries import CannotLoad, cannot_load, load_library
        from gradspec.gradcheck.places import formula_places
        from gradspec.gradcheck.run import check_program
    except ImportError as error:
        fail(f"the checker runs torch: {error}; pip install 'gradspec[torch]'")
    for number, path in enumerate(libraries):
        try:
            # What it prints is no report.
            with redirect_stdout(sys.stderr):
                load_library(path, number)
        except CannotLoad as error:
            fail(f"--load: {error}")
        except SystemExit as error:
            fail(f"--load: {cannot_load(path, error)}")
    if format == "text":
        print_diagnostics(compiled.diagnostics, notes=False)
    reports = list(_shown(check_program(program, seed, limit), program, quiet=format == "json"))
    for report in reports:
        if report.found:
            report.places = formula_places(report.op)
    if format == "json":
        from gradspec.gradcheck.report import as_json

        click.echo(as_json(reports))
    else:
        _print_table(reports)
    if not all(r.passed for r in reports):
        raise SystemExit(SPEC_IS_WRONG)


def _shown(reports: Iterable[OpReport], program: Program, *, quiet: bool) -> Iterable[OpReport]:
    """The reports as they come, with a bar on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield from reports
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(reports, "checking", total=len(program.nodes), console=Console(stderr=True))


def _print_table(reports: Sequence[OpReport]) -> None:
    from gradspec.gradcheck.report import failure_lines, summary_rows

    for report in reports:
        for line in failure_lines(report):
            click.echo(line)
    for row in summary_rows(reports):
        click.echo(row)
