"""Nodes as stateless functions over what is saved; knows no other shape."""

from __future__ import annotations

from gradspec_cpp.model import Speech
from gradspec_cpp.shapes.shape import SHARED_HEADERS, SHARED_NAMES, TOLD, Shape

_FOLDER = "shapes/functional"

FUNCTIONAL = Shape(
    name="functional",
    torch="2.13",
    source=f"{_FOLDER}/Functions.cpp.j2",
    runtime={
        **SHARED_HEADERS,
        "gradspec_node.h": f"{_FOLDER}/gradspec_node.h.j2",
        "gradspec_functional.h": f"{_FOLDER}/gradspec_functional.h.j2",
        "gradspec_visitor.h": f"{_FOLDER}/gradspec_visitor.h.j2",
        "gradspec_tasks.h": f"{_FOLDER}/gradspec_tasks.h.j2",
    },
    told=(*TOLD, "size_t"),
    speech=Speech(internal=SHARED_NAMES | {"grads", "needs_input_grad", "std"}),
)
