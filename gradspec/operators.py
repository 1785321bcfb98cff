"""What C++'s operators give for values of two types; knows no function."""

from __future__ import annotations

from gradspec.ir import BinaryOperator, UnaryOperator
from gradspec.types import BOOL, INT, SCALAR, SYMINT, TENSOR, BaseType, OptionalType, base
from gradspec.values import FLOAT, NOTHING, UNKNOWN, ValueType, conversion, is_number

_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})
_LOGIC = frozenset({"&&", "||"})
_WHOLE_ONLY = frozenset({"%", "<<", ">>", "&", "^", "|"})
_COMPLEX = base("complex")


def number_type(text: str) -> ValueType:
    """The type of a number as written."""
    lower = text.lower()
    if lower.startswith("0x"):
        return FLOAT if "p" in lower else INT
    return FLOAT if "." in lower or "e" in lower or lower.endswith("f") else INT


def is_tensor(type_: ValueType) -> bool:
    """A tensor, or an optional one, which formulas read as a tensor that may be undefined."""
    return type_ in (TENSOR, OptionalType(TENSOR))


def binary_type(op: BinaryOperator, left: ValueType, right: ValueType) -> ValueType | None:
    """The type of `left op right`, None where C++ has no such operator (ATen/core/TensorOperators.h for tensors)."""
    if op in _LOGIC:
        return None if condition_fault(left) or condition_fault(right) else BOOL
    if is_tensor(left) or is_tensor(right):
        other = right if is_tensor(left) else left
        if other is UNKNOWN or is_tensor(other) or conversion(SCALAR, other) is not None:
            return TENSOR
        return BOOL if other is NOTHING and op in ("==", "!=") and TENSOR not in (left, right) else None
    if left is UNKNOWN or right is UNKNOWN:
        return BOOL if op in _COMPARISONS else UNKNOWN
    if is_number(left) and is_number(right):
        if op in _COMPARISONS:
            return BOOL
        if FLOAT in (left, right):
            return None if op in _WHOLE_ONLY else FLOAT
        return SYMINT if SYMINT in (left, right) else INT
    if op in ("==", "!="):
        return BOOL if _comparable(left, right) else None
    if _COMPLEX in (left, right) and op in ("+", "-", "*", "/"):
        return _COMPLEX
    return None


def _comparable(left: ValueType, right: ValueType) -> bool:
    if NOTHING in (left, right):
        return True
    if SCALAR in (left, right):
        return False
    if left == right:
        return True
    return conversion(left, right) is not None or conversion(right, left) is not None


def unary_type(op: UnaryOperator, operand: ValueType) -> ValueType | None:
    """The type of `op operand`, None where C++ has no such operator."""
    if operand is UNKNOWN:
        return BOOL if op == "!" else UNKNOWN
    match op:
        case "!":
            return None if condition_fault(operand) else BOOL
        case "*":
            return operand.elem if isinstance(operand, OptionalType) else None
        case "~":
            return operand if is_tensor(operand) else INT if operand in (BOOL, INT) else None
        case _:
            if operand == SCALAR:
                return SCALAR if op == "-" else None
            if is_number(operand):
                return INT if operand == BOOL else operand
            return operand if is_tensor(operand) or operand == _COMPLEX else None


def condition_fault(type_: ValueType) -> str:
    """Why a value cannot stand where true or false is wanted; empty where it can."""
    if is_number(type_) or type_ is UNKNOWN or (isinstance(type_, OptionalType) and not is_tensor(type_)):
        return ""
    if is_tensor(type_):
        return "ask whether it is there with `defined()`; for one of two per element use `at::where`"
    return f"{type_} is neither" if isinstance(type_, BaseType) else "a list is neither: compare its `size()`"
