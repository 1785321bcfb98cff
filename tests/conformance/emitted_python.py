"""PyTorch's own spec emitted as Python and imported, with what each node keeps; knows no judge."""

from __future__ import annotations

import sys
import tempfile
import types
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen
from command import gradspec, ir_records


@frozen(eq=False)
class Node:
    """One node of the spec and its emitted functions. `function` is None where the node was left out."""

    record: dict[str, Any]
    function: type[Any] | None
    backward: Any

    @property
    def name(self) -> str:
        name: str = self.record["node"]
        return name


@cache
def emitted_module() -> types.ModuleType:
    """The module that `gradspec emit --torch -b python -O skip=true` writes, imported."""
    with tempfile.TemporaryDirectory() as folder:
        gradspec("emit", "--torch", "-b", "python", "-O", "skip=true", "-o", folder)
        path = Path(folder) / "derivatives.py"
        module = types.ModuleType("emitted_derivatives")
        module.__file__ = str(path)
        sys.modules[module.__name__] = module
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


@cache
def nodes() -> dict[str, Node]:
    """Every node of the spec by class name, foreach ones included."""
    module = emitted_module()
    found = {}
    for record in ir_records("--torch"):
        name = record["node"]
        if name is None:
            continue
        function = getattr(module, name, None)
        found[name] = Node(record, function, getattr(module, backward_name(record), None) if function else None)
    return found


def backward_name(record: dict[str, Any]) -> str:
    """The name of a node's pure function."""
    parts = [*record["op"].replace("::", ".").split(".")]
    if record["dispatch"] != "Default":
        parts.append(record["dispatch"])
    return "_".join(parts) + "_backward"
