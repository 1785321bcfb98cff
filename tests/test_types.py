"""Value types and how they are spelled."""

from __future__ import annotations

import pytest

from gradspec.parse.schema import parse_type
from gradspec.types import (
    INT,
    OPTIONAL_TENSOR,
    OPTIONAL_TENSOR_LIST,
    SCHEMA_BASE_TYPES,
    SYMINT,
    TENSOR,
    TENSOR_LIST,
    ListType,
    OptionalType,
    Type,
    base,
    has_symint,
    is_tensor_like,
    is_tensor_list,
    unsized,
)

SPELLED = {
    "Tensor": TENSOR,
    "Tensor?": OPTIONAL_TENSOR,
    "Tensor[]": TENSOR_LIST,
    "Tensor?[]": OPTIONAL_TENSOR_LIST,
    "int[2]": ListType(INT, 2),
    "int[]?": OptionalType(ListType(INT)),
    "SymInt[1]?": OptionalType(ListType(SYMINT, 1)),
    "int[][]": ListType(ListType(INT)),
    "Tensor?[][3]?": OptionalType(ListType(ListType(OPTIONAL_TENSOR), 3)),
}


@pytest.mark.parametrize(("text", "type_"), SPELLED.items())
def test_spelling(text: str, type_: Type) -> None:
    assert str(type_) == text
    assert parse_type(text) == (type_, None)


@pytest.mark.parametrize("name", sorted(SCHEMA_BASE_TYPES))
def test_every_base_type_is_read(name: str) -> None:
    assert parse_type(name) == (base(name), None)


def test_a_base_type_is_one_object() -> None:
    assert base("Tensor") is TENSOR


@pytest.mark.parametrize("text", ["Tensor(a)", "Tensor(a!)", "Tensor(a!)[]", "Tensor(a -> *)", "Tensor(a|b)", "Tensor(a)?"])
def test_annotations_stay_with_the_type(text: str) -> None:
    type_, alias = parse_type(text)
    assert alias is not None
    bare = text.replace(str(alias), "")
    assert str(type_) == bare


@pytest.mark.parametrize("text", ["Tenser", "tensor", "", "int64_t", "Tensor2"])
def test_what_is_no_type(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        parse_type(text)


def test_classes_of_torch_are_types() -> None:
    assert str(parse_type("__torch__.torch.classes.rnn.CellParamsBase")[0]) == "__torch__.torch.classes.rnn.CellParamsBase"


@pytest.mark.parametrize(
    ("text", "tensor", "list_", "symbolic"),
    [
        ("Tensor", True, False, False),
        ("Tensor?", True, False, False),
        ("Tensor[]", True, True, False),
        ("Tensor?[]", True, True, False),
        ("Tensor[]?", True, False, False),
        ("int[]", False, False, False),
        ("SymInt", False, False, True),
        ("SymInt[]?", False, False, True),
        ("Scalar?", False, False, False),
    ],
)
def test_kinds(text: str, tensor: bool, list_: bool, symbolic: bool) -> None:
    type_ = parse_type(text)[0]
    assert (is_tensor_like(type_), is_tensor_list(type_), has_symint(type_)) == (tensor, list_, symbolic)


@pytest.mark.parametrize(
    ("text", "kept"), [("int[2]", "int[]"), ("SymInt[1]?", "SymInt[]?"), ("bool[3][2]", "bool[][]"), ("Tensor", "Tensor")]
)
def test_lengths_are_forgotten(text: str, kept: str) -> None:
    assert str(unsized(parse_type(text)[0])) == kept
