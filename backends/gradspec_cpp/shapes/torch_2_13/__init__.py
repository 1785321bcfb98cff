"""The node of torch 2.13, which the shared templates are written for; knows nothing more."""

from __future__ import annotations

from gradspec_cpp.shapes.shape import Shape

TORCH_2_13 = Shape(name="torch-2.13", torch="2.13")
