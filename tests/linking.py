"""Emitted nodes as a library that torch loads: emits, compiles as many sources at a time as there are processors, and links."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gradspec.ir import Program
from gradspec_cpp import BACKEND
from gradspec_cpp.emit import CppOptions

FLAGS = ("-std=c++20", "-O0", "-fPIC", "-Wall", "-Wextra", "-Werror")


def load_nodes(program: Program, options: CppOptions, source: Path, folder: Path, flags: Sequence[str] = ()) -> Any:
    """Emit into `folder`, compile that and `source`, and load the library.

    Gives the ops that `source` registers: NAME.cpp registers those of `gradspec_NAME`.
    """
    import torch

    root = Path(torch.__file__).parent
    for name, text in BACKEND.emit(program, options).items():
        (folder / name).write_text(text, encoding="utf-8")
    includes = [f"-I{folder}", f"-isystem{root / 'include'}", f"-isystem{root / 'include/torch/csrc/api/include'}"]
    sources = [source, *sorted(folder.glob("*.cpp"))]
    objects = [folder / f"{path.stem}.o" for path in sources]

    def compile_(path: Path, made: Path) -> None:
        _run("g++", *FLAGS, *flags, *includes, "-c", str(path), "-o", str(made))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_, sources, objects))
    library = folder / f"lib{source.stem}.so"
    _run("g++", "-shared", *map(str, objects), f"-L{root / 'lib'}", "-ltorch_cpu", "-lc10", "-o", str(library))
    torch.ops.load_library(str(library))
    return getattr(torch.ops, f"gradspec_{source.stem}")


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
