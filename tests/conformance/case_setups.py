"""The cases that need more than two files and three runs: folders, links, kills, second runs, whole specs, sizes."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from case_data import Case
from case_python import checker
from case_runner import BACKEND, SPEC, Invoke, Problems, Run, emitted, run_process, write_spec
from cxx_reader import read_classes

from gradspec.load import find_torch


def emit(invoke: Invoke, folder: Path, *more: str, out: str = "out") -> Run:
    """One emit of the two files of a case."""
    return invoke(("emit", *SPEC, *BACKEND, "-o", out, *more), folder)


def no_traceback(run: Run, problems: Problems) -> None:
    """Whatever the exit code."""
    problems.check("Traceback" not in run.errors + run.output, f"a traceback: {run.errors[-400:]}")


def linked_out(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """The link is followed and stays a link."""
    (folder / "real").mkdir()
    (folder / "out").symlink_to("real", target_is_directory=True)
    run = emit(invoke, folder)
    problems.check(run.code == 0, f"emit ends with {run.code}: {run.errors[:200]}")
    problems.check((folder / "out").is_symlink(), "the link is no link any more")
    problems.check("Functions.h" in emitted(folder / "real"), "nothing landed behind the link")


def read_only_out(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """A folder without write permission, and a file where the folder should be."""
    (folder / "out").mkdir()
    (folder / "out").chmod(0o555)
    run = run_process(("emit", *SPEC, *BACKEND, "-o", "out"), folder, prepare=_obey_permissions)
    (folder / "out").chmod(0o755)
    _refused(run, folder / "out", "out", problems)
    (folder / "taken").write_text("mine", encoding="utf-8")
    _refused(emit(invoke, folder, out="taken/out"), folder / "taken/out", "taken", problems)
    problems.check((folder / "taken").read_text(encoding="utf-8") == "mine", "a foreign file was changed")


def _obey_permissions() -> None:
    """Where root runs this: give up the right to write everywhere (prctl PR_CAPBSET_DROP, CAP_DAC_OVERRIDE), from exec on."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


def _refused(run: Run, out: Path, name: str, problems: Problems) -> None:
    no_traceback(run, problems)
    problems.check(run.code == 2, f"emit ends with {run.code}, not 2: {run.errors[:200]}")
    problems.check(name in run.errors, f"the path is not named: {run.errors[:200]}")
    problems.check(len(run.errors.strip().splitlines()) <= 2, f"more than a line: {run.errors[:300]}")
    problems.check(not emitted(out), f"half written: {list(emitted(out))}")


