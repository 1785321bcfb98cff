"""Runs one case and says what is not as expected; knows the command line, and nothing of how a case is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from attrs import evolve, field, frozen
from case_data import Case, Expected
from trees import formula

from gradspec.diagnostics import CODES

SPEC = ("derivatives.yaml", "--schemas", "native_functions.yaml")
BACKEND = ("-b", "cpp")


@frozen
class Run:
    """A run of the command line; `megabytes` is 0 where it was not measured."""

    code: int
    output: str
    errors: str
    seconds: float = 0.0
    megabytes: float = 0.0


# Arguments and the working folder.
Invoke: TypeAlias = Callable[[Sequence[str], Path], Run]


def run_process(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    prepare: Callable[[], None] | None = None,
) -> Run:
    """Run gradspec as a process of its own; `prepare` runs in the child before it starts."""
    command = [sys.executable, "-m", "gradspec", *arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, cwd=folder, stdout=out, stderr=err, preexec_fn=prepare, env={**os.environ, **(environment or {})}
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        texts = (out.read().decode(errors="replace"), err.read().decode(errors="replace"))
    return Run(process.returncode, *texts, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


@frozen
class Problems:
    """What is not as expected."""

    found: list[str] = field(factory=list)

    def check(self, right: bool, text: str) -> None:
        """Note a problem unless it is right."""
        if not right:
            self.found.append(text)


def write_spec(case: Case, folder: Path) -> None:
    """Put the two files of a case into a folder."""
    (folder / SPEC[0]).write_bytes(case.derivatives_bytes)
    (folder / SPEC[2]).write_bytes((case.schemas or "[]\n").encode("utf-8"))


def emitted(folder: Path) -> dict[str, bytes]:
    """What an emit left in a folder, by relative path, our own bookkeeping left out."""
    if not folder.is_dir():
        return {}
    paths = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in paths}


def run_case(case: Case, invoke: Invoke, folder: Path) -> list[str]:
    """Write the spec, run check, emit and ir over it, and compare; the output stays in `folder / "out"`."""
    problems = Problems()
    write_spec(case, folder)
    checked = invoke(("check", *SPEC, "--format", "json"), folder)
    behaves(case, checked, "check", problems)
    compare_findings(case, checked.output, problems)
    written = invoke(("emit", *SPEC, *BACKEND, "-O", f"namespace=case_{case.id.replace('-', '_')}", "-o", "out"), folder)
    refused = case.exit if case.emit_exit is None else case.emit_exit
    behaves(evolve(case, exit=refused), written, "emit", problems)
    codes = [f.code for f in case.findings if CODES[f.code].severity != "note"]
    for text in (*codes, *case.emit_says):
        problems.check(text in written.errors, f"emit does not say {text}: {written.errors[:200]}")
    files = emitted(folder / "out")
    if refused == 0:
        compare_files(case, files, problems)
        compare_ir(case, invoke(("ir", *SPEC, "--format", "json"), folder), problems)
        compare_twin(case, files, invoke, folder, problems)
    else:
        problems.check(not files, f"the spec is wrong, and yet there is {', '.join(files)}")
    for pattern in case.no_file:
        problems.check(not list(folder.glob(pattern)), f"there is a file {pattern}")
    return problems.found


def behaves(case: Case, run: Run, command: str, problems: Problems) -> None:
    """What is asked of every run: the exit code, no traceback, the limits."""
    problems.check("Traceback" not in run.errors + run.output, f"{command} ends in a traceback: {run.errors[-300:]}")
    problems.check(run.code == case.exit, f"{command} ends with {run.code}, not {case.exit}: {(run.errors or run.output)[:300]}")
    said = len(run.output + run.errors)
    problems.check(said <= case.longest_output, f"{command} says {said} characters")
    for unit in ("seconds", "megabytes"):
        limit = case.limits.get(unit)
        took = getattr(run, unit)
        problems.check(limit is None or took <= limit, f"{command} takes {took:.1f} {unit}, more than {limit}")


# ---------------------------------------------------------------------------------------------------------------- findings


def compare_findings(case: Case, output: str, problems: Problems) -> None:
    """Every expected diagnostic, and no other."""
    try:
        left: list[dict[str, Any]] = json.loads(output)["diagnostics"]
    except (ValueError, KeyError):
        problems.check(False, f"check gives no JSON: {output[:200]!r}")
        return
    for expected in case.findings:
        match = next((d for d in left if fits(expected, d)), None)
        problems.check(match is not None, f"missing {expected}")
        if match is not None:
            left.remove(match)
    codes = {e.code for e in case.findings} if case.more else set()
    for other in left:
        place = other["place"] or {"file": "", "line": 0, "column": 0}
        where = f"{place['file']}:{place['line']}:{place['column']}"
        problems.check(other["code"] in codes, f"not expected: {other['code']} at {where}: {other['message']} [{other['help']}]")


def fits(expected: Expected, found: Mapping[str, Any]) -> bool:
    """Whether a diagnostic is the expected one."""
    place = found["place"] or {"file": "", "line": 0, "column": 0}
    texts = " ".join([found["message"], found["label"], found["help"], *(o["label"] for o in found["others"])])
    others = {_line_column(o["place"]) for o in found["others"]}
    return (
        found["code"] == expected.code
        and (not expected.at or (_line_column(place) == expected.at and place["file"] == expected.file))
        and expected.message in found["message"]
        and expected.help in found["help"]
        and all(text in texts for text in expected.says)
        and others.issuperset(expected.others)
    )


def _line_column(place: Mapping[str, Any]) -> str:
    return f"{place['line']}:{place['column']}"


# ------------------------------------------------------------------------------------------------------------------ output


def compare_files(case: Case, files: Mapping[str, bytes], problems: Problems) -> None:
    """Texts that must or must not be in the emitted files."""
    text = b"\n".join(files.values()).decode("utf-8")
    flat = " ".join(text.split())
    for wanted in case.output_has:
        problems.check(" ".join(wanted.split()) in flat, f"the output lacks {wanted!r}")
    for unwanted in case.output_lacks:
        problems.check(unwanted not in text, f"the output has {unwanted!r}")


def compare_ir(case: Case, run: Run, problems: Problems) -> None:
    """What the IR must say of the records."""
    behaves(case, run, "ir", problems)
    if run.code != 0:
        return
    records: list[dict[str, Any]] = json.loads(run.output)["nodes"]
    by_class = {r["node"]: r for r in records if r["node"]}
    by_op = {r["op"]: r for r in records}
    if case.nodes is not None:
        problems.check(list(by_class) == case.nodes, f"the nodes are {list(by_class)}")
    for name, saved in case.saved.items():
        names = [s["name"] for s in by_class[name]["saved"]] if name in by_class else None
        problems.check(names == saved, f"{name} saves {names}, not {saved}")
    for name, wanted in case.formulas.items():
        formulas = {", ".join(d["inputs"]): d["formula"] for d in by_class[name]["derivatives"]} if name in by_class else {}
        for inputs, text in wanted.items():
            problems.check(inputs in formulas and formula(formulas[inputs]) == formula(text), f"{name}, {inputs}: {formulas}")
    for op, text in case.tangents.items():
        tangents = [t["formula"] for t in by_op[op]["tangents"]] if op in by_op else []
        problems.check([formula(t) for t in tangents] == [formula(text)], f"the tangents of {op} are {tangents}")
    for op, flags in case.outputs.items():
        found = [o["differentiable"] for o in by_op[op]["outputs"]] if op in by_op else None
        problems.check(found == flags, f"the outputs of {op} are differentiable: {found}, not {flags}")
    for schema in case.schemas_are:
        problems.check(schema in [r["schema"] for r in records], f"the schemas are {[r['schema'] for r in records]}")


def compare_twin(case: Case, files: Mapping[str, bytes], invoke: Invoke, folder: Path, problems: Problems) -> None:
    """The output of the other derivatives text, byte for byte."""
    if not case.same_as:
        return
    (folder / SPEC[0]).write_text(case.same_as, encoding="utf-8", newline="\n")
    options = ("-O", f"namespace=case_{case.id.replace('-', '_')}")
    run = invoke(("emit", *SPEC, *BACKEND, *options, "-o", "twin"), folder)
    problems.check(run.code == 0, f"the twin cannot be emitted: {run.errors[:200]}")
    problems.check(emitted(folder / "twin") == dict(files), "the output is not that of the twin")
