"""The writer: what it writes, what it leaves alone, and what is left after a kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradspec.manifest import MANIFEST, folders_of, path_fault
from gradspec.writer import Difference, WriteError, WriteReport, check_outputs, is_current, write_outputs

OLD = {"Functions.h": "// @generated\nold\n", "gone.txt": "gone\n", "same.txt": "same\n", "sub/deep/part.txt": "part\n"}
NEW = {"Functions.h": "// @generated\nnew\n", "more/new.txt": "new\n", "same.txt": "same\n"}


def write(out: Path, files: Mapping[str, str], stamp: str = "1") -> WriteReport:
    return write_outputs(out, files, fingerprint={"stamp": stamp})


def content(out: Path) -> dict[str, str]:
    """Every file below a folder but the manifest."""
    found = {p.relative_to(out).as_posix(): p.read_bytes().decode() for p in out.rglob("*") if p.is_file()}
    found.pop(MANIFEST, None)
    return found


# ------------------------------------------------------------------------------------------------------- the ordinary runs


def test_first_run_makes_the_folder_and_the_files(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    report = write(out, OLD)
    assert content(out) == OLD
    assert report == WriteReport(written=tuple(sorted(OLD)), unchanged=(), removed=(), kept=())


def test_bytes_are_utf8_with_the_line_ends_given(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "∂\r\nx\n"})
    assert (tmp_path / "a.txt").read_bytes() == "∂\r\nx\n".encode()


def test_same_files_again_touch_nothing(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    for path in tmp_path.rglob("*"):
        os.utime(path, (1, 1))
    report = write(tmp_path, OLD)
    assert report == WriteReport(written=(), unchanged=tuple(sorted(OLD)), removed=(), kept=())
    assert {p.stat().st_mtime for p in tmp_path.rglob("*")} == {1}


def test_only_what_changed_is_written_and_stale_files_go(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    os.utime(tmp_path / "same.txt", (1, 1))
    report = write(tmp_path, NEW)
    assert content(tmp_path) == NEW
    assert (tmp_path / "same.txt").stat().st_mtime == 1
    assert report == WriteReport(
        written=("Functions.h", "more/new.txt"), unchanged=("same.txt",), removed=("gone.txt", "sub/deep/part.txt"), kept=()
    )
    assert not (tmp_path / "sub").exists()


def test_new_files_have_the_mode_that_the_user_asks_for(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write(tmp_path, {"a.txt": "a"})
    finally:
        os.umask(old)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


def test_same_run_gives_the_same_manifest(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_outputs(tmp_path / name, dict(OLD), fingerprint={"b": "2", "a": "1"})
    manifest = (tmp_path / "one" / MANIFEST).read_bytes()
    assert manifest == (tmp_path / "two" / MANIFEST).read_bytes()
    assert json.loads(manifest)["fingerprint"] == {"a": "1", "b": "2"}
    assert str(tmp_path) not in manifest.decode()


# ------------------------------------------------------------------------------------------------------------- is_current


def test_current_only_with_the_same_fingerprint(tmp_path: Path) -> None:
    assert not is_current(tmp_path / "absent", {})
    write(tmp_path, OLD, "1")
    assert is_current(tmp_path, {"stamp": "1"})
    assert not is_current(tmp_path, {"stamp": "2"})
    assert not is_current(tmp_path, {})


@pytest.mark.parametrize("harm", ["edit", "remove", "folder", "link", "manifest"])
def test_not_current_once_something_was_touched(tmp_path: Path, harm: str) -> None:
    write(tmp_path, OLD)
    victim = tmp_path / "sub/deep/part.txt"
    if harm == "edit":
        victim.write_text("part \n")
    elif harm == "manifest":
        (tmp_path / MANIFEST).write_text("{}")
    else:
        victim.unlink()
    if harm == "folder":
        victim.mkdir()
    if harm == "link":
        (tmp_path / "copy").write_text("part\n")
        victim.symlink_to(tmp_path / "copy")
    assert not is_current(tmp_path, {"stamp": "1"})


def test_asking_loads_the_standard_library_alone() -> None:
    program = "import sys; before = set(sys.modules); import gradspec.writer; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    outside = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert outside == {"gradspec"}
    assert [name for name in loaded if name.startswith("gradspec")] == ["gradspec", "gradspec.manifest", "gradspec.writer"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '"x"',
        "{}",
        '{"format": 2, "fingerprint": {"stamp": "1"}, "files": {}, "folders": []}',
        '{"format": 1, "fingerprint": {"stamp": "1"}, "files": [], "folders": []}',
        '{"format": 1, "fingerprint": {"stamp": "1"}, "files": {"a": 1}, "folders": []}',
        '{"format": 1, "fingerprint": {"stamp": "1"}, "files": {}, "folders": [1]}',
        "[" * 100_000,
    ],
)
def test_a_manifest_that_makes_no_sense_is_no_manifest(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    assert not is_current(tmp_path, {"stamp": "1"})
    write(tmp_path, OLD)
    assert is_current(tmp_path, {"stamp": "1"})


# -------------------------------------------------------------------------------------------------------- what is not ours


def test_a_foreign_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "gone.txt").write_text("mine")
    (tmp_path / "same.txt").write_text("mine too")
    with pytest.raises(WriteError) as caught:
        write(tmp_path, OLD)
    assert str(caught.value).splitlines() == [
        f"`{tmp_path / name}` was not written by gradspec: it is left as it is" for name in ("gone.txt", "same.txt")
    ]
    assert content(tmp_path) == {"gone.txt": "mine", "same.txt": "mine too"}
    assert not (tmp_path / MANIFEST).exists()


def test_a_foreign_file_that_is_equal_becomes_ours(tmp_path: Path) -> None:
    (tmp_path / "same.txt").write_text("same\n")
    assert "same.txt" in write(tmp_path, OLD).unchanged
    write(tmp_path, {})
    assert content(tmp_path) == {}


def test_a_generated_file_without_manifest_is_written_again(tmp_path: Path) -> None:
    (tmp_path / "Functions.h").write_text("// @generated by some run\nx\n")
    write(tmp_path, OLD)
    assert content(tmp_path) == OLD


def test_the_mark_counts_in_the_first_line_only(tmp_path: Path) -> None:
    (tmp_path / "Functions.h").write_text("// mine\n// @generated\n")
    with pytest.raises(WriteError, match="was not written by gradspec"):
        write(tmp_path, OLD)


def test_an_edited_file_that_is_still_emitted_is_written_again(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    (tmp_path / "gone.txt").write_text("edited")
    assert write(tmp_path, OLD).written == ("gone.txt",)
    assert content(tmp_path) == OLD


def test_a_stale_file_that_was_edited_stays_and_is_reported_once(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    (tmp_path / "sub/deep/part.txt").write_text("edited")
    report = write(tmp_path, NEW)
    assert report.kept == ("sub/deep/part.txt",)
    assert report.removed == ("gone.txt",)
    assert content(tmp_path) == NEW | {"sub/deep/part.txt": "edited"}
    assert write(tmp_path, NEW).kept == ()


def test_a_stale_file_that_became_a_link_stays(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "gone.txt").symlink_to("same.txt")
    assert write(tmp_path, NEW).kept == ("gone.txt",)
    assert (tmp_path / "gone.txt").is_symlink()


def test_a_folder_with_a_foreign_file_stays(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    (tmp_path / "sub/mine.txt").write_text("mine")
    write(tmp_path, NEW)
    assert content(tmp_path) == NEW | {"sub/mine.txt": "mine"}
    assert not (tmp_path / "sub/deep").exists()


def test_a_folder_that_was_there_before_stays(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path, OLD)
    write(tmp_path, NEW)
    assert (tmp_path / "sub").is_dir()
    assert not (tmp_path / "sub/deep").exists()


def test_a_manifest_cannot_send_the_writer_out_of_its_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"a.txt": "a", "b.txt": "a"})
    (tmp_path / "b.txt").write_text("a")
    text = (out / MANIFEST).read_text()
    (out / MANIFEST).write_text(text.replace('"b.txt"', '"../b.txt"'))
    write(out, {})
    assert (tmp_path / "b.txt").read_text() == "a"
    assert content(out) == {"b.txt": "a"}


# -------------------------------------------------------------------------------------------------------- files and folders


def test_a_file_becomes_a_folder_and_a_folder_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"a": "file", "b/c/d": "deep"})
    write(tmp_path, {"a/x": "deep", "b": "file"})
    assert content(tmp_path) == {"a/x": "deep", "b": "file"}
    write(tmp_path, {"a": "file", "b/c/d": "deep"})
    assert content(tmp_path) == {"a": "file", "b/c/d": "deep"}


def test_a_name_that_changes_its_case_survives_where_case_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, {"Name.txt": "x"})
    # A second name for the same file is what such a file system shows.
    os.link(tmp_path / "Name.txt", tmp_path / "name.txt")
    write(tmp_path, {"name.txt": "x"})
    assert content(tmp_path) == {"name.txt": "x"}
    assert is_current(tmp_path, {"stamp": "1"})


def test_a_foreign_file_in_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").write_text("mine")
    with pytest.raises(WriteError, match="sub` is a file where a folder is needed"):
        write(tmp_path, OLD)
    assert content(tmp_path) == {"sub": "mine"}


def test_a_foreign_folder_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "gone.txt").mkdir()
    with pytest.raises(WriteError, match="gone.txt` is not a regular file"):
        write(tmp_path, OLD)
    assert content(tmp_path) == {}


def test_a_pipe_in_place_of_a_file_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    (tmp_path / "gone.txt").unlink()
    os.mkfifo(tmp_path / "gone.txt")
    assert not is_current(tmp_path, {"stamp": "1"})
    with pytest.raises(WriteError, match="not a regular file"):
        write(tmp_path, OLD)


# -------------------------------------------------------------------------------------------------------------------- links


def test_out_may_be_a_link_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "out").symlink_to("target")
    write(tmp_path / "out", OLD)
    write(tmp_path / "out", NEW)
    assert (tmp_path / "out").is_symlink()
    assert content(tmp_path / "target") == NEW
    assert is_current(tmp_path / "out", {"stamp": "1"})


@pytest.mark.parametrize("target", ["outside", "out/inside"])
def test_no_link_below_out_is_followed(tmp_path: Path, target: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / target).mkdir()
    (out / "sub").symlink_to(tmp_path / target)
    with pytest.raises(WriteError, match="sub` is a symbolic link"):
        write(out, OLD)
    assert list((tmp_path / target).iterdir()) == []


def test_a_stale_file_behind_a_link_is_not_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, OLD)
    (out / "sub").rename(tmp_path / "outside")
    (out / "sub").symlink_to(tmp_path / "outside")
    write(out, NEW)
    assert content(tmp_path / "outside") == {"deep/part.txt": "part\n"}


def test_a_link_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "outside.txt").write_text("mine")
    (out / "gone.txt").symlink_to(tmp_path / "outside.txt")
    with pytest.raises(WriteError, match="gone.txt` is a symbolic link"):
        write(out, OLD)
    assert (tmp_path / "outside.txt").read_text() == "mine"


# -------------------------------------------------------------------------------------------------------------------- paths

BAD_PATHS = {
    "/etc/passwd": "is absolute",
    "C:/x": "is absolute",
    "../x": "leads out of its folder",
    "a/../../x": "leads out of its folder",
    "a/..": "leads out of its folder",
    "": "is not a plain relative path",
    ".": "is not a plain relative path",
    "./a": "is not a plain relative path",
    "a//b": "is not a plain relative path",
    "a/": "is not a plain relative path",
    "a.": "is not a plain relative path",
    "a /b": "is not a plain relative path",
    "a\\b": "has a character that some systems refuse",
    "a\0b": "has a character that some systems refuse",
    "a\nb": "has a character that some systems refuse",
    "é": "has a character that some systems refuse",
    "a?": "has a character that some systems refuse",
    MANIFEST: "begins with `.gradspec-`",
    "sub/.GRADSPEC-x": "begins with `.gradspec-`",
}


@pytest.mark.parametrize(("path", "fault"), BAD_PATHS.items())
def test_bad_paths(tmp_path: Path, path: str, fault: str) -> None:
    out = tmp_path / "out"
    with pytest.raises(WriteError) as caught:
        write(out, {path: "x", "good.txt": "x"})
    assert f"`{path}` {fault}" in str(caught.value)
    assert not out.exists()


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (("A.h", "a.h"), "`A.h` and `a.h` are one where case does not count"),
        (("Sub/x", "sub/y"), "`Sub` and `sub` are one where case does not count"),
        (("a", "a/b"), "`a` is a file and a folder"),
    ],
)
def test_paths_that_cannot_stand_together(tmp_path: Path, paths: tuple[str, ...], message: str) -> None:
    with pytest.raises(WriteError) as caught:
        write(tmp_path, dict.fromkeys(paths, "x"))
    assert message in str(caught.value).splitlines()


def test_text_that_is_not_unicode(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="`a.txt` has text that is not Unicode: surrogates not allowed"):
        write(tmp_path, {"a.txt": "\ud800"})


PIECES = st.sampled_from(["..", ".", "", "/", "a", "b.h", "C:", "\\", "..\\", "~", "%2e%2e", "\0", " ", "é", ".gradspec-", "A"])
PATHS = st.lists(PIECES, max_size=6).map("/".join) | st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=12)


@given(st.dictionaries(PATHS, st.sampled_from(["x", "y"]), max_size=4))
def test_no_path_leads_out(tmp_path_factory: pytest.TempPathFactory, files: dict[str, str]) -> None:
    home = tmp_path_factory.mktemp("home")
    out = home / "out"
    try:
        write(out, files)
    except WriteError:
        assert not out.exists()
    else:
        assert content(out) == files
    assert set(home.iterdir()) <= {out}


@given(PATHS)
def test_a_path_without_fault_stays_inside(path: str) -> None:
    if not path_fault(path):
        assert os.path.normpath(path) == path
        assert not os.path.isabs(path)
        assert path.split("/")[0] != ".."
        assert folders_of((path,)) == {str(p) for p in Path(path).parents} - {"."}


# --------------------------------------------------------------------------------------------------------- refusals, kills


@pytest.mark.parametrize("below", ["", "sub"])
def test_out_is_a_file(tmp_path: Path, below: str) -> None:
    (tmp_path / "out").write_text("mine")
    out = tmp_path / "out" / below
    with pytest.raises(WriteError) as caught:
        write(out, OLD)
    assert str(caught.value).startswith(f"`{out}`: ")
    assert not is_current(out, {"stamp": "1"})


def test_out_is_a_link_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("nowhere")
    with pytest.raises(WriteError, match="out`: File exists"):
        write(tmp_path / "out", OLD)


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="File name too long"):
        write(tmp_path, {"x" * 300: "x"})


def test_a_refused_replacement_names_the_file_and_leaves_no_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, OLD)

    def refuse(self: Path, target: Path) -> Path:
        if target.name == "Functions.h":
            raise OSError(30, "Read-only file system", str(self))
        os.replace(self, target)
        return target

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(WriteError) as caught:
        write(tmp_path, NEW)
    assert str(caught.value) == f"`{tmp_path / 'Functions.h'}`: Read-only file system"
    assert content(tmp_path) == OLD
    monkeypatch.undo()
    write(tmp_path, NEW)
    assert content(tmp_path) == NEW


class Child(NamedTuple):
    """How a process ended."""

    code: int
    errors: str


def child(out: Path, files: Mapping[str, str], stamp: str, prelude: str = "") -> subprocess.Popen[str]:
    """A process that writes `files` after running `prelude`."""
    program = f"""
