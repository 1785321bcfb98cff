"""What all tests share: the checkout, the command line as a process, and how hypothesis runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# `make test` must not speak to the makes that tests run.
for _name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
    os.environ.pop(_name, None)

REPO = Path(__file__).resolve().parent.parent

# Times differ too much between machines to be a property. In CI the same examples come each time; elsewhere new ones do.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def repo() -> Path:
    """The top folder of the checkout."""
    return REPO


def environment(*folders: Path) -> dict[str, str]:
    """The environment for a process that also finds what is installed in these folders."""
    path = os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | ({"PYTHONPATH": path} if path else {})


@pytest.fixture(scope="session")
def with_path() -> Callable[[Path], dict[str, str]]:
    """The environment for a process that also finds what is installed in a folder."""
    return environment


RunGradspec = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def run_gradspec() -> RunGradspec:
    """Run `gradspec ARGS` as a process of its own, in `cwd`, with what is installed in `also`."""

    def run(*args: str | Path, cwd: Path | None = None, also: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gradspec", *map(str, args)]
        env = environment(*([also] if also else []))
        return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, env=env)

    return run
