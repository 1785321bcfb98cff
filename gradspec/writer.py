"""Puts emitted files on disk: whole, only what changed, never outside of the output folder; knows no backend and no spec.

An output folder belongs to one emit. Before a run touches a file, the manifest lists the digests that each file may have from
then on, so that after a kill the next run still knows its own files; the manifest of the finished run comes last.

Runs that write one folder at once wait for each other where the system has file locks. Elsewhere each file is still whole, but
files of both runs may be mixed; the digests then tell the next run so, and it writes them again.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from gradspec.manifest import (
    MANIFEST,
    OWN_PREFIX,
    Manifest,
    WriteError,
    digest,
    file_state,
    folders_of,
    is_current,
    load_manifest,
    naming,
    path_fault,
    read_output,
    resolved,
)

__all__ = ["Difference", "WriteError", "WriteReport", "check_outputs", "is_current", "write_outputs"]

# A file with this word in its first line was made by a program, and may be made again.
MARKER = b"@generated"


class WriteReport(NamedTuple):
    """What a run did to the output folder: relative paths, sorted. `kept` are stale files that someone has edited."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]


class Difference(NamedTuple):
    """One file that is not as an emit would leave it; `diff` is a unified diff for `changed`, else empty."""

    path: str
    kind: Literal["missing", "changed", "stale"]
    diff: str


def write_outputs(out: Path, files: Mapping[str, str], *, fingerprint: Mapping[str, str]) -> WriteReport:
    """Make `out` hold `files` (relative POSIX path to text), and remove what an earlier run wrote and this one does not.

    A file that is already right keeps its time. A file that gradspec did not write is never changed, unless `@generated` is in
    its first line. A stale file is removed only if it is as it was written. `fingerprint` says what the files were made from; it
    is what `is_current` compares.

    Raises:
        WriteError: a path is not one that may be written, or a foreign file is in the way: then nothing was touched. Or the
            system refuses: then each file is whole, old or new, and the next run goes on from there.
    """
    contents = _checked(files)
    with naming(out):
        out.mkdir(parents=True, exist_ok=True)
    folder = resolved(out)
    with _locked(folder) as alone:
        before = load_manifest(folder)
        if alone:
            _remove_scratch_files(folder, {*folders_of(contents), *before.folders})
        return _write(folder, contents, before, fingerprint)


def check_outputs(out: Path, files: Mapping[str, str]) -> tuple[Difference, ...]:
    """How `out` differs from what `write_outputs` would leave there, in order of path; writes nothing.

    Raises:
        WriteError: a path is not one that may be written, or a file cannot be read.
    """
    contents = _checked(files)
    folder = resolved(out)
    before = load_manifest(folder)
    stale = [path for path in before.files if path not in contents and file_state(folder, path, before) == "ours"]
    found = [Difference(path, "stale", "") for path in stale]
    for path, wanted in contents.items():
        data = read_output(folder, path)
        if data is None:
            found.append(Difference(path, "missing", ""))
        elif data != wanted:
            found.append(Difference(path, "changed", _diff(path, data, wanted)))
    return tuple(sorted(found))


def _write(folder: Path, contents: Mapping[str, bytes], before: Manifest, fingerprint: Mapping[str, str]) -> WriteReport:
    states = {path: file_state(folder, path, before) for path in sorted(before.files) if path not in contents}
    stale = [path for path, state in states.items() if state == "ours"]
    changed = _changed(folder, contents, before, stale)

    needed = folders_of(contents)
    made = {*before.folders, *(name for name in needed if not (folder / name).is_dir())}
    digests = {path: (digest(data),) for path, data in contents.items()}
    if changed or stale:
        possible = {path: digests.get(path, ()) + before.files.get(path, ()) for path in {**before.files, **digests}}
        _save_manifest(folder, Manifest(None, possible, tuple(made)))

    # A stale file goes last, unless a new one needs its place: as a folder, or its folder's place, or its name in other case.
    spelled = {name.lower() for name in (*contents, *needed)}
    first = {path for path in stale if path.lower() in spelled or not folders_of((path,)).isdisjoint(contents)}
    for path in first:
        _remove(folder / path)
    _remove_if_empty(folder, made - needed)
    for path in changed:
        with naming(folder / path):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            _replace(folder / path, contents[path])
    for path in stale:
        if path not in first:
            _remove(folder / path)
    _remove_if_empty(folder, made - needed)

    _save_manifest(folder, Manifest(fingerprint, digests, tuple(made & needed)))
    return WriteReport(
        written=tuple(changed),
        unchanged=tuple(path for path in contents if path not in changed),
        removed=tuple(stale),
        kept=tuple(path for path, state in states.items() if state == "edited"),
    )


