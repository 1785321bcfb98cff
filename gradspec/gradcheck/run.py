"""The checker's steps: emit, import, check each op in a process of its own; knows no terminal."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing.connection import Connection
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import torch
from attrs import define, field

from gradspec.backend import load_backend
from gradspec.diagnostics import SpecError
from gradspec.gradcheck.calls import Call
from gradspec.gradcheck.checks import Subject
from gradspec.gradcheck.known import Known, known_faults
from gradspec.gradcheck.numeric import adjoint_error
from gradspec.gradcheck.one import Checked, check_one, gradient_inputs
from gradspec.gradcheck.outcomes import Outcome
from gradspec.gradcheck.report import OpReport
from gradspec.gradcheck.samples import calls_of, has_gradient, in_place_of, is_own, overload_of
from gradspec.ir import Op, Program

# Why an op is not checked that cannot be run.
NO_OPERATOR = "torch has no such op: load the library that has it (--load), or say what it computes: `forward: ...;`"

_NOT_LOWERED = "cannot be lowered to Python"

_FORK = multiprocessing.get_context("fork")
# Seconds that the checks of one op may take.
LIMIT = 60.0
# How often the process of one op may end before its time.
_ENDS = 8


def check_program(program: Program, seed: int, limit: float = LIMIT) -> Iterator[OpReport]:
    """A report for each op of the program that has a node, in its order."""
    backend = load_backend("python")
    modules = [_imported(name, text) for name, text in backend.emit(program, backend.Options(skip=True)).items()]
    known = known_faults()
    with warnings.catch_warnings(), _one_thread():
        warnings.simplefilter("ignore")
        _warm_up()
        for op in program.nodes:
            subject, skipped = _subject(op, modules)
            if skipped == _NOT_LOWERED:
                skipped = _refusal(program, op) or skipped
            report = OpReport(op, skipped=skipped)
            if subject is not None:
                _check_apart(report, subject, seed, limit, known)
            yield report


@contextmanager
def _one_thread() -> Iterator[None]:
    """A pool of threads does not live on in a forked process, which would wait for it for ever."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _warm_up() -> None:
    """Load once what every op's process would else load again: what torch's transforms bring along."""
    at = (torch.ones(1, dtype=torch.float64),)
    adjoint_error(lambda x: (x * x,), at, 0)


def _subject(op: Op, modules: list[ModuleType]) -> tuple[Subject | None, str]:
    """What is checked of an op; without one, why nothing is."""
    overload = overload_of(op)
    if op.dispatch != "Default":
        return None, f"for {op.dispatch} alone"
    if overload is None and op.forward is None:
        return None, NO_OPERATOR
    if not gradient_inputs(op):
        return None, "its gradients are not implemented"
    found = _emitted(op, modules)
    if found is None:
        return None, _NOT_LOWERED
    function, node = found
    said, own = op.forward is not None, is_own(op)
    torchs = overload is not None and (not own or has_gradient(overload))
    if op.schema.is_inplace:
        kernel = _on_a_clone(overload) if overload is not None else None
        return Subject(_on_a_clone(function), kernel, node, kernel if torchs else None, writes=True, said=said, own=own), ""
    writing = in_place_of(op) if torchs else None
    if writing is not None and own and not has_gradient(writing):
        writing = None
    in_place = _on_a_clone(writing) if writing is not None else None
    return Subject(function, overload, node, overload if torchs else None, in_place, said=said, own=own), ""


def _refusal(program: Program, op: Op) -> str:
    """What the backend says of an op that it leaves out."""
    backend = load_backend("python")
    try:
        backend.emit(program.of([op]), backend.Options())
    except SpecError as error:
        return next((d.message for d in error.diagnostics if d.severity == "error"), "")
    return ""


