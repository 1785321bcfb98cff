"""What the commands share: what they compile, how findings are printed, and how a run ends; knows no command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from attrs import Factory, define

if TYPE_CHECKING:
    from gradspec.diagnostics import Diagnostic
    from gradspec.pipeline import Compiled


SPEC_IS_WRONG = 1
CALL_IS_WRONG = 2


@define
class Inputs:
    """What a command compiles."""

    specs: list[Path] = Factory(list)
    schemas: Path | None = None
    externs: tuple[str, ...] = ()
    strict: bool = False
    format: str = "text"

    @property
    def files(self) -> list[Path]:
        return [*self.specs, *([self.schemas] if self.schemas else [])]


def fail(message: str) -> NoReturn:
    """End a run whose call is wrong."""
    click.echo(f"error: {message}", err=True)
    raise SystemExit(CALL_IS_WRONG)


def with_inputs(command: Any) -> Any:
    """The arguments and options that say what is compiled."""
    for decorate in reversed(
        [
            click.argument("specs", nargs=-1, type=click.Path(path_type=Path), metavar="SPEC..."),
            click.option(
                "--schemas", metavar="NATIVE.yaml", help="The operators that exist; `torch` means the installed torch's."
            ),
            click.option(
                "--torch",
                is_flag=False,
                flag_value="",
                metavar="[DIR]",
                help="Compile the spec of the installed torch, or of the site-packages folder or checkout DIR.",
            ),
            click.option("--extern", "externs", multiple=True, metavar="NAME", help="A function that formulas may call."),
            click.option("--strict", is_flag=True, help="Warnings are errors."),
        ]
    ):
        command = decorate(command)
    return command


def gather_inputs(
    specs: Sequence[Path], schemas: str | None, torch: str | None, externs: Sequence[str], strict: bool, format: str = "text"
) -> Inputs:
    """What the arguments and options say; ends the process where they do not fit together."""
    from gradspec.load import TorchNotFound, find_torch

    for name in externs:
        if not all(part.isascii() and part.isidentifier() for part in name.removeprefix("::").split("::")):
            fail(f"--extern {name}: write the name of a function, such as `f` or `mylib::f`")
    try:
        if torch is not None:
            if specs or schemas:
                fail("--torch brings its own specs and schemas; for specs against torch's operators write --schemas torch")
            found = find_torch(Path(torch) if torch else None)
            return Inputs([found.derivatives], found.native_functions, tuple(externs), strict, format)
        if not specs:
            fail("nothing to compile: give SPEC files, or --torch")
        if schemas == "torch" and not Path(schemas).exists():
            schemas = str(find_torch(None).native_functions)
    except TorchNotFound as error:
        fail(str(error))
    native = Path(schemas) if schemas else None
    if native is None and any(p.suffix in (".yaml", ".yml") for p in specs):
        fail("a derivatives.yaml needs its operators: --schemas native_functions.yaml")
    return Inputs(list(specs), native, tuple(externs), strict, format)


def compile_inputs(inputs: Inputs, step: Any = None) -> Compiled:
    """Compile, and print what there is to say; ends the process if the spec is wrong."""
    from gradspec.diagnostics import SpecError
    from gradspec.pipeline import compile_files

    try:
        compiled = compile_files(inputs.specs, inputs.schemas, inputs.externs)
    except SpecError as error:
        end_wrong(error.diagnostics, inputs, step)
    if inputs.strict and any(d.severity == "warning" for d in compiled.diagnostics):
        end_wrong(compiled.diagnostics, inputs, step)
    return compiled


def end_wrong(diagnostics: Sequence[Diagnostic], inputs: Inputs, step: Any) -> NoReturn:
    """End a run whose spec is wrong."""
    if step is not None:
        step.stop()
    print_diagnostics(diagnostics, inputs.format)
    raise SystemExit(SPEC_IS_WRONG)


_MOST_SHOWN = 1000  # findings; nobody reads more of one mistake that stands everywhere


def print_diagnostics(diagnostics: Sequence[Diagnostic], format: str = "text", *, notes: bool = True) -> None:
    """Findings to stderr with a count, or as one JSON document to stdout."""
    from gradspec.diagnostics import render_json, render_text

    if format == "json":
        click.echo(render_json(diagnostics))
        return
    shown = [d for d in diagnostics if notes or d.severity != "note"]
    for diagnostic in shown[:_MOST_SHOWN]:
        click.echo(render_text(diagnostic) + "\n", err=True)
    if len(shown) > _MOST_SHOWN:
        click.echo(f"... and {len(shown) - _MOST_SHOWN:,} more; --format json has them all\n", err=True)
    counts = [(sum(d.severity == kind for d in shown), kind) for kind in ("error", "warning")]
    text = ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for n, kind in counts if n)
    if text:
        click.echo(text, err=True)


def progress(text: str) -> Any:
    """A spinner on a terminal, None in a pipe."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console

    status = Console(stderr=True).status(text)
    status.start()
    return status