def _changed(folder: Path, contents: Mapping[str, bytes], before: Manifest, stale: Collection[str]) -> dict[str, None]:
    """The paths that are to be written, in order.

    Raises:
        WriteError: something that gradspec did not write is in the way.
    """
    changed: dict[str, None] = {}
    faults = []
    recased = {path.lower(): path for path in stale}
    for path, wanted in contents.items():
        # A folder that gradspec made goes away with the stale files in it; so does a stale name that differs in case alone.
        was_folder = path in before.folders and (folder / path).is_dir()
        was = recased.get(path.lower())
        goes = was_folder or (was and (folder / path).exists() and (folder / path).samefile(folder / was))
        data = None if goes else read_output(folder, path)
        if data == wanted:
            continue
        changed[path] = None
        if data is not None and path not in before.files and MARKER not in data.partition(b"\n")[0]:
            faults.append(f"`{folder / path}` was not written by gradspec: it is left as it is")
    for name in sorted(folders_of(changed)):
        if (folder / name).is_file() and name not in stale:
            faults.append(f"`{folder / name}` is a file where a folder is needed")
    if faults:
        raise WriteError("\n".join(faults))
    return changed


def _checked(files: Mapping[str, str]) -> dict[str, bytes]:
    """The files as bytes, in order of path.

    Raises:
        WriteError: naming every path that may not be written, and every text that is not Unicode.
    """
    faults = [f"`{path}` {fault}" for path in files if (fault := path_fault(path))]
    folders = folders_of(files)
    spelled: dict[str, str] = {}
    for name in sorted({*files, *folders}):
        other = spelled.setdefault(name.lower(), name)
        if other != name:
            faults.append(f"`{other}` and `{name}` are one where case does not count")
    faults += [f"`{path}` is a file and a folder" for path in sorted(folders.intersection(files))]
    contents = {}
    for path in sorted(files):
        try:
            contents[path] = files[path].encode()
        except UnicodeEncodeError as error:
            faults.append(f"`{path}` has text that is not Unicode: {error.reason}")
    if faults:
        raise WriteError("\n".join(faults))
    return contents


def _save_manifest(folder: Path, manifest: Manifest) -> None:
    path, data = folder / MANIFEST, manifest.to_bytes()
    with naming(path):
        if not path.is_file() or path.read_bytes() != data:
            _replace(path, data)


def _replace(path: Path, data: bytes) -> None:
    """Put a whole new file in the place of the old one: a reader, or a kill, meets one or the other."""
    scratch = path.with_name(f"{OWN_PREFIX}{os.getpid()}.tmp")
    try:
        with scratch.open("xb") as file:
            file.write(data)
        scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise


def _remove(path: Path) -> None:
    with naming(path):
        path.unlink(missing_ok=True)


def _remove_if_empty(folder: Path, names: Iterable[str]) -> None:
    for name in sorted(names, reverse=True):
        with suppress(OSError):  # It is gone, or someone else's file is in it.
            (folder / name).rmdir()


def _remove_scratch_files(folder: Path, names: Iterable[str]) -> None:
    """Remove what runs that were killed left half-written; safe only while no other run is at work."""
    for name in ("", *names):
        for scratch in (folder / name).glob(f"{OWN_PREFIX}*.tmp"):
            with suppress(OSError):
                scratch.unlink()


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Wait until no other run writes the folder; yields whether that is sure. The folder itself is locked: no file is left."""
    try:
        import fcntl
    except ImportError:  # Windows has none.
        yield False
        return
    with naming(folder):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        alone = True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # Nor have some network file systems.
            alone = False
        yield alone
    finally:
        os.close(descriptor)


def _diff(path: str, old: bytes, new: bytes) -> str:
    from difflib import unified_diff  # Late: an emit has no use for it.

    def lines(data: bytes) -> list[str]:
        return data.decode(errors="backslashreplace").splitlines(keepends=True)

    return "".join(unified_diff(lines(old), lines(new), f"{path} (on disk)", f"{path} (emitted)"))
