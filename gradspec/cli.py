"""The command line: the only module that prints or exits; knows the steps, not how they work.

Modules that do the work are imported by the commands that need them: a run with nothing to do must not pay for the compiler.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from attrs import Factory, define

from gradspec import __version__

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from gradspec.diagnostics import Diagnostic
    from gradspec.pipeline import Compiled

SPEC_IS_WRONG = 1
CALL_IS_WRONG = 2


@define
class _Inputs:
    """What a command compiles."""

    specs: list[Path] = Factory(list)
    schemas: Path | None = None
    externs: tuple[str, ...] = ()
    strict: bool = False
    format: str = "text"

    @property
    def files(self) -> list[Path]:
        return [*self.specs, *([self.schemas] if self.schemas else [])]


def _fail(message: str) -> NoReturn:
    """End a run whose call is wrong."""
    click.echo(f"error: {message}", err=True)
    raise SystemExit(CALL_IS_WRONG)


def _with_inputs(command: Any) -> Any:
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


def _inputs(
    specs: Sequence[Path], schemas: str | None, torch: str | None, externs: Sequence[str], strict: bool, format: str = "text"
) -> _Inputs:
    from gradspec.load import TorchNotFound, find_torch

    try:
        if torch is not None:
            if specs or schemas:
                _fail("--torch brings its own specs and schemas; for specs against torch's operators write --schemas torch")
            found = find_torch(Path(torch) if torch else None)
            return _Inputs([found.derivatives], found.native_functions, tuple(externs), strict, format)
        if not specs:
            _fail("nothing to compile: give SPEC files, or --torch")
        if schemas == "torch" and not Path(schemas).exists():
            schemas = str(find_torch(None).native_functions)
    except TorchNotFound as error:
        _fail(str(error))
    native = Path(schemas) if schemas else None
    if native is None and any(p.suffix in (".yaml", ".yml") for p in specs):
        _fail("a derivatives.yaml needs its operators: --schemas native_functions.yaml")
    return _Inputs(list(specs), native, tuple(externs), strict, format)


def _compile(inputs: _Inputs, step: Any = None) -> Compiled:
    """Compile, and print what there is to say; ends the process if the spec is wrong."""
    from gradspec.diagnostics import SpecError
    from gradspec.pipeline import compile_files

    try:
        compiled = compile_files(inputs.specs, inputs.schemas, inputs.externs)
    except SpecError as error:
        _end_wrong(error.diagnostics, inputs, step)
    if inputs.strict and any(d.severity == "warning" for d in compiled.diagnostics):
        _end_wrong(compiled.diagnostics, inputs, step)
    return compiled


def _end_wrong(diagnostics: Sequence[Diagnostic], inputs: _Inputs, step: Any) -> NoReturn:
    if step is not None:
        step.stop()
    _print_diagnostics(diagnostics, inputs.format)
    raise SystemExit(SPEC_IS_WRONG)


def _print_diagnostics(diagnostics: Sequence[Diagnostic], format: str = "text", *, notes: bool = True) -> None:
    from gradspec.diagnostics import render_json, render_text

    if format == "json":
        click.echo(render_json(diagnostics))
        return
    shown = [d for d in diagnostics if notes or d.severity != "note"]
    for diagnostic in shown:
        click.echo(render_text(diagnostic) + "\n", err=True)
    counts = [(sum(d.severity == kind for d in shown), kind) for kind in ("error", "warning")]
    text = ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for n, kind in counts if n)
    if text:
        click.echo(text, err=True)


def _progress(text: str) -> Any:
    """A spinner on a terminal, None in a pipe."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console

    status = Console(stderr=True).status(text)
    status.start()
    return status


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gradspec")
def cli() -> None:
    """Compile derivatives of operators, written as formulas, to code for every target."""


