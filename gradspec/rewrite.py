"""Replaces one file whole; knows nothing of what is in it."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path


def rewrite_file(path: Path, content: str | bytes) -> None:
    """Put a text, or bytes, in the place of a file, or make it: a reader, or a kill, meets the old one or the new one, whole.

    A link stays one, and the file keeps its permissions.

    Raises:
        OSError: the system refuses; the file is as it was.
    """
    place = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".tmp", dir=place.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
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
