"""How the prelude is found and kept between runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gradspec import prelude
from gradspec.syntax import Function


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for what is kept, and nothing read yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    prelude._written.cache_clear()
    yield tmp_path / "gradspec"
    prelude._written.cache_clear()


def read(monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], bool]:
    """The functions' headers, and whether their files were read for them."""
    was_read: list[bool] = []
    plain = prelude._read

    def noted() -> tuple[Function, ...]:
        was_read.append(True)
        return plain()

    monkeypatch.setattr(prelude, "_read", noted)
    prelude._written.cache_clear()
    return [str(f.schema) for f in prelude._written()], bool(was_read)


def test_the_prelude_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, was_read = read(monkeypatch)
    assert was_read
    assert len(list(folder.glob("prelude-*.pickle"))) == 1
    assert read(monkeypatch) == (first, False)


@pytest.mark.parametrize("content", [b"", b"no pickle", b"\x80\x05cgradspec.syntax\nGone\n."])
def test_what_is_broken_is_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    first, _ = read(monkeypatch)
    (kept,) = folder.glob("prelude-*.pickle")
    kept.write_bytes(content)
    assert read(monkeypatch) == (first, True)
    assert read(monkeypatch) == (first, False)


def test_what_an_older_gradspec_left_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder / "prelude-0000.pickle").write_bytes(b"old")
    read(monkeypatch)
    (kept,) = folder.glob("prelude-*.pickle")
    assert kept.name != "prelude-0000.pickle"


def test_without_a_folder_nothing_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_text("a file where the folder would be")
    assert read(monkeypatch)[1]
    assert read(monkeypatch)[1]
