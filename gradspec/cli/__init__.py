"""The command line: the only package that prints or exits; knows the steps, not how they work.

Modules that do the work are imported by the commands that need them: a run with nothing to do must not pay for the compiler.
"""

from __future__ import annotations

import gc
import sys

import click

from gradspec import __version__
from gradspec.cli.author import fmt, import_
from gradspec.cli.emit import emit
from gradspec.cli.gradcheck import gradcheck
from gradspec.cli.look import backends_, check, ir


def _print_cmake_folder(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        from gradspec.load import cmake_folder

        click.echo(cmake_folder())
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gradspec")
@click.option(
    "--cmake-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_cmake_folder,
    help="Print the folder of GradspecGenerate.cmake, and exit.",
)
def cli() -> None:
    """Compile derivatives of operators, written as formulas, to code for every target."""


for command in (emit, check, ir, fmt, import_, gradcheck, backends_):
    cli.add_command(command)


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
