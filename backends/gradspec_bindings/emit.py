"""The files of the backend, from a program; knows no type's spelling and no template's text."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from attrs import Attribute, field, frozen

from gradspec.diagnostics import Diagnostics
from gradspec.emit.cxx import comment, string_literal
from gradspec.emit.options import cxx_namespace, shape_of
from gradspec.emit.templates import template_environment
from gradspec.ir import Program
from gradspec_bindings.model import NodeClass, node_class
from gradspec_bindings.texts import cxx_text, python_docstring

_TEMPLATES = Path(__file__).parent / "templates"
_MAX_SHARDS = 256

# A shard costs the compiler torch's headers, seconds, and a node milliseconds: only many nodes are worth a second file.
_NODES_PER_SHARD = 300

# Under this salt PyTorch 2.13's nodes fall into 2, 3, 4, 5, 6 or 8 files that differ from their mean by a tenth at most.
_SALT = (139).to_bytes(8, "big")

# By the names of the shapes of the backend `cpp`: those with getters, and the one of torch 1.8, which had none.
_SHAPES = ("torch-2.13", "functional", "packed", "apply")


def _check_module(_: object, attribute: Attribute[str], value: str) -> None:
    if not (value.isascii() and value.isidentifier()):
        raise ValueError(f"{attribute.name}={value} is not the name of a Python module")


def _check_shards(_: object, attribute: Attribute[int], value: int) -> None:
    if not 0 <= value <= _MAX_SHARDS:
        raise ValueError(f"{attribute.name}={value} is not a number of files from 0 to {_MAX_SHARDS}")


@frozen
class BindingsOptions:
    """What `-O key=value` sets.

    Raises:
        ValueError: a value is no shape, no namespace, no module, or no number of files.
    """

    shape: str = field(
        default="torch-2.13",
        validator=shape_of(_SHAPES),
        metadata={"help": f"the form of the nodes: {', '.join(_SHAPES)}; apply registers classes without getters"},
    )
    namespace: str = field(
        default="gradspec::generated",
        validator=cxx_namespace,
        metadata={"help": "the namespace of the nodes' classes, as for `-b cpp`"},
    )
    shards: int = field(
        default=0,
        validator=_check_shards,
        metadata={"help": "how many python_functions_N.cpp there are; 0 for as many as the nodes are worth"},
    )
    module: str = field(
        default="_functions",
        validator=_check_module,
        metadata={"help": "the Python module that holds the classes: the name of the stub file"},
    )
    upstream_integers: bool = field(
        default=False,
        metadata={"help": "read integers as torch 2.13 does: -1 as 18446744073709551615"},
    )


def emit(program: Program, options: BindingsOptions) -> Mapping[str, str]:
    """The files that give every node of `program` its Python class.

    Raises:
        SpecError: values of which Python could not be told, all at once.
    """
    diagnostics = Diagnostics()
    nodes = [node_class(op, diagnostics) for op in program.nodes]
    diagnostics.raise_errors()
    environment = template_environment(_TEMPLATES)
    environment.globals.update(comment=comment, cxx_text=cxx_text, docstring=python_docstring, literal=string_literal)
    shards = make_shards(nodes, options.shards)
    values = {"options": options, "nodes": nodes, "shards": range(len(shards))}

    def render(template: str, **more: object) -> str:
        return environment.get_template(template).render(values | more)

    if options.shape == "apply":
        return {
            "python_functions.h": render("apply_functions.h.j2"),
            "python_functions.cpp": render("apply_functions.cpp.j2"),
        }
    files = {
        "python_functions.h": render("python_functions.h.j2"),
        "gradspec_getters.h": render("gradspec_getters.h.j2"),
        "gradspec_getters.cpp": render("gradspec_getters.cpp.j2"),
        f"{options.module}.pyi": render("stub.pyi.j2"),
    }
    for i, shard in enumerate(shards):
        files[f"python_functions_{i}.cpp"] = render("python_functions.cpp.j2", nodes=shard, index=i)
    return files


def make_shards(nodes: list[NodeClass], asked: int) -> tuple[tuple[NodeClass, ...], ...]:
    """The nodes in `asked` files; in a power of two of them, by the number of nodes, where that is 0.

    Where a node goes depends on its name and on the number of files alone, so that a new one changes one file.
    """
    count = asked or 1
    while not asked and len(nodes) >= 2 * count * _NODES_PER_SHARD and count < _MAX_SHARDS:
        count *= 2
    shards: list[list[NodeClass]] = [[] for _ in range(count)]
    for node in nodes:
        digest = blake2b(node.name.encode(), digest_size=8, salt=_SALT).digest()
        shards[int.from_bytes(digest, "big") % count].append(node)
    return tuple(map(tuple, shards))
