"""`getters: N/2691`: the `_saved_*` and `_raw_saved_*` of torch._C._functions, each in the class of that name that bindings emit.

Ours are read from the emitted stub. Every node has one class, those of `_foreach_*` included, which torch gives none.

Usage: getters.py [--details FILE]
"""

from __future__ import annotations

import ast
import sys
import tempfile
from pathlib import Path
from typing import Any

from command import gradspec, ir_records

PREFIXES = ("_saved_", "_raw_saved_")


def torch_getters() -> dict[str, frozenset[str]]:
    """The classes of the installed torch that have getters, or that are of a node of a formula, with their getters."""
    import torch

    module: Any = torch._C._functions
    classes = {name: value for name, value in vars(module).items() if isinstance(value, type)}
    return {name: frozenset(n for n in vars(class_) if n.startswith(PREFIXES)) for name, class_ in classes.items()}


def stub_getters(text: str) -> dict[str, frozenset[str]]:
    """The classes of an emitted stub, with the properties that are getters.

    Raises:
        SystemExit: a class or a getter that is there twice.
    """
    found: dict[str, frozenset[str]] = {}
    for class_ in ast.parse(text).body:
        if not isinstance(class_, ast.ClassDef):
            continue
        names = [f.name for f in class_.body if isinstance(f, ast.FunctionDef) and f.name.startswith(PREFIXES)]
        if class_.name in found or len(set(names)) < len(names):
            raise SystemExit(f"{class_.name} stands in the stub twice, or one of its getters does")
        found[class_.name] = frozenset(names)
    return found


def main(details: str | None) -> None:
    """Emit, compare, count."""
    theirs = torch_getters()
    with tempfile.TemporaryDirectory() as folder:
        gradspec("emit", "--torch", "-b", "bindings", "-o", folder)
        ours = stub_getters(Path(folder, "_functions.pyi").read_text(encoding="utf-8"))
        text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.cpp")))
    nodes = [record["node"] for record in ir_records("--torch") if record["node"]]
    problems = [f"{node} has no class" for node in nodes if node not in ours]
    problems += [f"{node} is registered {n} times" for node in nodes if (n := text.count(f"add_class<{node}>(")) != 1]
    missing = [f"{name}.{getter}" for name in theirs for getter in sorted(theirs[name] - ours.get(name, frozenset()))]
    total = sum(map(len, theirs.values()))
    more = sum(len(ours[name] - theirs.get(name, frozenset())) for name in nodes if name in ours)
    if details:
        Path(details).write_text("".join(f"{line}\n" for line in problems + missing), encoding="utf-8")
    for line in (problems + missing)[:20]:
        print(line)
    print(f"{len(nodes)} classes, one a node; {more} getters more than torch has")
    print(f"getters: {total - len(missing)}/{total}")
    raise SystemExit(1 if missing or problems else 0)


if __name__ == "__main__":
    main(sys.argv[2] if sys.argv[1:2] == ["--details"] else None)