@cli.command()
@_with_inputs
@click.option(
    "-b", "--backend", "backends", multiple=True, required=True, metavar="NAME", help="A target; see `gradspec backends`."
)
@click.option("-O", "options", multiple=True, metavar="KEY=VALUE", help="An option of the backends.")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, metavar="OUT", help="The folder for the emitted files."
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 with a diff if OUT is not what would be emitted.")
def emit(
    specs: Sequence[Path],
    schemas: str | None,
    torch: str | None,
    externs: Sequence[str],
    strict: bool,
    backends: Sequence[str],
    options: Sequence[str],
    out: Path,
    check: bool,
) -> None:
    """Emit code from specs into a folder."""
    started = time.perf_counter()
    from gradspec.backend import backend_entry_points
    from gradspec.fingerprint import fingerprint_of
    from gradspec.manifest import is_current

    inputs = _inputs(specs, schemas, torch, externs, strict)
    found = backend_entry_points()
    chosen = {name: found[name] for name in dict.fromkeys(backends) if name in found}
    for name in backends:
        if name not in found:
            _fail(f"no backend `{name}`; installed: {', '.join(found) or 'none'}")
    try:
        fingerprint = fingerprint_of(inputs.files, chosen, options, externs)
        # A run that only printed warnings is no proof that there were none.
        fingerprint["strict"] = str(strict)
    except OSError:
        fingerprint = {}  # the compiler says which file, and why
    if fingerprint and not check and is_current(out, fingerprint):
        click.echo(f"{out} is up to date ({time.perf_counter() - started:.2f} s)")
        return
    _emit(inputs, chosen, options, out, fingerprint, check=check, started=started)


def _emit(
    inputs: _Inputs,
    backends: dict[str, EntryPoint],
    options: Sequence[str],
    out: Path,
    fingerprint: dict[str, str],
    *,
    check: bool,
    started: float,
) -> None:
    from gradspec.diagnostics import SpecError
    from gradspec.writer import WriteError, check_outputs, write_outputs

    step = _progress("compiling")
    compiled = _compile(inputs, step)
    files: dict[str, str] = {}
    for name, values in _backend_options(backends, options):
        from gradspec.backend import load_backend

        if step is not None:
            step.update(f"emitting {name}")
        try:
            emitted = load_backend(name).emit(compiled.program, values)
        except SpecError as error:
            _end_wrong([*compiled.diagnostics, *error.diagnostics], inputs, step)
        shared = sorted(files.keys() & emitted.keys())
        if shared:
            _fail(f"two backends would write {', '.join(shared)}; emit them into folders of their own")
        files |= emitted
    try:
        if check:
            differences = check_outputs(out, files)
        else:
            report = write_outputs(out, files, fingerprint=fingerprint)
    except WriteError as error:
        if step is not None:
            step.stop()
        _fail(str(error))
    if step is not None:
        step.stop()
    _print_diagnostics(compiled.diagnostics, notes=False)
    if check:
        for difference in differences:
            click.echo(f"{difference.kind}: {out / difference.path}")
            if difference.diff:
                click.echo(difference.diff)
        if differences:
            raise SystemExit(SPEC_IS_WRONG)
        click.echo(f"{out} is what would be emitted")
        return
    program = compiled.program
    removed = f", {len(report.removed)} stale removed" if report.removed else ""
    click.echo(
        f"{len(program.ops)} ops, {len(program.nodes)} nodes, {len(files)} files"
        f" ({len(report.written)} written{removed}) in {out}, {time.perf_counter() - started:.2f} s"
    )
    for path in report.kept:
        click.echo(f"note: {out / path} is stale, but was edited by hand: left alone", err=True)


def _backend_options(backends: Iterable[str], options: Sequence[str]) -> list[tuple[str, Any]]:
    """Each backend's options made of `-O key=value` texts; a key goes to every backend that knows it."""
    from attrs import fields

    from gradspec.backend import load_backend

    texts: dict[str, str] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            _fail(f"-O {option}: write KEY=VALUE")
        texts[key] = value
    made: list[tuple[str, Any]] = []
    known: set[str] = set()
    for name in backends:
        try:
            backend = load_backend(name)
        except LookupError as error:
            _fail(str(error))
        values: dict[str, Any] = {}
        for attribute in fields(backend.Options):
            known.add(attribute.name)
            if attribute.name in texts:
                values[attribute.name] = _option_value(attribute.name, texts[attribute.name], attribute.default)
        try:
            made.append((name, backend.Options(**values)))
        except ValueError as error:
            _fail(f"-O: {error}")
    unknown = sorted(texts.keys() - known)
    if unknown:
        _fail(f"no chosen backend has the option {', '.join(unknown)}; known: {', '.join(sorted(known)) or 'none'}")
    return made


def _option_value(key: str, text: str, default: object) -> object:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            _fail(f"-O {key}={text}: write true or false")
        return text.lower() == "true"
    if isinstance(default, int):
        if not text.lstrip("-").isdigit():
            _fail(f"-O {key}={text}: write a whole number")
        return int(text)
    return text


