"""What an emit depends on, as digests, so that a run with nothing to do is over before the compiler is imported."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

from gradspec import __version__


def fingerprint_of(
    inputs: Iterable[Path],
    backends: Mapping[str, EntryPoint],
    options: Iterable[str],
    externs: Iterable[str],
    helpers: str = "prelude",
) -> dict[str, str]:
    """Digests by name: inputs by content; gradspec's and the backends' own files by path, size and time.

    Raises:
        OSError: an input cannot be read.
    """
    found = {f"input {path}": _input_digest(path) for path in inputs}
    found["version"] = __version__
    found["gradspec"] = code_digest("gradspec")
    for name, entry in backends.items():
        found[f"backend {name}"] = f"{entry.value} {code_digest(_package(entry))}"
    found["options"] = "\n".join(options)
    found["helpers"] = helpers
    found["externs"] = "\n".join(sorted(externs))
    return found


def _input_digest(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise OSError(f"{path} can be read only once, or has no end")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def code_files(backends: Mapping[str, EntryPoint]) -> list[Path]:
    """The files of gradspec and of backends, those that are no code among them, sorted."""
    packages = ["gradspec", *[_package(entry) for entry in backends.values()]]
    return sorted({file for package in packages for root in _roots(package) for file in _files(root)})


def _package(entry: EntryPoint) -> str:
    return entry.module.partition(".")[0]


def code_digest(package: str) -> str:
    """A digest that changes when a file of an importable package does; the package is not imported."""
    facts = sorted([_fact(file, root) for root in _roots(package) for file in _files(root)])
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def _roots(package: str) -> list[Path]:
    spec = find_spec(package)
    roots = [Path(p) for p in (spec.submodule_search_locations or ())] if spec else []
    if spec and spec.origin and not roots:
        return [Path(spec.origin)]  # a module that is a file
    # Grammars and the prelude stand beside the package in a checkout, and in it where it is installed.
    beside = [root.parent / folder for root in roots for folder in ("grammars", "specs/prelude")]
    return [*roots, *beside] if package == "gradspec" else roots


def _files(folder: Path) -> Iterator[Path]:
    try:
        entries = list(os.scandir(folder))
    except NotADirectoryError:
        yield folder
        return
    except OSError:
        return
    for entry in entries:
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(Path(entry.path))
        elif not entry.name.endswith(".pyc"):
            yield Path(entry.path)


def _fact(file: Path, root: Path) -> str:
    stat = file.stat()
    return f"{os.path.relpath(file, root)} {stat.st_size} {stat.st_mtime_ns}"
