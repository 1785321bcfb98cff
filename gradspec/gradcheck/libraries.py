"""Libraries of a person's own operators, loaded into the process that looks them up; knows no spec.

Each op is checked in a process that is forked from that one, and has what it has.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import torch


class CannotLoad(Exception):
    """What was asked for cannot be loaded; the message is one line."""


def load_library(path: str, number: int) -> None:
    """Load a shared library, a Python file, or a module by name, the `number`-th one of a run.

    Raises:
        CannotLoad: it cannot be loaded, and why.
    """
    try:
        _load(path, number)
    except CannotLoad:
        raise
    # A file that is run may raise whatever it likes.
    except Exception as error:
        raise CannotLoad(cannot_load(path, error)) from error


def cannot_load(path: str, error: BaseException) -> str:
    """What there is to say of a library that raised."""
    lines = str(error).splitlines()
    return f"{path} cannot be loaded: {type(error).__name__}: {lines[0] if lines else ''}"


def _load(path: str, number: int) -> None:
    if not path.strip():
        raise CannotLoad("the path is empty")
    file = Path(path)
    if file.is_dir() and not (file / "__init__.py").is_file():
        raise CannotLoad(f"{path} is a folder, and no Python package")
    if file.is_file() and file.suffix == ".py":
        _run(file, f"_gradcheck_loaded{number}_{file.stem}")
    elif file.is_file():
        torch.ops.load_library(str(file.absolute()))
    elif file.is_dir():
        _import(str(file.absolute().parent), file.absolute().name)
    elif all(part.isidentifier() for part in path.split(".")):
        _import(str(Path.cwd()), path)
    else:
        raise CannotLoad(f"there is no file {path}")


def _run(file: Path, name: str) -> None:
    """Import a file, which may import what lies beside it."""
    sys.path.insert(0, str(file.absolute().parent))
    _import_from(spec_from_file_location(name, file), name)


def _import(folder: str, name: str) -> None:
    """Import a module by its name."""
    sys.path.insert(0, folder)
    if name in sys.modules:
        return
    try:
        spec = find_spec(name)
    except ModuleNotFoundError as error:
        # It may be another one, that a package of this name imports.
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        spec = None
    if spec is None:
        raise CannotLoad(f"there is no file and no module {name}")
    _import_from(spec, name)


def _import_from(spec: Any, name: str) -> None:
    if spec is None or spec.loader is None:
        raise CannotLoad(f"{name} is no Python module")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
