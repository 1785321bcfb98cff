"""docs/using-emitted-code.md: its files are written as they stand there, its commands are run, and its output is the real one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed"),
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]


def fenced(page: str) -> list[tuple[str, str, str]]:
    """Each block between fences: the name between backquotes that is the last before it, its language, its text."""
    found = []
    before, *rest = page.split("\n```")
    for block, after in zip(rest[::2], rest[1::2], strict=True):
        language, _, text = block.partition("\n")
        paragraph = before.rstrip("\n").rpartition("\n\n")[2]
        found.append((paragraph.split("`")[1] if "`" in paragraph else "", language, text + "\n"))
        before = after
    return found


def test_the_page_is_true(repo: Path, tmp_path: Path) -> None:
    blocks = fenced((repo / "docs/using-emitted-code.md").read_text(encoding="utf-8"))
    files = {name: text for name, language, text in blocks if language in ("grad", "cpp", "python")}
    assert sorted(files) == ["swish.cpp", "swish.grad", "try.py"]
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = [text for _, language, text in blocks if language == "sh"]
    assert len(commands) == 2
    # The page's commands, by the interpreter that runs the tests.
    ours = f'python() {{ "{sys.executable}" "$@"; }}\ngradspec() {{ python -m gradspec "$@"; }}\nset -e\n'
    done = subprocess.run(["bash", "-c", ours + "".join(commands)], cwd=tmp_path, capture_output=True, text=True, timeout=290)
    assert done.returncode == 0, done.stdout + done.stderr
    (wanted,) = [text for _, language, text in blocks if language == "text"]
    assert done.stdout.endswith("\n" + wanted)
    assert done.stderr == ""
