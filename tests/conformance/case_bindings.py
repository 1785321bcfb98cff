"""The cases of getters: nodes and their Python classes are emitted, compiled into one extension, and read after real runs.

`case_bindings.cpp` has the ops; `case_read.py` reads, in a process of its own: what was reported is that the interpreter dies.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from case_data import Case
from case_runner import SPEC, Invoke, Problems, emitted
from header import torch_include

HERE = Path(__file__).resolve().parent
OPTIONS = ("-O", "helpers_header=case_bindings.h", "-O", "helpers_namespace=case_helpers")
FLAGS = ("-std=c++20", "-O0", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")
MODULE = "case_bindings"

# What B28 has to be right on beside its own numbers.
NUMBERS = ("gb28n(Tensor self, bool exact, Scalar number) -> Tensor", "gb28n_backward(grad, exact, number)")


def emit_bindings(case: Case, invoke: Invoke, folder: Path) -> list[str]:
    """Emit nodes and their classes for a spec that is in the folder; `read_bindings` does the rest for all cases at once."""
    problems = Problems()
    if case.id == "B28":
        schema, formula = NUMBERS
        for name, text in ((SPEC[0], f"- name: {schema}\n  self: {formula}\n"), (SPEC[2], f"- func: {schema}\n")):
            with (folder / name).open("a", encoding="utf-8") as file:
                file.write(text)
        _emit("B28_upstream", "bound_upstream", invoke, folder, problems, "-O", "upstream_integers=true")
    _emit(case.id, "bound", invoke, folder, problems)
    return problems.found


def _emit(name: str, out: str, invoke: Invoke, folder: Path, problems: Problems, *more: str) -> None:
    options = (*OPTIONS, "-O", f"namespace=case_{name}", *more)
    run = invoke(("emit", *SPEC, "-b", "cpp", "-b", "bindings", *options, "-o", out), folder)
    problems.check(run.code == 0, f"emit ends with {run.code}: {run.errors[:300]}")
    files = emitted(folder / out)
    problems.check("Functions.h" in files and "python_functions.h" in files, f"there are {', '.join(files) or 'no files'}")


def read_bindings(cases: Sequence[Case], root: Path) -> dict[str, list[str]]:
    """Compile what `emit_bindings` left for the cases that ask for it, and read it. Findings by case."""
    chosen = [case.id for case in cases if case.bindings]
    if not chosen:
        return {}
    refused = _compile(chosen, root)
    return {case_id: [refused] if refused else _read(case_id, root) for case_id in chosen}


def _compile(chosen: Sequence[str], root: Path) -> str:
    """One library of them all; what the compiler says if it refuses."""
    units = [path for case_id in chosen for path in sorted((root / case_id).glob("bound*/*.cpp"))]
    headers = [path for case_id in chosen for path in sorted((root / case_id).glob("bound*/python_functions.h"))]
    (root / "units.h").write_text("".join(f'#include "{path}"\n' for path in (*headers, *units)), encoding="utf-8")
    include = torch_include()
    systems = (include, include / "torch/csrc/api/include", Path(sysconfig.get_paths()["include"]))
    where = [f"-I{root}", f"-I{HERE}", *(f"-isystem{path}" for path in systems), f"-L{include.parent / 'lib'}"]
    defined = [f"-DHAS_{case_id}" for case_id in chosen]
    libraries = ("-ltorch_python", "-ltorch_cpu", "-lc10", "-o", str(_library(root)))
    command = ("g++", *FLAGS, *where, *defined, str(HERE / "case_bindings.cpp"), *libraries)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"does not compile or link: {done.stderr[:2000]}"


def _library(root: Path) -> Path:
    return root / f"{MODULE}{sysconfig.get_config_var('EXT_SUFFIX')}"


def _read(case_id: str, root: Path) -> list[str]:
    command = (sys.executable, str(HERE / "case_read.py"), str(_library(root)), case_id)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [f"reading ends with {done.returncode}: {done.stderr[-600:]}"]
    return done.stdout.splitlines()
