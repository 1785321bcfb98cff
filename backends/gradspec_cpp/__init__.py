"""C++ autograd nodes, in the shape of torch 2.13 or of an older one; knows the IR alone."""

from __future__ import annotations

from collections.abc import Mapping

from gradspec.backend import API_VERSION
from gradspec.ir import Program
from gradspec_cpp.emit import CppOptions, emit


class CppBackend:
    """The backend that `-b cpp` names."""

    name = "cpp"
    description = "C++ autograd nodes for torch 2.13 or older ones: Functions.h, Functions.cpp and what they share"
    api_version = API_VERSION
    Options = CppOptions

    def emit(self, program: Program, options: CppOptions) -> Mapping[str, str]:
        """See `gradspec_cpp.emit.emit`."""
        return emit(program, options)


BACKEND = CppBackend()
