"""docs/bindings.md: its extension is built from the files of docs/using-emitted-code.md, and prints what stands there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_using_emitted_code import fenced

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed"),
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]


def test_the_extension_is_true(repo: Path, tmp_path: Path) -> None:
    before = fenced((repo / "docs/using-emitted-code.md").read_text(encoding="utf-8"))
    blocks = fenced((repo / "docs/bindings.md").read_text(encoding="utf-8"))
    files = {name: text for name, language, text in [*before, *blocks] if language in ("grad", "cpp", "python")}
    assert files.keys() >= {"swish.grad", "swish.cpp", "module.cpp", "read.py"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (commands,) = [text for _, language, text in blocks if language == "sh"]
    # The page's commands, by the interpreter that runs the tests.
    ours = f'python() {{ "{sys.executable}" "$@"; }}\ngradspec() {{ python -m gradspec "$@"; }}\nset -e\n'
    done = subprocess.run(["bash", "-c", ours + commands], cwd=tmp_path, capture_output=True, text=True, timeout=290)
    assert done.returncode == 0, done.stdout + done.stderr
    (wanted,) = [text for _, language, text in blocks if language == "text"]
    assert done.stdout.endswith("\n" + wanted)
    assert done.stderr == ""
