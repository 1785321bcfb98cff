"""Nodes with a twin of their function over packed arguments, as in torch 2.7; knows no other shape."""

from __future__ import annotations

from gradspec_cpp.model import Speech
from gradspec_cpp.shapes.shape import SHARED_HEADERS, SHARED_NAMES, TOLD, Shape

_FOLDER = "shapes/packed"

PACKED = Shape(
    name="packed",
    torch="2.7",
    source=f"{_FOLDER}/Functions.cpp.j2",
    runtime={
        **SHARED_HEADERS,
        "gradspec_node.h": f"{_FOLDER}/gradspec_node.h.j2",
        "gradspec_visitor.h": f"{_FOLDER}/gradspec_visitor.h.j2",
        "gradspec_tasks.h": f"{_FOLDER}/gradspec_tasks.h.j2",
    },
    told=(*TOLD, "size_t"),
    speech=Speech(internal=SHARED_NAMES | {"grads", "needs_input_grad", "apply_packed", "std"}),
)
