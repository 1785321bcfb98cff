"""What a C++ node calls its data members; knows no C++ type and no text around them."""

from __future__ import annotations

from gradspec.ir import SavedValue
from gradspec.types import SCALAR, ListType, is_tensor_like, is_tensor_list


def is_kept_tensor(value: SavedValue) -> bool:
    """Whether the member is a SavedVariable: a tensor, optional or not, or an output that is a Scalar, a tensor still."""
    tensor = is_tensor_like(value.type) and not is_tensor_list(value.type)
    return tensor or (value.origin == "output" and value.type == SCALAR)


def member_name(value: SavedValue) -> str:
    """The data member: the value's name, with `_` behind it where it is a SavedVariable or a list of them.

    The rule is torch's own (torch/csrc/autograd/generated/Functions.h).
    """
    return f"{value.name}_" if is_kept_tensor(value) or is_tensor_list(value.type) else value.name


def release_flag(value: SavedValue) -> str:
    """The member that says whether a list was released; empty for what is no list of tensors or scalars, which has none."""
    is_list = is_tensor_list(value.type) or value.type == ListType(SCALAR)
    return f"{value.name}_released_" if is_list else ""
