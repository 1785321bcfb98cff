"""What a run left in its output folder, and which of it is still as it was left; changes nothing on disk.

Only the standard library is imported here: whether an output folder is current is asked before anything heavy is loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

MANIFEST = ".gradspec-manifest.json"
MANIFEST_FORMAT = 1
OWN_PREFIX = ".gradspec-"


class WriteError(Exception):
    """The output cannot be written or read; the message names each path and the reason."""


class Manifest(NamedTuple):
    """What runs have told of an output folder.

    `fingerprint` says what its files were made from; None while a run is under way, and after one that was cut off. `files` has
    the digests that each file may have and still be ours: one after a run that finished. `folders` are those that gradspec made.
    """

    fingerprint: Mapping[str, str] | None
    files: Mapping[str, tuple[str, ...]]
    folders: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """The manifest as it stands on disk: the same manifest, the same bytes."""
        data = {
            "format": MANIFEST_FORMAT,
            "fingerprint": None if self.fingerprint is None else dict(self.fingerprint),
            "files": {path: list(dict.fromkeys(digests)) for path, digests in self.files.items()},
            "folders": sorted(self.folders),
        }
        return json.dumps(data, indent=1, sort_keys=True).encode() + b"\n"


_NOTHING = Manifest(None, {}, ())


def digest(data: bytes) -> str:
    """The digest by which contents are told apart: SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def is_current(out: Path, fingerprint: Mapping[str, str]) -> bool:
    """Whether `out` holds, untouched, all that a finished run with this fingerprint wrote. Never raises."""
    manifest = load_manifest(out)
    return manifest.fingerprint == dict(fingerprint) and all(file_state(out, path, manifest) == "ours" for path in manifest.files)


def load_manifest(folder: Path) -> Manifest:
    """The manifest of an output folder; an empty one where there is none, or none that this version can read."""
    try:
        data = json.loads((folder / MANIFEST).read_bytes())
        if data["format"] != MANIFEST_FORMAT:
            return _NOTHING
        # What is on disk may come from anyone: a path in it is trusted no more than a backend's.
        files = {path: tuple(digests) for path, digests in data["files"].items() if not path_fault(path)}
        return Manifest(data["fingerprint"], files, tuple(name for name in data["folders"] if not path_fault(name)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _NOTHING


def file_state(folder: Path, path: str, manifest: Manifest) -> Literal["gone", "ours", "edited"]:
    """What has become of a file that the manifest lists."""
    try:
        data = read_output(folder, path)
    except WriteError:
        return "edited"
    if data is None:
        return "gone"
    return "ours" if digest(data) in manifest.files[path] else "edited"


def read_output(folder: Path, path: str) -> bytes | None:
    """The content of a file of the output folder, None where there is none.

    Raises:
        WriteError: something other than a file is there, the way to it leads through a link, or it cannot be read.
    """
    at = folder
    for part in path.split("/"):
        at /= part
        with naming(at):
            try:
                mode = at.lstat().st_mode
            except (FileNotFoundError, NotADirectoryError):
                return None
        if stat.S_ISLNK(mode):
            raise WriteError(f"`{at}` is a symbolic link: gradspec follows none below its output folder")
    with naming(at):
        if not stat.S_ISREG(at.lstat().st_mode):
            raise WriteError(f"`{at}` is not a regular file")
        return at.read_bytes()


def path_fault(path: str) -> str:
    """Why no output file may have this path, empty where one may: a path must be relative and mean the same on every system."""
    parts = path.split("/")
    if path.startswith("/") or path[1:2] == ":":
        return "is absolute"
    if ".." in parts:
        return "leads out of its folder"
    if not path.isascii() or not path.isprintable() or any(c in '\\:*?"<>|' for c in path):
        return "has a character that some systems refuse"
    if any(p in ("", ".") or p.endswith(".") or p != p.strip() for p in parts):
        return "is not a plain relative path"
    if any(p.lower().startswith(OWN_PREFIX) for p in parts):
        return f"begins with `{OWN_PREFIX}`, which gradspec keeps for its own files"
    return ""


def folders_of(paths: Iterable[str]) -> set[str]:
    """The folders, at every level, that these relative paths stand in."""
    return {path[:at] for path in paths for at, c in enumerate(path) if c == "/"}


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn a refusal of the system into a WriteError that names the path."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"`{path}`: {error.strerror or error}") from error


def resolved(out: Path) -> Path:
    """The folder that `out` stands for: a link to a folder stays, and the files land where it points."""
    return Path(os.path.realpath(out))
