"""The checker's steps: emit, import, sample, check each op; knows no terminal."""

from __future__ import annotations

import multiprocessing
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from attrs import field, frozen

from gradspec.backend import load_backend
from gradspec.gradcheck.checks import Outcome, check_call
from gradspec.gradcheck.numeric import adjoint_error
from gradspec.gradcheck.samples import Call, calls_of, overload_of
from gradspec.ir import Op, Program
from gradspec.types import is_tensor_like

_FORK = multiprocessing.get_context("fork")


@frozen
class OpReport:
    """What was checked of one op. `skipped` says why nothing was."""

    op: Op
    calls: int
    worst: dict[str, float] = field(factory=dict)
    failures: tuple[tuple[Outcome, str], ...] = ()
    skipped: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.failures


def check_program(program: Program, seed: int) -> Iterator[OpReport]:
    """A report for each op of the program that has a node, in its order."""
    backend = load_backend("python")
    modules = [_imported(name, text) for name, text in backend.emit(program, backend.Options(skip=True)).items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm_up()
        for op in program.nodes:
            yield _check_apart(op, modules, seed)


def _warm_up() -> None:
    """Load once what every op's process would else load again: torch's samples, and what its transforms bring along."""
    from torch.testing._internal import common_methods_invocations  # noqa: F401

    at = (torch.ones(1, dtype=torch.float64),)
    adjoint_error(lambda x: (x * x,), at, 0)


def _check_apart(op: Op, modules: list[ModuleType], seed: int) -> OpReport:
    """Check an op in a process of its own: a kernel that crashes on odd arguments must not end the run."""
    receiver, sender = _FORK.Pipe(duplex=False)

    def work() -> None:
        report = _check_op(op, modules, seed)
        sender.send((report.calls, report.worst, report.failures, report.skipped))

    process = _FORK.Process(target=work)
    process.start()
    sender.close()
    try:
        calls, worst, failures, skipped = receiver.recv()
    except EOFError:
        process.join()
        return OpReport(op, 0, skipped=f"a kernel of torch ended the process (exit code {process.exitcode})")
    process.join()
    return OpReport(op, calls, worst, failures, skipped)


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


def _function_for(op: Op, modules: list[ModuleType]) -> tuple[type[Any], Callable[..., Any]] | None:
    for module in modules:
        node = getattr(module, op.node or "", None)
        if node is None:
            continue
        for value in vars(module).values():
            code = getattr(value, "__code__", None)
            if code is not None and op.node in code.co_names and "apply" in code.co_names:
                return node, value
    return None


def _check_op(op: Op, modules: list[ModuleType], seed: int) -> OpReport:
    found = _function_for(op, modules)
    if found is None:
        return OpReport(op, 0, skipped="cannot be lowered to Python")
    overload = overload_of(op)
    if overload is None:
        return OpReport(op, 0, skipped="torch has no such operator")
    if op.schema.is_inplace or op.dispatch != "Default":
        return OpReport(op, 0, skipped="in-place" if op.schema.is_inplace else f"for {op.dispatch} alone")
    node, ours = found
    worst: dict[str, float] = {}
    failures: list[tuple[Outcome, str]] = []
    seen: set[str] = set()
    count = 0
    for recorded in calls_of(op, seed):
        call = next((c for c in (recorded, _positive(recorded)) if _repeats(overload, c)), None)
        if call is None:
            continue
        count += 1
        moving = _moving(op, call)
        has_jvp = "jvp" in vars(node)
        try:
            for outcome in check_call(ours, overload, call, moving=moving, has_jvp=has_jvp, seed=seed):
                worst[outcome.check] = max(worst.get(outcome.check, 0.0), outcome.error)
                if outcome.failed and outcome.check not in seen:
                    seen.add(outcome.check)
                    failures.append((outcome, str(call)))
        except Exception as error:
            if "does not support automatic differentiation" in str(error):
                # Nobody has this gradient: such as that of a complex result.
                count -= 1
            elif "call" not in seen:
                seen.add("call")
                failures.append((Outcome("call", 0.0, True, f"{type(error).__name__}: {error}".splitlines()[0]), str(call)))
    return OpReport(op, count, worst, tuple(failures), "" if count else "no samples")


def _positive(call: Call) -> Call:
    """The call at positive values, for functions that are defined there alone."""
    return call.at([t if t.is_complex() else t.abs() + 0.25 for t in call.tensors])


def _repeats(overload: Any, call: Call) -> bool:
    """Whether the op gives the same numbers twice: what is random, or no number, has no derivative that differences show."""
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        args, kwargs = call.with_tensors([t.clone() for t in call.tensors])
        try:
            made = overload(*args, **kwargs)
        except Exception:
            return False
        results.append([r for r in (made if isinstance(made, tuple | list) else (made,)) if isinstance(r, torch.Tensor)])
    return all(torch.equal(a, b) and bool(a.isfinite().all()) for a, b in zip(*results, strict=True))


def _moving(op: Op, call: Call) -> tuple[bool, ...]:
    """Which of the call's tensors have a gradient by the spec."""
    moving = {i.name for i in op.differentiable_inputs}
    args, kwargs = call.with_tensors(call.tensors)
    flags: dict[int, bool] = {}
    named = list(zip([a.name for a in op.schema.positional], args, strict=False)) + list(kwargs.items())
    types = {a.name: a.type for a in op.schema.arguments}
    for name, value in named:
        if name in types and is_tensor_like(types[name]):
            for tensor in value if isinstance(value, list | tuple) else [value]:
                flags[id(tensor)] = name in moving
    return tuple(flags.get(id(t), False) for t in call.tensors)
