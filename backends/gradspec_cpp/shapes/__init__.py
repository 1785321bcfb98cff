"""The shapes that a node can have: what differs between them, in a folder for each; knows no node and no template's text."""

from __future__ import annotations

from gradspec_cpp.shapes.apply import APPLY
from gradspec_cpp.shapes.functional import FUNCTIONAL
from gradspec_cpp.shapes.packed import PACKED
from gradspec_cpp.shapes.shape import Shape
from gradspec_cpp.shapes.torch_2_13 import TORCH_2_13

# By the names that `-O shape=` takes; the first is the default.
SHAPES: dict[str, Shape] = {shape.name: shape for shape in (TORCH_2_13, APPLY, FUNCTIONAL, PACKED)}