from pathlib import Path
from gradspec.writer import write_outputs
{prelude}
write_outputs(Path({str(out)!r}), {dict(files)!r}, fingerprint={{'stamp': {stamp!r}}})
"""
    process = subprocess.Popen([sys.executable, "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write(program)
    process.stdin.close()
    process.stdin = None
    return process


def finish(process: subprocess.Popen[str]) -> Child:
    errors = process.communicate(timeout=60)[1]
    return Child(process.returncode, errors)


def test_a_full_disk(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    # The limit on the size of files stands for a full disk: the write itself fails, half done.
    prelude = "import resource, signal; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"
    code, errors = finish(child(tmp_path, NEW | {"more/new.txt": "x" * 300_000}, "2", prelude))
    assert code == 1
    assert f"WriteError: `{tmp_path / 'more/new.txt'}`: File too large" in errors
    assert content(tmp_path) == OLD | {"Functions.h": NEW["Functions.h"]}
    assert not is_current(tmp_path, {"stamp": "2"})
    write(tmp_path, NEW, "2")
    assert content(tmp_path) == NEW


# Dies at the n-th time that the file system is about to change, as if by SIGKILL; `half` lets a write begin.
KILLER = """
import os, sys
left, half = {n}, {half}
def watch(event, args):
    global left
    changes = event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir") or event == "open" and "x" in str(args[1])
    if changes and (left := left - 1) == 0:
        if half and event == "os.rename":
            os.truncate(args[0], 3)
        os._exit(9)
