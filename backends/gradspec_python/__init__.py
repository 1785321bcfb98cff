"""Pure Python: gradients as functions, autograd functions around them; knows the IR alone."""

from __future__ import annotations

from collections.abc import Mapping

from gradspec.backend import API_VERSION
from gradspec.ir import Program
from gradspec_python.emit import PythonOptions, emit


class PythonBackend:
    """The backend that `-b python` names."""

    name = "python"
    description = "Python for torch 2.13: a module a spec, with gradients as pure functions and autograd functions around them"
    api_version = API_VERSION
    Options = PythonOptions

    def emit(self, program: Program, options: PythonOptions) -> Mapping[str, str]:
        """See `gradspec_python.emit.emit`."""
        return emit(program, options)


BACKEND = PythonBackend()
