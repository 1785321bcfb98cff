"""`gradspec emit`; knows the steps, not how they work."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradspec.cli.shared import (
    SPEC_IS_WRONG,
    Inputs,
    compile_inputs,
    end_wrong,
    fail,
    gather_inputs,
    print_diagnostics,
    progress,
    with_inputs,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@click.command()
@with_inputs
@click.option(
    "-b", "--backend", "backends", multiple=True, required=True, metavar="NAME", help="A target; see `gradspec backends`."
)
@click.option("-O", "options", multiple=True, metavar="KEY=VALUE", help="An option of the backends.")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, metavar="OUT", help="The folder for the emitted files."
)
@click.option(
    "--depfile",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write what the emitted files depend on, for Make and Ninja.",
)
@click.option(
    "--stamp",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file to touch when all is well, and to depend on what the emitted files do: these keep their times where they can.",
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
    depfile: Path | None,
    stamp: Path | None,
    check: bool,
) -> None:
    """Emit code from specs into a folder."""
    started = time.perf_counter()
    from gradspec.backend import backend_entry_points
    from gradspec.fingerprint import fingerprint_of
    from gradspec.manifest import is_current

    if check and (depfile or stamp):
        fail("--check writes nothing, neither --depfile nor --stamp")
    inputs = gather_inputs(specs, schemas, torch, externs, strict)
    found = backend_entry_points()
    chosen = {name: found[name] for name in dict.fromkeys(backends) if name in found}
    for name in backends:
        if name not in found:
            fail(f"no backend `{name}`; installed: {', '.join(found) or 'none'}")
    try:
        fingerprint = fingerprint_of(inputs.files, chosen, options, externs)
        # A run that only printed warnings is no proof that there were none.
        fingerprint["strict"] = str(strict)
    except OSError:
        fingerprint = {}  # the compiler says which file, and why
    if fingerprint and not check and is_current(out, fingerprint):
        click.echo(f"{out} is up to date ({time.perf_counter() - started:.2f} s)")
    else:
        _emit(inputs, chosen, options, out, fingerprint, check=check, started=started)
    if depfile or stamp:
        _tell_build(inputs, chosen, out, depfile, stamp)


def _tell_build(inputs: Inputs, backends: dict[str, EntryPoint], out: Path, depfile: Path | None, stamp: Path | None) -> None:
    """Write the depfile, and touch the stamp last: it says that all else is done."""
    from gradspec.depfile import render_depfile
    from gradspec.fingerprint import code_files
    from gradspec.manifest import load_manifest
    from gradspec.rewrite import rewrite_file

    try:
        if depfile:
            targets = [stamp] if stamp else [out / path for path in load_manifest(out).files]
            rewrite_file(depfile, render_depfile(targets, [*inputs.files, *code_files(backends)]))
        if stamp:
            stamp.touch()
    except OSError as error:
        fail(f"cannot write {error.filename or depfile}: {error.strerror or error}")


def _emit(
    inputs: Inputs,
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

    step = progress("compiling")
    compiled = compile_inputs(inputs, step)
    files: dict[str, str] = {}
    for name, values in _backend_options(backends, options):
        from gradspec.backend import load_backend

        if step is not None:
            step.update(f"emitting {name}")
        try:
            emitted = load_backend(name).emit(compiled.program, values)
        except SpecError as error:
            end_wrong([*compiled.diagnostics, *error.diagnostics], inputs, step)
        shared = sorted(files.keys() & emitted.keys())
        if shared:
            fail(f"two backends would write {', '.join(shared)}; emit them into folders of their own")
        files |= emitted
    try:
        if check:
            differences = check_outputs(out, files)
        else:
            report = write_outputs(out, files, fingerprint=fingerprint)
    except WriteError as error:
        if step is not None:
            step.stop()
        fail(str(error))
    if step is not None:
        step.stop()
    print_diagnostics(compiled.diagnostics, notes=False)
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
            fail(f"-O {option}: write KEY=VALUE")
        texts[key] = value
    made: list[tuple[str, Any]] = []
    known: set[str] = set()
    for name in backends:
        try:
            backend = load_backend(name)
        except LookupError as error:
            fail(str(error))
        values: dict[str, Any] = {}
        for attribute in fields(backend.Options):
            known.add(attribute.name)
            if attribute.name in texts:
                values[attribute.name] = _option_value(attribute.name, texts[attribute.name], attribute.default)
        try:
            made.append((name, backend.Options(**values)))
        except ValueError as error:
            fail(f"-O: {error}")
    unknown = sorted(texts.keys() - known)
    if unknown:
        fail(f"no chosen backend has the option {', '.join(unknown)}; known: {', '.join(sorted(known)) or 'none'}")
    return made


def _option_value(key: str, text: str, default: object) -> object:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            fail(f"-O {key}={text}: write true or false")
        return text.lower() == "true"
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            fail(f"-O {key}={text}: write a whole number")
    return text
