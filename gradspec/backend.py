"""What a backend is, and how one is found; knows no backend by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, runtime_checkable

import attrs

from gradspec.ir import Program

# Raised when a backend written for an older gradspec would no longer be right.
API_VERSION = 1
# Calls inside of each other: a formula has up to 200 levels, for each of which a backend may need several.
_DEEPEST = 5000
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


class BackendError(LookupError):
    """An installed backend does not work; the message is one line that names it and says what is wrong with it."""


def load_backend(name: str) -> Backend:
    """Import the backend called `name`.

    Raises:
        LookupError: there is none of that name.
        BackendError: it cannot be imported, is no backend, or was written for another API version.
    """
    found = backend_entry_points()
    if name not in found:
        raise LookupError(f"no backend `{name}`; installed: {', '.join(found) or 'none'}")
    try:
        backend: Any = found[name].load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # Whatever a package does when it is imported: it may also exit.
        raise BackendError(f"backend `{name}` cannot be loaded from {found[name].value}: {_told(error)}") from error
    fault = _fault(name, backend)
    if fault:
        raise BackendError(f"backend `{name}` ({found[name].value}) {fault}")
    assert isinstance(backend, Backend)
    return backend


def emit_files(backend: Backend, program: Program, options: Any) -> dict[str, str]:
    """What a backend emits, made sure to be files.

    Raises:
        SpecError: the target cannot express an op.
        BackendError: the backend fails in another way, or gives something else than texts by path.
    """
    from gradspec.diagnostics import SpecError  # Late: a run with nothing to do has no use for it.

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEPEST))
    try:
        given: Any = backend.emit(program, options)
        files = dict(given) if isinstance(given, Mapping) else None
    except SpecError:
        raise
    except Exception as error:
        raise BackendError(f"backend `{backend.name}` failed{_place(backend, error)}: {_told(error)}") from error
    finally:
        sys.setrecursionlimit(limit)
    if files is None:
        raise BackendError(f"backend `{backend.name}` gave no mapping from paths to texts: it is {_a(given)}")
    for path, text in files.items():
        if not isinstance(path, str):
            raise BackendError(f"backend `{backend.name}` gave a path that is {_a(path)}; it must be str")
        if not isinstance(text, str):
            raise BackendError(f"backend `{backend.name}` gave a text for `{path}` that is {_a(text)}; it must be str")
    return files


def _fault(name: str, backend: Any) -> str:
    """What is wrong with an object that claims to be the backend `name`, empty where nothing is."""
    if isinstance(backend, type):
        return "is a class: the entry point must name an object of it"
    if getattr(backend, "api_version", API_VERSION) != API_VERSION:
        return f"speaks API version {backend.api_version}, this gradspec speaks {API_VERSION}"
    missing = [a for a in ("name", "description", "api_version", "Options", "emit") if not hasattr(backend, a)]
    if missing:
        return f"is no backend: it has no {', '.join(missing)}"
    if backend.name != name:
        return f"calls itself {backend.name!r}: its name and that of its entry point must be the same"
    if not attrs.has(backend.Options):
        return "has Options that are no attrs class"
    for field in attrs.fields(backend.Options):
        if type(field.default) not in (str, int, bool):
            return f"has an option `{field.name}` whose default is {_a(field.default)}; it must be a str, an int or a bool"
    return ""


def _a(value: object) -> str:
    """A value of a wrong type, in words."""
    if value is attrs.NOTHING:
        return "missing"
    return "None" if value is None else f"of type {type(value).__name__}"


def _told(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _place(backend: Backend, error: BaseException) -> str:
    """Where in the backend's own package an exception comes from, or else where it was raised."""
    import traceback

    package = type(backend).__module__.partition(".")[0]
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [at for at in frames if str(at[0].f_globals.get("__name__")).partition(".")[0] == package]
    frame, line = (own or frames)[-1]
    return f" in {frame.f_code.co_filename}:{line}"
