"""Nodes of torch 1.8, whose formulas stand inside of `apply`; knows no other shape."""

from __future__ import annotations

from gradspec_cpp.model import Speech
from gradspec_cpp.shapes.apply.torch_1_8 import WORDS, translate
from gradspec_cpp.shapes.shape import Shape

_FOLDER = "shapes/apply"

APPLY = Shape(
    name="apply",
    torch="1.8",
    source=f"{_FOLDER}/Functions.cpp.j2",
    header=f"{_FOLDER}/Functions.h.j2",
    runtime={"gradspec_node.h": f"{_FOLDER}/gradspec_node.h.j2"},
    speech=Speech(
        words=WORDS,
        translate=translate,
        internal=frozenset(
            """
            any_grad_defined any_variable_defined check_not_released copy_range copy_ranges each_defined gen grad_inputs lock
            IndexRangeGenerator release unpack_list unpack_opt_list variable_list wanted
            """.split()
        ),
        local="_ix",
        within_node=True,
    ),
)
