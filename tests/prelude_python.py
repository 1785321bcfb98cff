"""A file of the prelude as Python, for tests that compute with it."""

from __future__ import annotations

from functools import cache
from typing import Any

from gradspec.load import find_torch
from gradspec.pipeline import compile_files
from gradspec.prelude import prelude_folder
from gradspec_python import BACKEND
from gradspec_python.emit import PythonOptions


@cache
def prelude_python(name: str) -> dict[str, Any]:
    """What the module has that is emitted from `name.grad`: each function under its name with `_` in front."""
    program = compile_files([prelude_folder() / f"{name}.grad"], find_torch(None).native_functions, helpers="prelude").program
    module: dict[str, Any] = {}
    exec(BACKEND.emit(program, PythonOptions(skip=True))[f"{name}.py"], module)
    return module
