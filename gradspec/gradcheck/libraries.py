"""Libraries of a person's own operators, loaded into the process that looks them up; knows no spec.

Each op is checked in a process that is forked from that one, and has what it has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import torch


class CannotLoad(Exception):
    """What was asked for cannot be loaded; the message is one line."""


def load_libraries(paths: Iterable[str]) -> None:
    """Load shared libraries, Python files, and modules by name, in this order.

    Raises:
        CannotLoad: the first that cannot be loaded, and why.
    """
    for number, path in enumerate(paths):
        try:
            _load(path, number)
        except CannotLoad:
            raise
        # A file that is run may raise whatever it likes, and may end the process.
        except (Exception, SystemExit) as error:
            lines = str(error).splitlines()
            raise CannotLoad(f"{path} cannot be loaded: {type(error).__name__}: {lines[0] if lines else ''}") from error


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
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def _import(folder: str, name: str) -> None:
    sys.path.insert(0, folder)
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise CannotLoad(f"there is no file and no module {name}") from error
        raise
