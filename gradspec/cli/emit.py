"""`gradspec emit`; knows the steps, not how they work."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradspec.cli.backends import backend_options, choose_backends, emit_or_fail
from gradspec.cli.shared import (
    SPEC_IS_WRONG,
    STDIN,
    Inputs,
    as_path,
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
@click.option("-o", "--out", callback=as_path, required=True, metavar="OUT", help="The folder for the emitted files.")
@click.option(
    "--depfile",
    callback=as_path,
    metavar="FILE",
    help="Also write what the emitted files depend on, for Make and Ninja.",
)
@click.option(
    "--stamp",
    callback=as_path,
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
    from gradspec.fingerprint import fingerprint_of
    from gradspec.manifest import is_current

    if check and (depfile or stamp):
        fail("--check writes nothing, neither --depfile nor --stamp")
    inputs = gather_inputs(specs, schemas, torch, externs, strict)
    if STDIN in inputs.specs and (depfile or stamp):
        fail("nothing can depend on stdin: give a file, or neither --depfile nor --stamp")
    if out.exists() and not out.is_dir():
        fail(f"-o {out} is a file: give the folder for the emitted files")
    chosen = choose_backends(backends)
    try:
        fingerprint = fingerprint_of(inputs.files, chosen, options, externs, inputs.helpers)
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
    from gradspec.diagnostics import SpecError, count
    from gradspec.manifest import load_manifest
    from gradspec.writer import WriteError, check_outputs, write_outputs

    chosen = backend_options(backends, options)
    step = progress("compiling")
    compiled = compile_inputs(inputs, step)
    files: dict[str, str] = {}
    for backend, values in chosen:
        if step is not None:
            step.update(f"emitting {backend.name}")
        try:
            emitted = emit_or_fail(backend, compiled.program, values, step)
        except SpecError as error:
            end_wrong([*compiled.diagnostics, *error.diagnostics], inputs, step)
        shared = sorted(files.keys() & emitted.keys())
        if shared:
            if step is not None:
                step.stop()
            fail(f"two backends would write {', '.join(shared)}; emit them into folders of their own")
        files |= emitted
    try:
        before = load_manifest(out).fingerprint
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
        f"{count(len(program.ops), 'op')}, {count(len(program.nodes), 'node')}, {count(len(files), 'file')}"
        f" ({len(report.written)} written{removed}) in {out}, {time.perf_counter() - started:.2f} s"
    )
    for path in report.kept:
        click.echo(f"note: {out / path} is stale, but was edited by hand: left alone", err=True)
    lost = _lost(before if isinstance(before, dict) else {}, fingerprint)
    if lost:
        click.echo(f"note: {out} held {lost}, which is gone: a folder holds one emit, with all its specs and backends", err=True)


def _lost(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """What an earlier run put into the folder and this one does not, by their fingerprints; empty where there is nothing."""

    def named(fingerprint: Mapping[str, str], kind: str) -> list[str]:
        return [key.removeprefix(f"{kind} ") for key in fingerprint if key.startswith(f"{kind} ")]

    # A path is written as the call had it: the same file may have another one in another folder.
    specs = {Path(path).name for path in named(now, "input")}
    inputs = [path for path in named(before, "input") if Path(path).name not in specs]
    backends = [name for name in named(before, "backend") if name not in named(now, "backend")]
    if not now or not (inputs or backends):
        return ""
    emitted = f"what {', '.join(f'`-b {name}`' for name in (named(before, 'backend') if inputs else backends))} emitted"
    return f"{emitted} from {', '.join(inputs)}" if inputs else emitted
