"""The files of the backend, from a program; knows neither C++ types nor expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from attrs import Attribute, evolve, field, frozen

from gradspec.diagnostics import Diagnostics
from gradspec.emit.cxx import call
from gradspec.emit.options import cxx_namespace, shape_of
from gradspec.emit.templates import template_environment
from gradspec.ir import Program, called_functions
from gradspec.signatures import declared_functions
from gradspec_cpp import helpers
from gradspec_cpp.expr import emit_expr_lines
from gradspec_cpp.functions import PRIMITIVES, function_models, unwritten_models
from gradspec_cpp.model import node_model
from gradspec_cpp.shapes import SHAPES
from gradspec_cpp.shapes.shape import Shape
from gradspec_cpp.shards import MAX_SHARDS, make_shards
from gradspec_cpp.types import common_members

# Templates are named from here: those that shapes share, and those of one shape.
_TEMPLATES = Path(__file__).parent

# Where a build of PyTorch itself has its nodes: there are no others beside them then.
_UPSTREAM_NAMESPACE = "torch::autograd::generated"


def _check_optional_namespace(_: object, attribute: Attribute[str], value: str) -> None:
    if value:
        cxx_namespace(_, attribute, value)


def _check_header(_: object, attribute: Attribute[str], value: str) -> None:
    if not value.isprintable() or '"' in value or "\\" in value:
        raise ValueError(f"{attribute.name}={value!r} is not the path of a header")


def _check_shards(_: object, attribute: Attribute[int], value: int) -> None:
    if not 0 <= value <= MAX_SHARDS:
        raise ValueError(f"{attribute.name}={value} is not a number from 0 to {MAX_SHARDS}")


@frozen
class CppOptions:
    """What `-O key=value` sets.

    Raises:
        ValueError: a value is no namespace, no header, no shape, or no number of shards.
    """

    shape: str = field(
        default="torch-2.13",
        validator=shape_of(SHAPES),
        metadata={"help": f"the form of a node: {', '.join(SHAPES)}"},
    )

    namespace: str = field(
        default="gradspec::generated",
        validator=cxx_namespace,
        metadata={"help": "the namespace of the emitted classes, nested with `::`"},
    )
    helpers_header: str = field(
        default=helpers.HEADER,
        validator=_check_header,
        metadata={"help": "the header with the helper functions that formulas call; empty for none"},
    )
    helpers_namespace: str = field(
        default=helpers.NAMESPACE,
        validator=_check_optional_namespace,
        metadata={"help": "the namespace of the helper functions; empty for none"},
    )
    shards: int = field(
        default=0,
        validator=_check_shards,
        metadata={"help": "how many source files, Functions_0.cpp and so on; 0 for as many as their cost asks for"},
    )


# The emitted headers of helpers: declarations of PyTorch's, and functions of the language.
_DECLARED, _FUNCTIONS = "gradspec_helpers.h", "Helpers.h"


def _torch_helpers(program: Program, options: CppOptions, shape: Shape) -> tuple[str, Iterable[str]]:
    """The header of helpers that are written in C++, empty for none, and the names of those that it is known to declare."""
    usual = (options.helpers_header, options.helpers_namespace) == (helpers.HEADER, helpers.NAMESPACE)
    if usual and program.own_helpers:
        return "", ()
    # Torch's own header is a heavy one: for the release that a shape is made for, what is called of it is declared.
    return (_DECLARED, helpers.helper_names()) if usual and shape.torch == helpers.TORCH else (options.helpers_header, ())


def _for_old_torch(program: Program, shape: Shape) -> Program:
    """The program for a shape without functions: helpers are those of PyTorch.

    Raises:
        SpecError: an op calls a function that PyTorch does not have.
    """
    own = evolve(program, functions=tuple([f for f in program.functions if f.name not in declared_functions()]))
    diagnostics = Diagnostics()
    for op in program.nodes:
        for function in called_functions(own.functions, [d.formula for d in op.derivatives])[:1]:
            message = f"`{op.name}` calls the function `{function.name}`: shape {shape.name} is C++14, which has no form for it"
            diagnostics.add("GS0906", message, op.span, help="write it in C++, and declare it: `extern NAME;`")
    diagnostics.raise_errors()
    return evolve(program, functions=(), own_helpers=False)


def emit(program: Program, options: CppOptions) -> Mapping[str, str]:
    """The files that declare and define every node of `program`.

    Raises:
        SpecError: names or types that C++ cannot express, all at once.
    """
    shape = SHAPES[options.shape]
    if not shape.has_functions:
        program = _for_old_torch(program, shape)
    diagnostics = Diagnostics()
    nodes = {op.node: node_model(op, shape.speech, diagnostics) for op in program.nodes}
    diagnostics.raise_errors()
    environment = template_environment(_TEMPLATES)
    environment.globals.update(call=call, formula=emit_expr_lines)
    prefix = "" if options.namespace == _UPSTREAM_NAMESPACE else f"{options.namespace.replace('::', '_')}_"
    values = {"options": options, "bound_prefix": prefix}

    def render(template: str, **more: object) -> str:
        return environment.get_template(template).render(values | more)

    files = {name: render(template) for name, template in shape.runtime.items()}
    common = common_members(shape.speech.words)
    torch_helpers, torch_names = _torch_helpers(program, options, shape)
    if torch_helpers == _DECLARED:
        files[_DECLARED] = render("templates/gradspec_helpers.h.j2", helpers=helpers, tuple=tuple)
    functions = function_models(program)
    if program.own_helpers and not torch_helpers:
        functions += unwritten_models(program)
    has_functions = bool(functions) or program.own_helpers
    declared = dict.fromkeys(torch_names, f'"{torch_helpers}"')
    if has_functions:
        declared |= dict.fromkeys([*PRIMITIVES, *[f.name for f in functions]], f'"{_FUNCTIONS}"')
        files["gradspec_functions.h"] = render("templates/gradspec_functions.h.j2")
        files[_FUNCTIONS] = render("templates/Helpers.h.j2", functions=functions)
        # Also where it is empty, so that a build knows its files.
        files["Helpers.cpp"] = render("templates/Helpers.cpp.j2", functions=functions, torch_helpers=torch_helpers)
    values |= {"torch_helpers": torch_helpers, "functions_header": f'"{_FUNCTIONS}"' if has_functions else ""}
    shards = make_shards(program, options.shards, shape.has_operator_headers, declared)
    if len(shards) > 1:
        files["Functions.h"] = render("templates/Functions_all.h.j2", shards=shards)
    for shard in shards:
        here = [nodes[op.node] for op in shard.ops]
        # What to do with a member is compiled in the first shard for all, unless its type is a rare one.
        first = shard is shards[0]
        shared = (*shape.told, *common) if first and len(shards) > 1 else ()
        rare = any(not m.spelling.visit and m.spelling.member not in common for node in here for m in node.saved)
        files[f"{shard.stem}.h"] = render(shape.header, nodes=here)
        files[f"{shard.stem}.cpp"] = render(
            shape.source, nodes=here, shard=shard, first=first, shared=shared, does_tasks=first or rare
        )
    return files
