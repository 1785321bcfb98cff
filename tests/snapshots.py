"""Snapshots that are files a person can open: C++, Python, the IR as text."""

from __future__ import annotations

from functools import cache

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode


@cache
def as_file(extension: str) -> type[SingleFileSnapshotExtension]:
    """For `snapshot(extension_class=...)`: each snapshot is a text file with this extension."""

    class TextFile(SingleFileSnapshotExtension):
        _write_mode = WriteMode.TEXT
        file_extension = extension

    return TextFile
