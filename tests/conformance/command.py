"""Runs the gradspec of this interpreter as a user would; knows nothing of what comes out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def gradspec(*arguments: str, environment: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    """The standard output of one run.

    Raises:
        SystemExit: the run failed; what it said is shown.
    """
    command = [sys.executable, "-m", "gradspec", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    if done.returncode != 0:
        sys.stdout.write(done.stdout[-2000:] + done.stderr[-6000:])
        raise SystemExit(f"gradspec {' '.join(arguments)} ended with exit code {done.returncode}")
    return done.stdout


def ir_records(*arguments: str) -> list[dict[str, Any]]:
    """The records of `gradspec ir --format json`, in their order.

    Raises:
        SystemExit: the run failed, or its JSON is of another format than the one known here.
    """
    document = json.loads(gradspec("ir", *arguments, "--format", "json"))
    if document.get("format") != 1:
        raise SystemExit(f"the JSON form of the IR is {document.get('format')!r}, and 1 is known here")
    nodes: list[dict[str, Any]] = document["nodes"]
    return nodes
