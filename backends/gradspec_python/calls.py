"""Which Python callable an operator is; knows no expression."""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from gradspec.ir import Schema

# Operators that people know as functions of `torch`; all others are called as `torch.ops.aten.NAME.OVERLOAD`.
TORCH_FUNCTIONS = frozenset(
    """
    abs addmm amax amin arange argmax argmin atan2 bmm cat chunk clamp clone complex conj cos cosh cumprod cumsum diag_embed
    diagonal diff dot einsum erf erfc exp exp2 expm1 eye flatten flip floor full gather imag index_add index_copy index_select
    isfinite isinf isnan lerp lgamma log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor logsumexp
    masked_fill masked_select matmul max maximum mean min minimum mm movedim mv narrow neg ones ones_like outer permute polar
    polygamma pow prod real reciprocal roll rot90 rsqrt scalar_tensor scatter scatter_add select sgn sigmoid sign sin sinh split
    sqrt square squeeze stack sub sum take tan tanh trace transpose tril triu trunc unbind unsqueeze vdot
    view_as_complex view_as_real where xlogy zeros zeros_like
    """.split()
)

# Operators that C++ has as methods of Tensor and Python has not, or not with the same arguments.
_NO_PYTHON_METHOD = frozenset({"index", "slice", "slice_inverse", "_backward", "rename", "set_data", "unsafe_chunk", "item"})
# Properties in Python.
_PROPERTIES = frozenset({"mT", "mH", "H"})


def is_method(schema: Schema) -> bool:
    """Whether a method call in C++ is one in Python too."""
    if schema.name.base == "to":
        return schema.name.overload in ("dtype", "other", "device")
    return schema.name.base not in _NO_PYTHON_METHOD


def is_property(schema: Schema) -> bool:
    """Whether Python reads it without a call."""
    return schema.name.base in _PROPERTIES


def callable_name(schema: Schema) -> str:
    """The callable for an operator of any library."""
    name = schema.name
    if not name.library and name.base in TORCH_FUNCTIONS:
        return f"torch.{name.base}"
    return overload_name(schema)


def forward_name(schema: Schema, overloads: Iterable[Schema]) -> str:
    """The very overload; as people call it where it is the operator's own and no other of its `overloads` takes its arguments."""
    alone = sum(not o.out and _takes(o, schema) for o in overloads) == 1
    return callable_name(schema) if alone and not schema.name.overload else overload_name(schema)


def _takes(other: Schema, schema: Schema) -> bool:
    """Whether the other can be called with as many arguments, and with those names."""
    required = sum(a.default is None for a in other.positional)
    names = {a.name for a in schema.keyword}
    needed = {a.name for a in other.keyword if a.default is None}
    return required <= len(schema.positional) <= len(other.positional) and needed <= names <= {a.name for a in other.keyword}


def overload_name(schema: Schema) -> str:
    """The very overload."""
    name = schema.name
    overload = name.overload or "default"
    packet = f"{f'torch.ops.{name.library}' if name.library else 'aten'}.{name.base}"
    return f'getattr({packet}, "{overload}")' if keyword.iskeyword(overload) else f"{packet}.{overload}"
