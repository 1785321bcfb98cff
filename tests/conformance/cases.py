"""`cases: N/N`: hostile and odd specs, and what users reported, each with the outcome that is right.

The folder named by GRADSPEC_CASES, else ../shared/cases next to the checkout, may hold the cases as two .jsonl files: then its
specs are run, and a case that tests/cases does not know fails. Without such a folder the specs of tests/cases are run.

Usage: cases.py [ID]...
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from case_bindings import emit_bindings, read_bindings
from case_data import CASES, Case, load_cases, retold, shared_records
from case_python import run_python
from case_runner import Run, run_case, run_process
from case_setups import run_setup
from compile import Build, compiler_findings


def invoke(arguments: Sequence[str], folder: Path) -> Run:
    """A process for each run."""
    return run_process(arguments, folder)


def run(case: Case, folder: Path) -> list[str]:
    """What is wrong with one case; a crash of the judge itself counts as wrong."""
    folder.mkdir()
    try:
        found = run_setup(case, invoke, folder) if case.setup else run_case(case, invoke, folder)
        found += run_python(case, invoke, folder) if case.python else []
        found += emit_bindings(case, invoke, folder) if case.bindings else []
    except (OSError, LookupError, ValueError) as error:
        return [f"the judge stumbled: {type(error).__name__}: {error}"]
    return found


def compile_all(cases: Sequence[Case], root: Path) -> dict[str, list[str]]:
    """One compiler run over the output of all cases that must compile; each has a namespace of its own. Findings by case."""
    sources = {case.id: sorted((root / case.id / "out").rglob("*.cpp")) for case in cases}
    found: dict[str, list[str]] = {case.id: [] if sources[case.id] else ["nothing to compile"] for case in cases}
    everything = [source for case in cases for source in sources[case.id]]
    for finding in compiler_findings(everything, root, frozenset(), Build()):
        path = finding.path
        owner = path.relative_to(root).parts[0] if path.is_relative_to(root) else ""
        for case_id in [owner] if owner in found else list(found):
            found[case_id].append(f"does not compile: {finding}")
    return found


def main(only: Sequence[str]) -> None:
    """Run all cases, or the named ones, and print the last line."""
    told = shared_records(Path(os.environ.get("GRADSPEC_CASES", CASES.parents[2] / "shared" / "cases")))
    known = {case.id: case for case in load_cases()}
    problems: dict[str, list[str]] = {i: ["tests/cases does not know this case"] for i in told.keys() - known.keys()}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        root.chmod(0o755)
        for case in known.values():
            if only and case.id not in only:
                continue
            problems[case.id] = run(retold(case, told[case.id]) if case.id in told else case, root / case.id)
        ran = [c for c in known.values() if c.id in problems]
        compiled = [c for c in ran if c.compile]
        for case_id, findings in compile_all(compiled, root).items() if compiled else ():
            problems[case_id] += findings
        for case_id, findings in read_bindings(ran, root).items():
            problems[case_id] += findings
    for case_id, found in problems.items():
        if found:
            print(f"{case_id}: {known[case_id].title}: {known[case_id].must}" if case_id in known else case_id)
            for text in found:
                print(f"    {text}")
    passed = sum(not found for found in problems.values())
    print(f"cases: {passed}/{len(problems)}")
    raise SystemExit(0 if passed == len(problems) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