def full_disk(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """Files end after some bytes, or the process is killed: each file is the old or the new one, and the next run repairs all."""
    emit(invoke, folder)
    old = emitted(folder / "out")
    other = (case.derivatives or "").replace("grad * other", "grad * other * other" + " + grad" * 100)
    (folder / SPEC[0]).write_text(other, encoding="utf-8")
    emit(invoke, folder, out="fresh")
    new = emitted(folder / "fresh")
    problems.check(bool(old) and bool(new) and old != new, "the two specs give the same output, so nothing is tested")
    for size in (64, 512, 1024, 2048, 4096):
        run = run_process(("emit", *SPEC, *BACKEND, "-o", "out"), folder, prepare=partial(_limit_files, size))
        whole = _whole(folder / "out", old, new, f"files of at most {size} bytes", problems)
        no_traceback(run, problems)
        problems.check(run.code == 2 or whole == new, f"files of at most {size} bytes: exit code {run.code}")
    emit(invoke, folder)
    problems.check(emitted(folder / "out") == new, "the run after a full disk does not give the new output")
    _killed(case, invoke, folder, old, new, problems)


def _limit_files(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _killed(case: Case, invoke: Invoke, folder: Path, old: dict[str, bytes], new: dict[str, bytes], problems: Problems) -> None:
    spec = (folder / SPEC[0]).read_bytes()
    write_spec(case, folder)
    emit(invoke, folder)
    started = time.monotonic()
    emit(invoke, folder, out="timed")
    usual = time.monotonic() - started
    (folder / SPEC[0]).write_bytes(spec)
    command = [sys.executable, "-m", "gradspec", "emit", *SPEC, *BACKEND, "-o", "out"]
    for part in (0.5, 0.7, 0.8, 0.85, 0.9, 0.95):
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(usual * part)
        process.kill()
        process.wait()
        _whole(folder / "out", old, new, f"killed after {part} of its time", problems)
    emit(invoke, folder)
    problems.check(emitted(folder / "out") == new, "the run after a kill does not give the new output")


def _whole(out: Path, old: dict[str, bytes], new: dict[str, bytes], when: str, problems: Problems) -> dict[str, bytes]:
    found = emitted(out)
    for name in old.keys() | new.keys():
        problems.check(found.get(name) in (old.get(name), new.get(name)), f"{when}: {name} is neither the old nor the new file")
    return found


def linked_spec(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """The spec is read through a link; a link to nothing is an error of the call that names it."""
    (folder / "elsewhere").mkdir()
    (folder / SPEC[0]).rename(folder / "elsewhere/spec.yaml")
    (folder / SPEC[0]).symlink_to("elsewhere/spec.yaml")
    run = emit(invoke, folder)
    problems.check(run.code == 0 and bool(emitted(folder / "out")), f"emit ends with {run.code}: {run.errors[:200]}")
    (folder / "elsewhere/spec.yaml").unlink()
    run = emit(invoke, folder, out="second")
    no_traceback(run, problems)
    problems.check(run.code in (1, 2) and SPEC[0] in run.errors, f"a link to nothing: {run.code}, {run.errors[:200]}")
    problems.check(not emitted(folder / "second"), "a link to nothing, and yet there is output")


def other_surroundings(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """Hash seeds, locales, time zones and working folders leave no trace in the output."""
    outputs: list[dict[str, bytes]] = []
    (folder / "other").mkdir()
    surroundings: tuple[dict[str, str], ...] = (
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "1", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8"},
        {"PYTHONHASHSEED": "3", "TZ": "UTC+9"},
    )
    for number, variables in enumerate(surroundings):
        run = run_process(("emit", *SPEC, *BACKEND, "-o", f"out{number}"), folder, variables)
        problems.check(run.code == 0, f"{variables}: {run.errors[:200]}")
        outputs.append(emitted(folder / f"out{number}"))
    spec = tuple(part if part.startswith("-") else f"../{part}" for part in SPEC)
    run_process(("emit", *spec, *BACKEND, "-o", "out"), folder / "other")
    outputs.append(emitted(folder / "other/out"))
    for number, output in enumerate(outputs):
        problems.check(bool(output) and output == outputs[0], f"output {number} is not the first one")


def second_run(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """A second run touches no file; a run with another spec touches only what changes."""
    emit(invoke, folder)
    before = {p: p.stat().st_mtime_ns for p in (folder / "out").rglob("*") if p.is_file()}
    problems.check(bool(before), "nothing was emitted")
    run = emit(invoke, folder)
    problems.check(run.code == 0, f"the second run ends with {run.code}: {run.errors[:200]}")
    problems.check(before == {p: p.stat().st_mtime_ns for p in (folder / "out").rglob("*") if p.is_file()}, "files were touched")
    (folder / SPEC[0]).write_text((case.derivatives or "") + "# a comment\n", encoding="utf-8")
    emit(invoke, folder)
    shown = {p: t for p, t in before.items() if not p.name.startswith(".")}
    problems.check(all(p.stat().st_mtime_ns == t for p, t in shown.items()), "a comment in the spec touches emitted files")


def windows_head(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """The class carries an export macro everywhere but on Windows, where its constructor does."""
    emit(invoke, folder)
    # Functions.h last: the macros of the headers that it includes come before it.
    headers = sorted((n for n in emitted(folder / "out") if n.endswith(".h")), key=lambda name: name == "Functions.h")
    text = "\n".join((folder / "out" / name).read_text(encoding="utf-8") for name in headers)
    name = "Cb22Backward0"
    elsewhere, windows = read_classes(text), read_classes(text, frozenset({"_WIN32"}))
    problems.check(name in elsewhere and elsewhere[name].exported, "the class is not exported on Linux")
    problems.check(name in windows and not windows[name].exported, "the class is exported on Windows")


def old_torch(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """A torch before 2.1: its version is named, and what to pass instead."""
    site = folder / "site-packages"
    (site / "torch").mkdir(parents=True)
    (site / "torch/version.py").write_text("__version__ = '2.0.1'\n", encoding="utf-8")
    (site / "torchgen/packaged/ATen/native").mkdir(parents=True)
    (site / "torchgen/packaged/ATen/native/native_functions.yaml").write_text("[]\n", encoding="utf-8")
    run = invoke(("check", "--torch", str(site)), folder)
    no_traceback(run, problems)
    problems.check(run.code == 2, f"check ends with {run.code}, not 2: {run.errors[:200]}")
    for text in ("derivatives.yaml", "2.0.1"):
        problems.check(text in run.errors, f"{text} is not named: {run.errors[:300]}")


def edited_output(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """`--check` names the file that someone has edited."""
    emit(invoke, folder)
    clean = emit(invoke, folder, "--check")
    problems.check(clean.code == 0, f"--check of a fresh output ends with {clean.code}: {clean.errors[:200]}")
    files = emitted(folder / "out")
    for name, content in files.items():
        problems.check(b"@generated" in content.split(b"\n")[0], f"{name} does not say that it is generated")
    path = folder / "out/Functions.h"
    path.write_bytes(path.read_bytes() + b"// mine\n")
    edited = path.read_bytes()
    run = emit(invoke, folder, "--check")
    no_traceback(run, problems)
    problems.check(run.code == 1, f"--check ends with {run.code}, not 1")
    problems.check("Functions.h" in run.output + run.errors, "the edited file is not named")
    problems.check("mine" in run.output + run.errors, "the edit is not shown")
    problems.check(path.read_bytes() == edited, "--check wrote")


def seeds(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """The spec of the installed torch under five hash seeds."""
    outputs = []
    for seed in range(5):
        run = run_process(("emit", "--torch", *BACKEND, "-o", f"out{seed}"), folder, {"PYTHONHASHSEED": str(seed)})
        problems.check(run.code == 0, f"seed {seed}: {run.errors[:200]}")
        outputs.append(emitted(folder / f"out{seed}"))
    for seed, output in enumerate(outputs):
        problems.check(bool(output) and output == outputs[0], f"seed {seed} gives another output")


def ten_thousand(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """Ten thousand entries within the limits, and growth in proportion to a thousand."""
    _growth(case, folder, "grad * other", problems)


def ten_thousand_findings(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """The same, with a warning for each entry: advice must not cost more than the work."""
    _growth(case, folder, "foo_backward(grad, other)", problems)


def _growth(case: Case, folder: Path, formula: str, problems: Problems) -> None:
    took: dict[int, Run] = {}
    for count in (1_000, 10_000):
        spec = folder / str(count)
        spec.mkdir()
        schemas = [f"foo{n}(Tensor self, Tensor other) -> Tensor" for n in range(count)]
        entries = "".join(f"- name: {s}\n  self: {formula}\n  other: grad * self\n" for s in schemas)
        (spec / SPEC[0]).write_text(entries, encoding="utf-8")
        (spec / SPEC[2]).write_text("".join(f"- func: {s}\n" for s in schemas), encoding="utf-8")
        took[count] = run = run_process(("emit", *SPEC, *BACKEND, "-o", "out"), spec)
        problems.check(run.code == 0, f"{count} entries: {run.errors[:200]}")
    much = took[10_000]
    problems.check(much.seconds <= case.limits["seconds"], f"{much.seconds:.1f} s")
    problems.check(much.megabytes <= case.limits["megabytes"], f"{much.megabytes:.0f} MB")
    growth = much.seconds / took[1_000].seconds
    problems.check(growth <= 13, f"ten times the entries take {growth:.1f} times as long")


def shards(case: Case, invoke: Invoke, folder: Path, problems: Problems) -> None:
    """The spec of the installed torch in several files, and one entry more: one shard of nodes changes, and one of bindings."""
    files = find_torch(None)
    schema = "cb38(Tensor self, Tensor other) -> Tensor"
    grown = {SPEC[0]: f"- name: {schema}\n  self: grad * other\n  other: grad * self\n", SPEC[2]: f"- func: {schema}\n"}
    for count in (2, 5, 7):
        outputs = []
        for out, grows in ((f"before{count}", False), (f"after{count}", True)):
            for name, source in ((SPEC[0], files.derivatives), (SPEC[2], files.native_functions)):
                more = f"\n{grown[name]}".encode() if grows else b""
                (folder / name).write_bytes(source.read_bytes() + more)
            run = run_process(("emit", *SPEC, "-b", "cpp", "-b", "bindings", "-O", f"shards={count}", "-o", out), folder)
            problems.check(run.code == 0, f"emit ends with {run.code}: {run.errors[-300:]}")
            outputs.append(emitted(folder / out))
        before, after = outputs
        problems.check(before.keys() == after.keys(), f"{count} shards: files come or go: {before.keys() ^ after.keys()}")
        # The stub is one file for all, and nobody compiles it.
        changed = sorted(name for name in after if before.get(name) != after[name] and not name.endswith(".pyi"))
        kinds = [name.translate(str.maketrans("", "", "_0123456789")) for name in changed]
        problems.check(kinds == ["Functions.cpp", "Functions.h", "pythonfunctions.cpp"], f"{count} shards: {changed} change")
        sources = [sum(name.startswith(kind) and name.endswith(".cpp") for name in after) for kind in ("Functions", "python_fun")]
        problems.check(sources == [count, count], f"asked for {count} files, there are {sources} of nodes and bindings")


SETUPS: dict[str, Callable[[Case, Invoke, Path, Problems], None]] = {
    function.__name__: function
    for function in (
        linked_out, read_only_out, full_disk, linked_spec, other_surroundings, second_run, windows_head, old_torch, edited_output,
        seeds, ten_thousand, ten_thousand_findings, shards, checker,
    )
}  # fmt: skip

# Those that start processes of their own, kill them or take long: not for the quick tests.
SLOW = frozenset("read_only_out full_disk other_surroundings seeds ten_thousand ten_thousand_findings shards checker".split())


def run_setup(case: Case, invoke: Invoke, folder: Path) -> list[str]:
    """Run a case that has a setup of its own.

    Raises:
        KeyError: there is no such setup.
    """
    problems = Problems()
    if case.derivatives is not None:
        write_spec(case, folder)
    SETUPS[case.setup](case, invoke, folder, problems)
    return problems.found
