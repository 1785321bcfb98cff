"""Backends as commands name them: by `-b`, with `-O`; knows no backend, and no command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gradspec.cli.shared import fail

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from gradspec.backend import Backend
    from gradspec.ir import Program


def choose_backends(names: Sequence[str]) -> dict[str, EntryPoint]:
    """The installed backends of these names, each once; ends the process where one is not installed."""
    from gradspec.backend import backend_entry_points

    found = backend_entry_points()
    for name in names:
        if name not in found:
            fail(f"no backend `{name}`; installed: {', '.join(found) or 'none'}")
    return {name: found[name] for name in dict.fromkeys(names)}


def emit_or_fail(backend: Backend, program: Program, values: Any, step: Any = None) -> dict[str, str]:
    """What the backend emits; ends the process where it does not work.

    Raises:
        SpecError: the target cannot express an op.
    """
    from gradspec.backend import BackendError, emit_files

    try:
        return emit_files(backend, program, values)
    except BackendError as error:
        if step is not None:
            step.stop()
        fail(str(error))


def backend_options(backends: Iterable[str], options: Sequence[str]) -> list[tuple[Backend, Any]]:
    """Backends with their options made of `-O key=value` texts; a key goes to every backend that knows it."""
    from attrs import fields

    from gradspec.backend import load_backend

    texts: dict[str, str] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            fail(f"-O {option}: write KEY=VALUE")
        texts[key] = value
    made: list[tuple[Backend, Any]] = []
    known: set[str] = set()
    for name in backends:
        try:
            backend = load_backend(name)
        except LookupError as error:
            fail(str(error))
        values: dict[str, Any] = {}
        for attribute in fields(backend.Options):
            known.add(attribute.name)
            if attribute.name in texts:
                values[attribute.name] = _option_value(attribute.name, texts[attribute.name], attribute.default)
        try:
            made.append((backend, backend.Options(**values)))
        except ValueError as error:
            fail(f"-O: {error}")
        except Exception as error:
            fail(f"backend `{name}` cannot make its options: {type(error).__name__}: {error}")
    unknown = sorted(texts.keys() - known)
    if unknown:
        fail(f"no chosen backend has the option {', '.join(unknown)}; known: {', '.join(sorted(known)) or 'none'}")
    return made


def _option_value(key: str, text: str, default: object) -> object:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            fail(f"-O {key}={text}: write true or false")
        return text.lower() == "true"
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            fail(f"-O {key}={text}: write a whole number")
    return text
