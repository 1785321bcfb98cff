"""What cases ask of the Python backend and of the gradient checker: emitted here, called on tensors by case_torch.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from case_data import Case
from case_runner import SPEC, Invoke, Problems

RUNNER = Path(__file__).resolve().parent / "case_torch.py"

# Operators that formulas call: Python calls what has a schema.
HELPERS = {"B24": "pb24_backward(Tensor grad, Tensor[] ts) -> Tensor[]"}


def run_python(case: Case, invoke: Invoke, folder: Path) -> list[str]:
    """Emit Python for a spec that is in the folder, and have it called; what is wrong."""
    problems = Problems()
    if case.id in HELPERS:
        with (folder / SPEC[2]).open("a", encoding="utf-8") as file:
            file.write(f"- func: {HELPERS[case.id]}\n")
    run = invoke(("emit", *SPEC, "-b", "python", "-o", "python"), folder)
    problems.check(run.code == 0, f"emit -b python ends with {run.code}: {run.errors[:300]}")
    if run.code == 0:
        call_runner(case, folder, problems)
    return problems.found


def checker(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """Let the gradient checker look at the spec, in a torch that has the case's op."""
    call_runner(case, folder, problems)


def call_runner(case: Case, folder: Path, problems: Problems) -> None:
    """What case_torch.py says of a case, in a process of its own."""
    command = (sys.executable, str(RUNNER), case.id)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    problems.check(done.returncode == 0, f"running what was emitted ends with {done.returncode}: {done.stderr[-600:]}")
    problems.found.extend(done.stdout.splitlines())
