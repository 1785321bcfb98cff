"""`bindings: ratio (0.7)`: g++ over all that `gradspec emit --torch -b bindings` writes, against torchgen's python_functions.

The same classes on both sides, those of foreach ops included. Each shard is compiled once: on a machine that does nothing else.
"""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from measure import Contender, conclude, gradspec_command, installed_spec, run_once

BOUND = 0.7
FLAGS = ("-std=c++20", "-O2", "-fPIC", "-c")


def emit_upstream(out: Path) -> None:
    """The shards of torchgen, with the foreach records that a real build adds to the nodes and not to their bindings."""
    load: Any = import_module("torchgen.packaged.autograd.load_derivatives")
    emission: Any = import_module("torchgen.packaged.autograd.gen_autograd_functions")
    generation: Any = import_module("torchgen.gen")
    autograd: Any = import_module("torchgen.api.autograd")
    cpp: Any = import_module("torchgen.api.cpp")
    derivatives, native_functions, tags = map(str, installed_spec())
    infos, _ = load.load_derivatives(derivatives, native_functions, tags)
    functions = generation.parse_native_yaml(native_functions, tags).native_functions
    autograd.match_differentiability_info(sorted(functions, key=lambda f: cpp.name(f.func)), infos)
    emission.gen_autograd_functions_python(str(out), infos, str(Path(load.__file__).parent / "templates"))


def compiled(sources: list[Path], folders: list[Path], out: Path) -> float:
    """The CPU seconds that g++ takes for all of the sources.

    Raises:
        SystemExit: there is no g++ or no torch, or a source does not compile.
    """
    compiler, found = shutil.which("g++"), find_spec("torch")
    if compiler is None or found is None or found.origin is None:
        raise SystemExit("this bench needs g++ and the torch wheel")
    include = Path(found.origin).parent / "include"
    systems = [include, include / "torch/csrc/api/include", Path(sysconfig.get_paths()["include"])]
    flags = [*FLAGS, *(f"-I{folder}" for folder in folders), *(f"-isystem{folder}" for folder in systems)]
    total = 0.0
    for source in sources:
        command = (compiler, *flags, str(source), "-o", str(out / f"{source.stem}.o"))
        seconds, megabytes = run_once(Contender(source.name, command))
        print(f"  {source.name:<28} {seconds:7.2f} s {megabytes:6.0f} MB")
        total += seconds
    return total


def main() -> None:
    """Emit both, compile both, conclude."""
    with tempfile.TemporaryDirectory() as name:
        nodes, ours, theirs = (Path(name, part) for part in ("nodes", "ours", "theirs"))
        for backend, folder in (("cpp", nodes), ("bindings", ours)):
            subprocess.run(gradspec_command("emit", "--torch", "-b", backend, "-o", str(folder)), check=True, capture_output=True)
        theirs.mkdir()
        emit_upstream(theirs)
        print(f"g++ {' '.join(FLAGS)}, torchgen")
        upstream = compiled(sorted(theirs.glob("python_functions_*.cpp")), [theirs], Path(name))
        print(f"g++ {' '.join(FLAGS)}, gradspec")
        gradspec = compiled(sorted(ours.glob("*.cpp")), [ours, nodes], Path(name))
        classes = [
            sum(text.count("addClass<") + text.count("add_class<") for text in _texts(folder)) for folder in (ours, theirs)
        ]
    print(f"gradspec {gradspec:.1f} s for {classes[0]} classes, torchgen {upstream:.1f} s for {classes[1]}")
    conclude("bindings", gradspec / upstream, BOUND)


def _texts(folder: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in folder.glob("python_functions_*.cpp")]


if __name__ == "__main__":
    main()