sys.addaudithook(watch)
"""


@pytest.mark.parametrize("half", [False, True])
def test_a_kill_at_any_step_leaves_whole_files_and_the_next_run_mends_it(tmp_path: Path, half: bool) -> None:
    before = OLD | {"turn": "file", "turned/a": "folder"}
    after = NEW | {"turn/a": "folder", "turned": "file"}
    for step in range(1, 100):
        out = tmp_path / f"{step}"
        write(out, before, "1")
        (out / "mine.txt").write_text("mine")
        code, errors = finish(child(out, after, "2", KILLER.format(n=step, half=half)))
        if code == 0:
            break
        assert code == 9, errors
        for path, text in content(out).items():
            if not Path(path).name.startswith(".gradspec-"):
                assert text in (before.get(path), after.get(path), "mine"), path
        assert not is_current(out, {"stamp": "2"})
        # The next run may be for either spec, or for another.
        for stamp, files in (("2", after), ("1", before), ("3", {"turn": "other", "more/new.txt": "other"})):
            mended = tmp_path / f"{step}-{stamp}"
            subprocess.run(["cp", "-a", out, mended], check=True)
            write(mended, files, stamp)
            assert content(mended) == files | {"mine.txt": "mine"}
            assert is_current(mended, {"stamp": stamp})
            assert {p.relative_to(mended).as_posix() for p in mended.rglob("*") if p.is_dir()} == folders_of(files)
    else:
        pytest.fail("the run never came to its end")
    assert step > 15
    assert content(out) == after | {"mine.txt": "mine"}


def test_runs_at_once_leave_the_work_of_one(tmp_path: Path) -> None:
    sets = {str(n): {f"{i}.txt": f"{n} {i}\n" * 2000 for i in range(n, n + 30)} for n in range(6)}
    running = [child(tmp_path, files, stamp) for stamp, files in sets.items()]
    assert [finish(process) for process in running] == [Child(0, "")] * len(sets)
    last = [stamp for stamp in sets if is_current(tmp_path, {"stamp": stamp})]
    assert len(last) == 1
    assert content(tmp_path) == sets[last[0]]


# -------------------------------------------------------------------------------------------------------------------- check


def test_check_tells_what_an_emit_would_do_and_does_not_do_it(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    before = content(tmp_path)
    assert check_outputs(tmp_path, NEW) == (
        Difference(
            "Functions.h",
            "changed",
            "--- Functions.h (on disk)\n+++ Functions.h (emitted)\n@@ -1,2 +1,2 @@\n // @generated\n-old\n+new\n",
        ),
        Difference("gone.txt", "stale", ""),
        Difference("more/new.txt", "missing", ""),
        Difference("sub/deep/part.txt", "stale", ""),
    )
    assert content(tmp_path) == before
    assert check_outputs(tmp_path, OLD) == ()


def test_check_of_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert check_outputs(tmp_path / "out", {"a": "x"}) == (Difference("a", "missing", ""),)
    assert not (tmp_path / "out").exists()


def test_check_sees_line_ends_and_bytes_that_are_not_text(tmp_path: Path) -> None:
    write(tmp_path, {"a": "x\n", "b": "x\n"})
    (tmp_path / "a").write_bytes(b"x\r\n")
    (tmp_path / "b").write_bytes(b"\xff\n")
    first, second = check_outputs(tmp_path, {"a": "x\n", "b": "x\n"})
    assert "-x\r\n+x\n" in first.diff
    assert "-\\xff\n+x\n" in second.diff


def test_check_refuses_the_paths_that_the_writer_refuses(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="leads out"):
        check_outputs(tmp_path, {"../a": "x"})
