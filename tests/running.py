"""Emitted Python as modules."""

from __future__ import annotations

import sys
import types


def run(text: str) -> types.ModuleType:
    """The text as a module that classes can find."""
    module = types.ModuleType(f"emitted_{len(sys.modules)}")
    sys.modules[module.__name__] = module
    exec(compile(text, "emitted.py", "exec"), module.__dict__)
    return module
