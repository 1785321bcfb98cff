"""What a C++ node calls its data members; knows no C++ type and no text around them."""

from __future__ import annotations

from gradspec.ir import SavedValue
from gradspec.types import SCALAR, ListType, Type, is_tensor_like, is_tensor_list


def is_kept_tensor(type_: Type, is_output: bool) -> bool:
    """Whether the member is a SavedVariable: a tensor, optional or not, or an output that is a Scalar, a tensor still."""
    return (is_tensor_like(type_) and not is_tensor_list(type_)) or (is_output and type_ == SCALAR)


def member_name(value: SavedValue) -> str:
    """The data member: the value's name, with `_` behind it where it is a SavedVariable or a list of them.

    The rule is torch's own (torch/csrc/autograd/generated/Functions.h).
    """
    kept = is_kept_tensor(value.type, value.origin == "output") or is_tensor_list(value.type)
    return f"{value.name}_" if kept else value.name


def release_flag(value: SavedValue) -> str:
    """The member that says whether a list was released; empty for what is no list of tensors or scalars, which has none."""
    is_list = is_tensor_list(value.type) or value.type == ListType(SCALAR)
    return f"{value.name}_released_" if is_list else ""