def _emitted(op: Op, modules: list[ModuleType]) -> tuple[Callable[..., Any], type[Any]] | None:
    """The emitted function of an op, and the class that it calls; both say in their docstrings whose they are."""
    for module in modules:
        values = list(vars(module).values())
        classes = {
            v.__name__: v
            for v in values
            if isinstance(v, type)
            and (v.__doc__ or "").startswith(f"`{op.name}` with its")
            and ", under " not in (v.__doc__ or "")
        }
        for value in values:
            if isinstance(value, FunctionType) and (value.__doc__ or "").startswith(f"`{op.name}`, differentiable."):
                for name in value.__code__.co_names:
                    if name in classes:
                        return value, classes[name]
    return None


def _on_a_clone(target: Any) -> Any:
    """The function that gives what an in-place one leaves in a copy of its first argument."""

    def run(first: Any, *args: Any, **kwargs: Any) -> Any:
        copy = [t.clone() for t in first] if isinstance(first, list | tuple) else first.clone()
        made = target(copy, *args, **kwargs)
        return copy if isinstance(copy, list) else made

    return run


@define
class _Progress:
    """What a process told of its op."""

    at: int = -1
    checked: list[Checked] = field(factory=list)
    done: bool = False


def _check_apart(report: OpReport, subject: Subject, seed: int, limit: float, known: Known) -> None:
    """Check an op in a process of its own: a kernel that crashes on odd arguments, or hangs, must not end the run."""
    calls = calls_of(report.op, seed)
    until = time.monotonic() + limit
    start = 0
    for _ in range(_ENDS):
        progress, end = _in_process(report.op, subject, calls, start, seed, until)
        for checked in progress.checked:
            report.add(checked, known)
        if progress.done:
            break
        call = calls[progress.at] if 0 <= progress.at < len(calls) else None
        alone = not progress.checked or progress.checked[-1].index != progress.at
        if end == "time":
            report.notes.append(f"stopped after {limit:g} s, with {len(calls) - max(progress.at, 0)} of {len(calls)} calls to go")
            break
        if alone:
            report.notes.append(f"torch's own operator ended the process ({end}) at {call}")
        else:
            report.fail(Outcome("process", "failed", reason=f"the process ended ({end})"), str(call))
        start = progress.at + 1
    refused = report.absent.pop("call", "")
    if not report.calls:
        report.skipped = report.notes[0] if report.notes else ": ".join(["no call of it that runs", *filter(None, [refused])])
    elif not report.ran:
        report.skipped = next(iter(report.absent.values()), "no result with a gradient")


def _in_process(op: Op, subject: Subject, calls: list[Call], start: int, seed: int, until: float) -> tuple[_Progress, str]:
    """What a process told until it ended, and how it ended where that was too early."""
    receiver, sender = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_work, args=(op, subject, calls, start, seed, sender))
    process.start()
    sender.close()
    progress = _Progress()
    try:
        while not progress.done:
            if not receiver.poll(max(0.0, until - time.monotonic())):
                process.kill()
                process.join()
                return progress, "time"
            message = receiver.recv()
            match message:
                case int(at):
                    progress.at = at
                case Checked():
                    progress.checked.append(message)
                case _:
                    progress.done = True
    except EOFError:
        pass
    process.join()
    return progress, f"exit code {process.exitcode}"


def _work(op: Op, subject: Subject, calls: list[Call], start: int, seed: int, sender: Connection) -> None:
    # Kernels warn, and say why they end the process; what a person should know of it is in the report.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for index in range(start, len(calls)):
        sender.send(index)
        for checked in check_one(op, subject, calls[index], index, seed):
            sender.send(checked)
    sender.send(None)


def _imported(path: str, text: str) -> ModuleType:
    """An emitted module; it stays importable, as tools that look at its code expect."""
    folder = Path(tempfile.mkdtemp(prefix="gradspec-"))
    file = folder / path
    file.write_text(text, encoding="utf-8")
    name = f"_gradcheck_{file.stem}"
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    # With what Python itself may have put beside it.
    shutil.rmtree(folder, ignore_errors=True)
    return module
