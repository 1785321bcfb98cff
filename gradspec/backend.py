"""What a backend is, and how one is found; knows no backend by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, runtime_checkable

from gradspec.ir import Program

# Raised when a backend written for an older gradspec would no longer be right.
API_VERSION = 1
ENTRY_POINT_GROUP = "gradspec.backends"


@runtime_checkable
class Backend(Protocol):
    """A target. `name` is what `-b` takes; `Options` is a frozen attrs class whose fields are what `-O key=value` takes.

    Fields are `str`, `int` or `bool`, each with a default and `metadata={"help": "..."}`.
    """

    name: str
    description: str
    api_version: int
    Options: type[Any]

    def emit(self, program: Program, options: Any) -> Mapping[str, str]:
        """The files of the target: relative POSIX path to text.

        Reads no disk, clock or environment: the same program gives the same bytes.

        Raises:
            SpecError: the target cannot express an op, with the op's place.
        """


def backend_entry_points() -> dict[str, EntryPoint]:
    """The installed backends by name, not yet imported, in order of name."""
    return {e.name: e for e in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda e: e.name)}


def load_backend(name: str) -> Backend:
    """Import the backend called `name`.

    Raises:
        LookupError: there is none of that name, or it was written for another API version.
    """
    found = backend_entry_points()
    if name not in found:
        raise LookupError(f"no backend `{name}`; installed: {', '.join(found) or 'none'}")
    backend: Any = found[name].load()
    if backend.api_version != API_VERSION:
        raise LookupError(f"backend `{name}` speaks API version {backend.api_version}, this gradspec speaks {API_VERSION}")
    assert isinstance(backend, Backend)
    return backend
