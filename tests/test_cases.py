"""The cases of tests/cases, in process: all that neither compile C++ nor measure, kill or start anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parent / "conformance"))

from case_data import Case, load_cases
from case_runner import Run, run_case
from case_setups import SLOW, run_setup

from gradspec.cli import cli

CHEAP = [c for c in load_cases() if not (c.limits or c.setup in SLOW)]


def invoke(arguments: Sequence[str], folder: Path) -> Run:
    """The command line without a process of its own. What is not an exit is a crash, shown as the traceback it would be."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(cli, list(arguments))
    finally:
        os.chdir(before)
    crashed = result.exception is not None and not isinstance(result.exception, SystemExit)
    return Run(result.exit_code, result.stdout, result.stderr + (f"Traceback: {result.exception!r}" if crashed else ""))


@pytest.mark.parametrize("case", CHEAP, ids=[c.id for c in CHEAP])
def test_case(case: Case, tmp_path: Path) -> None:
    found = run_setup(case, invoke, tmp_path) if case.setup else run_case(case, invoke, tmp_path)
    assert not found, f"{case.title}: {case.must}"


def test_every_case_says_what_has_to_happen() -> None:
    # A case that expects nothing could not fail.
    for case in load_cases():
        assert case.setup or case.findings or case.emit_says or case.nodes is not None, case.id
