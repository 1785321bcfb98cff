"""Which overload a call means, by the types of its arguments; knows no expression."""

from __future__ import annotations

from collections.abc import Sequence

from gradspec.signatures import Signature
from gradspec.values import UNKNOWN, ValueType, conversion

# Methods that are worth a suggestion, where a name is near to none of the declared ones.
COMMON_METHODS = tuple(
    """
    add bmm clone conj div exp expand flip gather index_select isnan log logical_not masked_fill matmul mean mm mul narrow neg
    permute pow reciprocal reshape rsqrt scatter select sgn sigmoid sign sin cos sqrt square squeeze sub sum tanh to transpose
    unsqueeze where
    """.split()
)


def nearest(candidates: Sequence[Signature], given: Sequence[ValueType]) -> tuple[Signature | None, bool]:
    """The overload whose parameters are nearest to the arguments, None where none fits; and whether another one may be meant."""
    best: Signature | None = None
    least = 0
    unsure = False
    for signature in candidates:
        far = _distance(signature, given)
        if far is None:
            continue
        if best is None or far < least:
            best, least, unsure = signature, far, False
        elif far == least and UNKNOWN in given and signature.result != best.result:
            unsure = True
    return best, unsure


def _distance(signature: Signature, given: Sequence[ValueType]) -> int | None:
    parameters = signature.parameters
    if not signature.required <= len(given) <= len(parameters):
        return None
    total = 0
    for parameter, type_ in zip(parameters, given, strict=False):
        far = conversion(parameter.type, type_)
        if far is None:
            return None
        total += far
    return total


def first_wrong(signature: Signature, given: Sequence[ValueType]) -> int:
    """The place of the first argument that an overload does not take; there is one."""
    pairs = zip(signature.parameters, given, strict=False)
    return next(i for i, (parameter, type_) in enumerate(pairs) if conversion(parameter.type, type_) is None)


def printed(signature: Signature) -> str:
    """An overload as a person reads it."""
    parts = [f"{p.type} {p.name}{'=' if p.has_default else ''}" for p in signature.parameters]
    return f"{signature.name}({', '.join(parts)}) -> {signature.result}"
