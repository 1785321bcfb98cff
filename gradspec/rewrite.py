"""Replaces one file that belongs to a person; knows nothing of what is in it."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path


def rewrite_file(path: Path, text: str) -> None:
    """Put a text in the place of a file, or make the file: a reader, or a kill, meets the old one or the new one, whole.

    A link stays one, and the file keeps its permissions.

    Raises:
        OSError: the system refuses; the file is as it was.
    """
    place = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".tmp", dir=place.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if place.exists():
            shutil.copymode(place, name)
        else:
            os.chmod(name, 0o666 & ~_umask())
        os.replace(name, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    # It can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
