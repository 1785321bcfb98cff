"""Commands for who writes specs: `fmt` and `import`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from gradspec.cli.shared import (
    SPEC_IS_WRONG,
    as_path,
    compile_inputs,
    end_wrong,
    fail,
    gather_inputs,
    print_diagnostics,
    with_inputs,
)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True), metavar="FILE...")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 and name the files that would change.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the text in place of rewriting the file; `-` reads stdin.")
def fmt(files: Sequence[Path], check: bool, to_stdout: bool) -> None:
    """Lay out .grad files in their canonical form."""
    from gradspec.diagnostics import Diagnostics
    from gradspec.fmt import format_spec
    from gradspec.load import decode_source, load_source

    diagnostics = Diagnostics()
    changed: list[Path] = []
    for path in files:
        if path.suffix in (".yaml", ".yml"):
            fail(f"{path} is YAML; `gradspec import` makes a .grad file of it")
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
            _rewrite(path, text)
            click.echo(f"{path} formatted")
    errors = [d for d in diagnostics.all if d.severity == "error"]
    print_diagnostics(errors)
    if errors or (check and changed):
        raise SystemExit(SPEC_IS_WRONG)


@click.command("import")
@with_inputs
@click.option("-o", "--out", callback=as_path, metavar="FILE.grad", help="The file to write, in place of stdout.")
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
    from gradspec.diagnostics import Diagnostics, count
    from gradspec.import_yaml import import_derivatives
    from gradspec.load import load_source

    inputs = gather_inputs(specs, schemas, torch, externs, strict)
    if len(inputs.specs) != 1 or inputs.specs[0].suffix not in (".yaml", ".yml"):
        fail("give one derivatives.yaml, or --torch")
    if out is not None and out.is_dir():
        fail(f"-o {out} is a folder: give the file to write")
    if out is not None and out.exists() and not force:
        fail(f"{out} is there already; --force replaces it")
    compiled = compile_inputs(inputs)
    diagnostics = Diagnostics()
    source = load_source(inputs.specs[0], diagnostics)
    text = None if source is None else import_derivatives(source, inputs.externs, diagnostics)
    if text is None:
        end_wrong(diagnostics.all, inputs, None)
    print_diagnostics(compiled.diagnostics, notes=False)
    if out is None:
        click.echo(text, nl=False)
        return
    _rewrite(out, text)
    click.echo(f"{count(sum(line.startswith('op ') for line in text.splitlines()), 'op')} in {out}")


def _rewrite(path: Path, text: str) -> None:
    from gradspec.rewrite import rewrite_file

    try:
        rewrite_file(path, text)
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror or error}")
