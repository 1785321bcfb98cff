"""Headers and specs of old releases of torch, out of their wheels and cached in the checkout; knows no shape.

pip brings the wheels from the package index, without their dependencies and for whatever platform has a small one: headers are
the same on all. Only headers and packaged specs are unpacked.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from attrs import frozen

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "eras"
WANTED = ("torch/include/", "torchgen/packaged/")


@frozen
class Release:
    """A release of torch, and for which Python and platform its wheel is taken."""

    version: str
    python: str
    platform: str

    @property
    def folder(self) -> Path:
        """Where its wheel is unpacked: laid out like site-packages."""
        return CACHE / f"torch-{self.version}"

    @property
    def include(self) -> Path:
        """Its header folder."""
        return self.folder / "torch/include"


TORCH_1_8 = Release("1.8.1", "3.9", "macosx_10_9_x86_64")
TORCH_2_7 = Release("2.7.0", "3.11", "macosx_11_0_arm64")


def fetch(release: Release) -> Release:
    """Make sure that a release is in the cache, whole.

    Raises:
        SystemExit: pip could not bring it.
    """
    if release.folder.is_dir():
        return release
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        folder = Path(name)
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
        ]
        which = ["--platform", release.platform, "--python-version", release.python, f"torch=={release.version}"]
        done = subprocess.run([*pip, *which, "--dest", name], capture_output=True, text=True, check=False)
        wheel = next(folder.glob("*.whl"), None)
        if done.returncode != 0 or wheel is None:
            raise SystemExit(f"pip brought no torch {release.version}:\n{done.stderr[-2000:]}")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "unpacked", [n for n in archive.namelist() if n.startswith(WANTED)])
        # Renamed at the end, so that what is in the cache is whole; another run may have been faster.
        try:
            os.rename(folder / "unpacked", release.folder)
        except OSError:
            if not release.folder.is_dir():
                raise
            shutil.rmtree(folder / "unpacked")
    return release
