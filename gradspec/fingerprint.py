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
    inputs: Iterable[Path], backends: Mapping[str, EntryPoint], options: Iterable[str], externs: Iterable[str]
) -> dict[str, str]:
    """Digests by name: inputs by content; gradspec's and the backends' own files by path, size and time.

    Raises:
        OSError: an input cannot be read.
    """
    found = {f"input {path}": hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs}
    found["version"] = __version__
    found["gradspec"] = _code_digest("gradspec")
    for name, entry in backends.items():
        found[f"backend {name}"] = f"{entry.value} {_code_digest(entry.module.partition('.')[0])}"
    found["options"] = "\n".join(options)
    found["externs"] = "\n".join(sorted(externs))
    return found


def _code_digest(package: str) -> str:
    """A digest that changes when a file of an importable package does; the package is not imported."""
    spec = find_spec(package)
    roots = [Path(p) for p in (spec.submodule_search_locations or ())] if spec else []
    if package == "gradspec":
        roots += [root.parent / "grammars" for root in roots]
    facts = sorted(fact for root in roots for fact in _file_facts(root, root))
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def _file_facts(folder: Path, root: Path) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _file_facts(Path(entry.path), root)
        elif not entry.name.endswith(".pyc"):
            stat = entry.stat()
            yield f"{os.path.relpath(entry.path, root)} {stat.st_size} {stat.st_mtime_ns}"