@cli.command()
@_with_inputs
@click.option("--format", type=click.Choice(["text", "json"]), default="text", help="How findings are printed.")
def check(
    specs: Sequence[Path], schemas: str | None, torch: str | None, externs: Sequence[str], strict: bool, format: str
) -> None:
    """Say what is wrong with specs, and write nothing."""
    inputs = _inputs(specs, schemas, torch, externs, strict, format)
    compiled = _compile(inputs)
    _print_diagnostics(compiled.diagnostics, format)
    if format == "text":
        click.echo(f"{len(compiled.program.ops)} ops, {len(compiled.program.nodes)} nodes: no errors")


@cli.command()
@_with_inputs
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

    inputs = _inputs(specs, schemas, torch, externs, strict)
    program = _compile(inputs).program
    if ops:
        for name in ops:
            if not program.select(name).ops:
                near = did_you_mean(name, [str(o.name) for o in program.ops] + [o.name.base for o in program.ops])
                _fail(f"no op `{name}` in these specs{'; ' + near if near else ''}")
        program = Program(tuple(o for name in ops for o in program.select(name).ops))
    click.echo(print_json(program) if format == "json" else print_program(program), nl=False)


@cli.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True), metavar="FILE...")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 and name the files that would change.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the text in place of rewriting the file; `-` reads stdin.")
def fmt(files: Sequence[Path], check: bool, to_stdout: bool) -> None:
    """Lay out .grad files in their canonical form."""
    from gradspec.diagnostics import Diagnostics
    from gradspec.fmt import format_spec
    from gradspec.load import decode_source, load_source
    from gradspec.rewrite import rewrite_file

    diagnostics = Diagnostics()
    changed: list[Path] = []
    for path in files:
        if path.suffix in (".yaml", ".yml"):
            _fail(f"{path} is YAML; `gradspec import` makes a .grad file of it")
        from_stdin = str(path) == "-"
        data = sys.stdin.buffer.read() if from_stdin else b""
        source = decode_source("<stdin>", data, diagnostics) if from_stdin else load_source(path, diagnostics)
        text = None if source is None else format_spec(source, diagnostics)
        if text is None:
            continue
        if not check and (to_stdout or from_stdin):
            click.echo(text, nl=False)
            continue
        if text.encode() != (data if from_stdin else path.read_bytes()):
            changed.append(path)
            if check:
                click.echo(f"{path} would change")
                continue
            try:
                rewrite_file(path, text)
            except OSError as error:
                _fail(f"cannot write {path}: {error.strerror or error}")
            click.echo(f"{path} formatted")
    errors = [d for d in diagnostics.all if d.severity == "error"]
    _print_diagnostics(errors)
    if errors or (check and changed):
        raise SystemExit(SPEC_IS_WRONG)


@cli.command("import")
@_with_inputs
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="FILE.grad", help="The file to write, in place of stdout.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
def import_(
    specs: Sequence[Path],
    schemas: str | None,
    torch: str | None,
    externs: Sequence[str],
    strict: bool,
    out: Path | None,
    force: bool,
) -> None:
    """Turn a derivatives.yaml into .grad text that means the same."""
    from gradspec.diagnostics import Diagnostics
    from gradspec.import_yaml import import_derivatives
    from gradspec.load import load_source
    from gradspec.rewrite import rewrite_file

    inputs = _inputs(specs, schemas, torch, externs, strict)
    if len(inputs.specs) != 1 or inputs.specs[0].suffix not in (".yaml", ".yml"):
        _fail("give one derivatives.yaml, or --torch")
    if out is not None and out.exists() and not force:
        _fail(f"{out} is there already; --force replaces it")
    compiled = _compile(inputs)
    diagnostics = Diagnostics()
    source = load_source(inputs.specs[0], diagnostics)
    text = None if source is None else import_derivatives(source, inputs.externs, diagnostics)
    if text is None:
        _end_wrong(diagnostics.all, inputs, None)
    _print_diagnostics(compiled.diagnostics, notes=False)
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        rewrite_file(out, text)
    except OSError as error:
        _fail(f"cannot write {out}: {error.strerror or error}")
    click.echo(f"{sum(line.startswith('op ') for line in text.splitlines())} ops in {out}")


@cli.command("backends")
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


def main() -> None:
    """The console script's entry."""
    # Trees have no cycles: looking for some, again and again while they grow, would take a fifth of a run.
    gc.disable()
    try:
        cli(prog_name="gradspec")
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; the interpreter must not complain at exit.
        sys.stderr.close()
        raise SystemExit(0) from None


if __name__ == "__main__":
    main()
