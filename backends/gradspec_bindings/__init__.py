"""Python classes for C++ nodes, with a getter for all that they keep, and type stubs; knows the IR alone."""

from __future__ import annotations

from collections.abc import Mapping

from gradspec.backend import API_VERSION, Backend
from gradspec.ir import Program
from gradspec_bindings.emit import BindingsOptions, emit


class BindingsBackend:
    """The backend that `-b bindings` names."""

    name = "bindings"
    description = "Python classes for the nodes of `cpp`: python_functions.h, its shards, the getters, and type stubs"
    api_version = API_VERSION
    Options: type[BindingsOptions] = BindingsOptions

    def emit(self, program: Program, options: BindingsOptions) -> Mapping[str, str]:
        """See `gradspec_bindings.emit.emit`."""
        return emit(program, options)


BACKEND: Backend = BindingsBackend()
