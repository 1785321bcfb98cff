"""The files of the backend, from a program; knows neither C++ types nor expressions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import Attribute, field, frozen

from gradspec.diagnostics import Diagnostics
from gradspec.emit.cxx import call
from gradspec.emit.identifiers import is_cxx_reserved
from gradspec.emit.templates import template_environment
from gradspec.ir import Program
from gradspec_cpp.expr import emit_expr_lines
from gradspec_cpp.model import node_model
from gradspec_cpp.shapes import SHAPES

# Templates are named from here: those that shapes share, and those of one shape.
_TEMPLATES = Path(__file__).parent

# Where a build of PyTorch itself has its nodes: there are no others beside them then.
_UPSTREAM_NAMESPACE = "torch::autograd::generated"


def _check_namespace(_: object, attribute: Attribute[str], value: str) -> None:
    parts = value.split("::")
    if not all(part.isascii() and part.isidentifier() and not is_cxx_reserved(part) for part in parts):
        raise ValueError(f"{attribute.name}={value} is not a C++ namespace; write names joined by `::`")


def _check_optional_namespace(_: object, attribute: Attribute[str], value: str) -> None:
    if value:
        _check_namespace(_, attribute, value)


def _check_header(_: object, attribute: Attribute[str], value: str) -> None:
    if not value.isprintable() or '"' in value or "\\" in value:
        raise ValueError(f"{attribute.name}={value!r} is not the path of a header")


def _check_shape(_: object, attribute: Attribute[str], value: str) -> None:
    if value not in SHAPES:
        raise ValueError(f"{attribute.name}={value} is not a shape; write one of {', '.join(SHAPES)}")


@frozen
class CppOptions:
    """What `-O key=value` sets.

    Raises:
        ValueError: a value is no namespace, no header, or no shape.
    """

    shape: str = field(
        default="torch-2.13",
        validator=_check_shape,
        metadata={"help": f"the form of a node: {', '.join(SHAPES)}"},
    )

    namespace: str = field(
        default="gradspec::generated",
        validator=_check_namespace,
        metadata={"help": "the namespace of the emitted classes, nested with `::`"},
    )
    helpers_header: str = field(
        default="torch/csrc/autograd/FunctionsManual.h",
        validator=_check_header,
        metadata={"help": "the header with the helper functions that formulas call; empty for none"},
    )
    helpers_namespace: str = field(
        default="torch::autograd::generated::details",
        validator=_check_optional_namespace,
        metadata={"help": "the namespace of the helper functions; empty for none"},
    )


def emit(program: Program, options: CppOptions) -> Mapping[str, str]:
    """The files that declare and define every node of `program`.

    Raises:
        SpecError: names or types that C++ cannot express, all at once.
    """
    shape = SHAPES[options.shape]
    diagnostics = Diagnostics()
    nodes = [node_model(op, shape.speech, diagnostics) for op in program.nodes]
    diagnostics.raise_errors()
    environment = template_environment(_TEMPLATES)
    environment.globals.update(call=call, formula=emit_expr_lines)
    prefix = "" if options.namespace == _UPSTREAM_NAMESPACE else f"{options.namespace.replace('::', '_')}_"
    values = {"nodes": nodes, "options": options, "bound_prefix": prefix}
    templates = {"Functions.h": shape.header, "Functions.cpp": shape.source, **shape.runtime}
    return {name: environment.get_template(template).render(values) for name, template in templates.items()}
