"""What an emit read, as the rules that Make and Ninja include; knows no build and writes no file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def render_depfile(targets: Iterable[Path], dependencies: Iterable[Path]) -> str:
    """A rule by which `targets` depend on `dependencies`, in the form that compilers write for `-MD -MP`.

    Each dependency also gets a rule of its own with nothing in it: one that is gone by the next run makes the targets stale,
    where Make would otherwise stop for want of it.
    """
    files = [_escaped(path) for path in dependencies]
    rule = " \\\n  ".join([f"{' '.join([_escaped(path) for path in targets])}:", *files])
    return "\n\n".join([rule, *[f"{file}:" for file in files]]) + "\n"


def _escaped(path: Path) -> str:
    """A path as Make reads it back: blanks, number signs and dollars are the only characters that it can be told not to mean."""
    return str(path).replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
