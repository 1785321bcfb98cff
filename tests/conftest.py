"""What all tests share: the checkout, the command line as a process, and how hypothesis runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

REPO = Path(__file__).resolve().parent.parent

# Times differ too much between machines to be a property. In CI the same examples come each time; elsewhere new ones do.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def repo() -> Path:
    """The top folder of the checkout."""
    return REPO


@pytest.fixture(scope="session")
def run_gradspec() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `gradspec ARGS` as a process of its own; keyword arguments go to `subprocess.run`."""

    def run(*args: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gradspec.cli", *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)  # type: ignore[call-overload, no-any-return]

    return run
