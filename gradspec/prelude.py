"""The functions that gradspec brings along: finds their files and resolves what is called of them; knows no op."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import cast

from gradspec import ir
from gradspec import syntax as s
from gradspec.cache import cache_folder
from gradspec.diagnostics import Diagnostics
from gradspec.fingerprint import code_digest
from gradspec.load import load_source
from gradspec.op_table import OpTable
from gradspec.parse import parse_spec
from gradspec.resolve_functions import resolve_functions
from gradspec.rewrite import rewrite_file


@cache
def prelude_folder() -> Path:
    """The folder of the prelude: installed beside this module, else among the specs of a checkout."""
    here = Path(__file__).resolve().parent
    installed = here / "prelude"
    return installed if installed.is_dir() else here.parent / "specs" / "prelude"


def prelude_files() -> tuple[Path, ...]:
    """The files of the prelude, by name."""
    return tuple(sorted(prelude_folder().glob("*.grad")))


@cache
def _written() -> tuple[s.Function, ...]:
    """The functions as they are written, kept between runs: reading them takes as long as all else that is done with them."""
    folder = cache_folder()
    kept = None if folder is None else folder / f"prelude-{code_digest('gradspec')[:16]}.pickle"
    if kept is not None:
        with contextlib.suppress(OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
            return cast(tuple[s.Function, ...], pickle.loads(kept.read_bytes()))
    functions = _read()
    if kept is not None:
        with contextlib.suppress(OSError):
            for old in kept.parent.glob("prelude-*.pickle"):
                old.unlink(missing_ok=True)
            rewrite_file(kept, pickle.dumps(functions, pickle.HIGHEST_PROTOCOL))
    return functions


def _read() -> tuple[s.Function, ...]:
    diagnostics = Diagnostics()
    sources = [load_source(path, diagnostics) for path in prelude_files()]
    specs = [parse_spec(source, diagnostics) for source in sources if source is not None]
    diagnostics.raise_errors()
    return tuple([f for spec in specs for f in spec.functions])


def prelude_functions(table: OpTable, hidden: Iterable[str]) -> tuple[ir.Function, ...]:
    """The prelude's functions but for those of a hidden name, which a spec defines itself.

    They are right: the tests hold them against the operators of the torch that they are for.
    """
    names = frozenset(hidden)
    return resolve_functions([f for f in _written() if f.schema.name.base not in names], table, names, Diagnostics())
