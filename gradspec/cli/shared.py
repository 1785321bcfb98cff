"""What the commands share: what they compile, how findings are printed, and how a run ends; knows no command."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from attrs import Factory, define

if TYPE_CHECKING:
    from gradspec.diagnostics import Diagnostic, Diagnostics
    from gradspec.ir import Op, Program
    from gradspec.pipeline import Compiled, Helpers
    from gradspec.source import Source


SPEC_IS_WRONG = 1
CALL_IS_WRONG = 2
STDIN = Path("-")


@define
class Inputs:
    """What a command compiles."""

    specs: list[Path] = Factory(list)
    schemas: Path | None = None
    externs: tuple[str, ...] = ()
    strict: bool = False
    format: str = "text"
    helpers: Helpers = "prelude"

    @property
    def files(self) -> list[Path]:
        return [*self.specs, *([self.schemas] if self.schemas else [])]


def fail(message: str) -> NoReturn:
    """End a run whose call is wrong."""
    click.echo(f"error: {message}", err=True)
    raise SystemExit(CALL_IS_WRONG)


def _only_one(_: click.Context, option: click.Parameter, values: Sequence[str]) -> str | None:
    if len(values) > 1:
        fail(f"--{option.name} is given {len(values)} times; all operators come from one file")
    return values[0] if values else None


def _keep(context: click.Context, option: click.Parameter, value: str) -> None:
    """Keep an option's value for `gather_inputs`, so that commands need not hand it on."""
    context.meta[f"gradspec.{option.name}"] = value


def as_path(_: click.Context, option: click.Parameter, value: str | None) -> Path | None:
    """The path that an option names; ends the process where the text is empty, which would mean the folder that we are in."""
    if value is None:
        return None
    if not value.strip():
        fail(f"{option.opts[0]} is empty: write a path; the folder that you are in is `.`")
    return Path(value)


def with_inputs(command: Any) -> Any:
    """The arguments and options that say what is compiled."""
    for decorate in reversed(
        [
            click.argument("specs", nargs=-1, type=click.Path(path_type=Path), metavar="SPEC..."),
            click.option(
                "--schemas",
                multiple=True,
                callback=_only_one,
                metavar="NATIVE.yaml",
                help="The operators that exist; `torch` means the installed torch's.",
            ),
            click.option(
                "--torch",
                is_flag=False,
                flag_value="",
                metavar="[DIR]",
                help="Compile the spec of the installed torch, or of the site-packages folder or checkout DIR.",
            ),
            click.option("--extern", "externs", multiple=True, metavar="NAME", help="A function that formulas may call."),
            click.option(
                "--helpers",
                type=click.Choice(["prelude", "torch"]),
                default="prelude",
                show_default=True,
                expose_value=False,
                callback=_keep,
                help="Whose functions formulas call: gradspec's own, or those inside of PyTorch, for its own build.",
            ),
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

    helpers = click.get_current_context().meta["gradspec.helpers"]
    for name in externs:
        if not all(part.isascii() and part.isidentifier() for part in name.removeprefix("::").split("::")):
            fail(f"--extern {name}: write the name of a function, such as `f` or `mylib::f`")
    try:
        if torch is not None:
            if specs or schemas or torch == "-" or Path(torch).is_file():
                fail("--torch brings its own specs and schemas; for specs against torch's operators write --schemas torch")
            found = find_torch(Path(torch) if torch else None)
            return Inputs([found.derivatives], found.native_functions, tuple(externs), strict, format, helpers)
        if not specs:
            fail("nothing to compile: give SPEC files, or --torch")
        _no_file_twice(specs)
        native = _schemas_file(schemas) if schemas is not None else None
    except TorchNotFound as error:
        fail(str(error))
    if native is None and any(p.suffix in (".yaml", ".yml") for p in specs):
        fail("a derivatives.yaml needs its operators: --schemas native_functions.yaml")
    return Inputs(list(specs), native, tuple(externs), strict, format, helpers)


def _no_file_twice(specs: Sequence[Path]) -> None:
    seen: dict[Path, Path] = {}
    for path in specs:
        other = seen.setdefault(path.absolute() if path == STDIN else Path(os.path.realpath(path)), path)
        if other is not path:
            fail(f"{path} is given twice" if other == path else f"{other} and {path} are the same file: give it once")


def _schemas_file(name: str) -> Path:
    from gradspec.load import find_torch

    path = Path(name)
    if not name.strip():
        fail("--schemas is empty: write native_functions.yaml, or `torch`")
    if name == "torch" and not path.exists():
        return find_torch(None).native_functions
    if path.suffix not in (".yaml", ".yml") and not path.exists():
        fail(f"--schemas {name}: there is no such file; `--schemas torch` means the operators of the installed torch")
    return path


def compile_inputs(inputs: Inputs, step: Any = None) -> Compiled:
    """Compile, and print what there is to say; ends the process if the spec is wrong."""
    from gradspec.diagnostics import Diagnostics, SpecError
    from gradspec.pipeline import compile_files, compile_sources

    try:
        if STDIN in inputs.specs:
            from gradspec.load import load_source

            diagnostics = Diagnostics()
            sources = [read_stdin(diagnostics) if p == STDIN else load_source(p, diagnostics) for p in inputs.specs]
            schemas = load_source(inputs.schemas, diagnostics) if inputs.schemas else None
            diagnostics.raise_errors()
            compiled = compile_sources(
                [s for s in sources if s is not None], schemas, inputs.externs, diagnostics, inputs.helpers
            )
        else:
            compiled = compile_files(inputs.specs, inputs.schemas, inputs.externs, inputs.helpers)
    except SpecError as error:
        end_wrong(error.diagnostics, inputs, step)
    if inputs.strict and any(d.severity == "warning" for d in compiled.diagnostics):
        end_wrong(compiled.diagnostics, inputs, step)
    return compiled


# The ending says what language it is in.
_STDIN_NAME = "<stdin>.grad"


def read_stdin(diagnostics: Diagnostics) -> Source | None:
    """What comes from stdin, as the text of a .grad file; None where it is no such text, with the reason in `diagnostics`."""
    from gradspec.load import MAX_FILE_BYTES, decode_source
    from gradspec.source import Source, Span

    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        nowhere = Span(Source(_STDIN_NAME, ""), 0, 0)
        diagnostics.add(
            "GS0803", f"{_STDIN_NAME} has more than {MAX_FILE_BYTES:,} bytes", nowhere, help="split the spec into several files"
        )
        return None
    return decode_source(_STDIN_NAME, data, diagnostics)


def select_ops(program: Program, name: str) -> tuple[Op, ...]:
    """The ops called `name`, with or without overload, or those whose node is of that class."""
    return program.select(name).ops or tuple(op for op in program.ops if op.node == name)


def end_wrong(diagnostics: Sequence[Diagnostic], inputs: Inputs, step: Any) -> NoReturn:
    """End a run whose spec is wrong, or one that is strict and has warnings."""
    if step is not None:
        step.stop()
    command = click.get_current_context().info_name
    print_diagnostics(diagnostics, inputs.format, notes=command == "check")
    if inputs.format == "text" and not any(d.severity == "error" for d in diagnostics):
        nothing = {"emit": ": nothing was emitted", "import": ": nothing was imported"}.get(command or "", "")
        click.echo(f"error: --strict takes warnings for errors{nothing}", err=True)
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
