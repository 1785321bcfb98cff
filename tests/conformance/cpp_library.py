"""PyTorch's nodes with our helpers, emitted and built against the wheel: a library, and a module that makes its nodes for Python.

Both are kept in the checkout under a digest of all that they are made of, so that of several judges the first one builds.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from attrs import frozen
from command import gradspec
from header import emitted_nodes, torch_include

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache" / "cpp"
KEPT = 4
CORES = 2
WARNINGS = ("-Wall", "-Wextra", "-Werror")
# A section for each function says, where a symbol is missing, who asks for it.
FLAGS = ("-std=c++20", "-O1", "-fPIC", "-ffunction-sections", *WARNINGS)
LIBRARY, MODULE = "libgradspec_nodes.so", "gradspec_nodes"
_UNRESOLVED = re.compile(r"undefined reference to `([^']+)'")


@frozen
class Library:
    """What was built, in `folder`, where its sources and objects lie too.

    `unresolved`: the symbols that are nowhere, for which there is no library then.
    """

    folder: Path
    digest: str
    unresolved: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The shared library."""
        return self.folder / LIBRARY


def built_library() -> Library:
    """Emit all nodes of the installed torch, and build them if what is kept is not of these.

    Raises:
        SystemExit: gradspec or g++ failed; what it said is shown.
    """
    with tempfile.TemporaryDirectory() as name, _cache() as cache:
        emitted = Path(name)
        gradspec("emit", "--torch", "-b", "cpp", "-o", name)
        sources = sorted([*emitted.glob("*.h"), *emitted.glob("*.cpp")])
        digest = _digest([*FLAGS, *[text for path in sources for text in (path.name, path.read_text(encoding="utf-8"))]])
        folder = cache / digest
        said = folder / "linker.txt"
        if not said.is_file():
            _make_room(cache)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for path in sources:
                shutil.copy(path, folder / path.name)
            start = time.monotonic()
            objects = _compile(sorted(folder.glob("*.cpp"), key=lambda path: -path.stat().st_size), FLAGS, [])
            # What torch's headers define is called as it was compiled here, whatever other libraries have of the same name.
            text = _link(objects, folder / LIBRARY, ["-ltorch_cpu", "-lc10", "-Wl,-Bsymbolic-functions", "-Wl,-z,defs"])
            said.write_text(text, encoding="utf-8")
            print(f"built in {time.monotonic() - start:.0f} s, two sources at a time")
    return Library(folder, digest, tuple(sorted(set(_UNRESOLVED.findall(said.read_text(encoding="utf-8"))))))


def nodes_module() -> Any:
    """The module of cpp_nodes.h, over the library. Its `make(node)` gives our node with what PyTorch's own one keeps.

    Raises:
        SystemExit: g++ failed, or the library cannot be loaded; what was said is shown.
    """
    import torch

    library = built_library()
    folder = library.folder
    texts = _module_sources(folder)
    header = (HERE / "cpp_nodes.h").read_text(encoding="utf-8")
    made = folder / f"{MODULE}_{_digest([*texts, header, sys.version])}{sysconfig.get_config_var('EXT_SUFFIX')}"
    with _cache():
        if not made.is_file():
            start = time.monotonic()
            shutil.copy(HERE / "cpp_nodes.h", folder)
            inner = folder / "module"
            inner.mkdir(exist_ok=True)
            sources = [inner / f"module_{i}.cpp" for i in range(len(texts))]
            for source, text in zip(sources, texts, strict=True):
                source.write_text(text, encoding="utf-8")
            # A node is made once, and called by torch: nothing here is worth optimising.
            flags = [*FLAGS, "-O0", f"-I{folder}"]
            objects = _compile(sources, flags, [Path(sysconfig.get_paths()["include"])])
            libraries = ["-ltorch_python", "-ltorch_cpu", "-lc10", f"-L{folder}", f"-l:{LIBRARY}", "-Wl,-rpath,$ORIGIN"]
            exported = inner / "module.map"
            exported.write_text("{ global: PyInit_*; local: *; };\n", encoding="utf-8")
            _link(objects, made, [*libraries, f"-Wl,--version-script={exported}"])
            print(f"the module built in {time.monotonic() - start:.0f} s")
    assert torch.__version__
    found = spec_from_file_location(MODULE, made)
    assert found is not None
    assert found.loader is not None
    try:
        module = module_from_spec(found)
        found.loader.exec_module(module)
    except ImportError as error:
        raise SystemExit(f"the nodes cannot be loaded: {error}") from error
    return module


def _module_sources(folder: Path) -> list[str]:
    """The sources of the module, of which the first has the table of nodes."""
    nodes = sorted(emitted_nodes(folder).items())
    parts: list[list[str]] = [['#include "cpp_nodes.h"', ""] for _ in range(CORES)]
    for i, (name, shape) in enumerate(nodes):
        lines = [f"PyObject* make_{name}(const Owner& owner) {{", f"  auto made = c10::make_intrusive<ours::{name}>();"]
        if shape.members:
            lines.append(f"  const auto& from = static_cast<const theirs::{name}&>(*owner);")
            lines.append("  const Copy copy{owner};")
        lines += [f"  copy(made->{m.name}, from.{m.name});" for m in shape.members]
        parts[i % CORES] += [*lines, "  return finished(made, owner);", "}"]
    parts[0] += ["", *[f"PyObject* make_{name}(const Owner& owner);" for name, _ in nodes]]
    parts[0] += ["", "static const Makers makers = {", *[f'    {{"{name}", make_{name}}},' for name, _ in nodes], "};"]
    parts[0] += ["", f"GRADSPEC_MODULE({MODULE}, makers)"]
    return ["\n".join([*lines, ""]) for lines in parts]


@contextmanager
def _cache() -> Iterator[Path]:
    """The folder of what is kept, for one process at a time."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield CACHE


def _make_room(cache: Path) -> None:
    folders = sorted([path for path in cache.iterdir() if path.is_dir()], key=lambda path: -path.stat().st_mtime)
    for old in folders[KEPT - 1 :]:
        shutil.rmtree(old)


def _digest(parts: Iterable[str]) -> str:
    version = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout
    # The headers of another build of the same release are others: the version that the wheel says of itself tells them apart.
    torch = (torch_include().parent / "version.py").read_text(encoding="utf-8")
    return hashlib.blake2b("\0".join([version, torch, *parts]).encode(), digest_size=12).hexdigest()


def _compile(sources: Sequence[Path], flags: Sequence[str], systems: Sequence[Path]) -> list[Path]:
    include = torch_include()
    headers = [f"-isystem{path}" for path in (include, include / "torch/csrc/api/include", *systems)]
    objects = [path.with_suffix(".o") for path in sources]

    def one(source: Path, made: Path) -> None:
        _run("g++", *flags, *headers, "-c", str(source), "-o", str(made))

    with ThreadPoolExecutor(min(CORES, os.cpu_count() or 1)) as pool:
        list(pool.map(one, sources, objects))
    return objects


def _link(objects: Sequence[Path], made: Path, libraries: Sequence[str]) -> str:
    """What the linker says of a library. Of one that lacks symbols that is what they are, and there is no library."""
    lib = torch_include().parent / "lib"
    command = ("g++", "-shared", *map(str, objects), f"-L{lib}", *libraries, f"-Wl,-rpath-link,{lib}", "-o", str(made))
    return _run(*command, unless=_UNRESOLVED)


def _run(*command: str, unless: re.Pattern[str] | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and not (unless and unless.search(done.stderr)):
        raise SystemExit(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stderr
