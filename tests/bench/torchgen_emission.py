"""The other side of the benches: torchgen loads a spec and emits its nodes; knows nothing of gradspec and imports no torch.

Usage: torchgen_emission.py DERIVATIVES NATIVE_FUNCTIONS TAGS OUT [--times]
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any


def main(derivatives: str, native_functions: str, tags: str, out: str, times: str = "") -> None:
    """Load, add the foreach records, and write Functions.h and Functions.cpp, as the real build does."""
    start = time.process_time()
    load: Any = import_module("torchgen.packaged.autograd.load_derivatives")
    emission: Any = import_module("torchgen.packaged.autograd.gen_autograd_functions")
    generation: Any = import_module("torchgen.gen")
    autograd: Any = import_module("torchgen.api.autograd")
    cpp: Any = import_module("torchgen.api.cpp")
    imported = time.process_time()
    infos, _ = load.load_derivatives(derivatives, native_functions, tags)
    functions = generation.parse_native_yaml(native_functions, tags).native_functions
    autograd.match_differentiability_info(sorted(functions, key=lambda f: cpp.name(f.func)), infos)
    loaded = time.process_time()
    Path(out).mkdir(parents=True, exist_ok=True)
    templates = Path(load.__file__).parent / "templates"
    emission.gen_autograd_functions_lib(out, infos, str(templates))
    emitted = time.process_time()
    assert "torch" not in sys.modules
    if times:
        print(f"start and import {imported:.3f} s, load {loaded - imported:.3f} s, emission {emitted - loaded:.3f} s")
        print(f"of it interpreter start {start:.3f} s; sum {emitted:.3f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
