"""Which file a node stands in, and which of ATen's headers that file needs; knows no C++ syntax and no template."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from attrs import frozen

from gradspec.ir import Binary, Call, Constant, Construct, Expr, Index, Lambda, Method, Op, Program, Unary, walk

MAX_SHARDS = 256

# What the compiler takes for torch's headers, in the unit of `compile_cost`: a shard with less than that of its own would waste
# more than it gains. Measured with g++ 12 -O2 on the nodes of PyTorch 2.13.
_HEADERS_COST = 5000

# The first shard also holds what stands in one source alone, and so has fewer nodes than each of the others, in this proportion.
_FIRST_SLOTS, _SLOTS = 9, 20

# Under this salt the nodes of PyTorch 2.13 fall evenly into 2, 3, 4, 6, 8 and 16 shards; other names fall as chance has it.
_SALT = 3714

# The parts of a formula that become instructions.
_COMPILED = Call | Method | Binary | Unary | Index | Construct | Lambda

# What needs no header of its own: it is in the runtime headers, or in what those include.
_LIGHT_FUNCTIONS = frozenset(
    "Tensor Scalar IntArrayRef SymIntArrayRef TensorGeometry TensorOptions GradMode::is_enabled fmap".split()
)
_LIGHT_NAMESPACES = ("std::", "at::Tensor", "at::Scalar", "at::IntArrayRef")
_LIGHT_CONSTANTS = ("at::k", "c10::", "std::", "::std::", "M_", "INFINITY", "NAN", "nullopt", "nullptr")

# What stands in a header of its own, or in that of emitted declarations.
_FUNCTIONS = {
    "at::native::get_nested_tensor_impl": "<ATen/native/nested/NestedTensorUtils.h>",
    "at::sum_to": "<ATen/ExpandUtils.h>",
}
_NOTHING: Mapping[str, str] = {}


@frozen
class Shard:
    """One source file with its header. `stem`: their name.

    `headers`: what its formulas need, as `#include` names it; None where that is not known for some of it, so that all of ATen
    and the helpers' header are to be included.
    """

    stem: str
    ops: tuple[Op, ...]
    headers: tuple[str, ...] | None


def make_shards(program: Program, asked: int, per_operator: bool, declared: Mapping[str, str] = _NOTHING) -> tuple[Shard, ...]:
    """The nodes of a program in `asked` files; in as many as their cost asks for where that is 0.

    The file of a node depends on the name of its class and on the number of files alone: whatever happens to other nodes, and
    whatever becomes of its own formulas, it stays. `per_operator`: this torch has a header for each operator. `declared`: the
    headers of helpers.
    """
    nodes = program.nodes
    count = asked or shard_count(sum(map(compile_cost, nodes)))
    ops: list[list[Op]] = [[] for _ in range(count)]
    for op in nodes:
        assert op.node is not None
        ops[shard_of(op.node, count)].append(op)
    stems = [f"Functions_{i}" for i in range(count)] if count > 1 else ["Functions"]
    return tuple(
        [
            Shard(stem, tuple(ops[i]), needed_headers(ops[i], program, declared) if per_operator else None)
            for i, stem in enumerate(stems)
        ]
    )


def shard_count(cost: int) -> int:
    """The largest power of two that leaves each shard work enough, so that the number seldom changes while a spec grows."""
    count = 1
    while cost >= 2 * count * _HEADERS_COST and count < MAX_SHARDS:
        count *= 2
    return count


def compile_cost(op: Op) -> int:
    """An estimate of what a node costs the compiler beside the headers: for its class, its members and its formulas.

    The weights are those of the bytes that g++ 12 -O2 makes of PyTorch's nodes (correlation 0.83).
    """
    parts = [part for derivative in op.derivatives for part in walk(derivative.formula)]
    return 9 + 3 * len(op.saved) + 2 * sum([isinstance(part, _COMPILED) for part in parts])


def shard_of(name: str, count: int, salt: int = _SALT) -> int:
    """The shard of a class: that of its slot, of which each shard has a number.

    One shard more takes its nodes from all others alike, and moves none between those.
    """
    slot = _slot_of(name, _FIRST_SLOTS + (count - 1) * _SLOTS, salt)
    return 0 if slot < _FIRST_SLOTS else 1 + (slot - _FIRST_SLOTS) // _SLOTS


def _slot_of(name: str, count: int, salt: int) -> int:
    """One of `count` slots, by jump consistent hashing (Lamping and Veach, arXiv:1406.2294)."""
    key = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8, salt=salt.to_bytes(8, "big")).digest(), "big")
    slot, following = 0, 0
    while following < count:
        slot = following
        key = (key * 2862933555777941757 + 1) % 2**64
        following = (slot + 1) * 2**31 // ((key >> 33) + 1)
    return slot


def needed_headers(ops: Iterable[Op], program: Program, declared: Mapping[str, str] = _NOTHING) -> tuple[str, ...] | None:
    """The headers of what these formulas call, sorted; None where one is not known."""
    found = set()
    for op in ops:
        for derivative in op.derivatives:
            for part in walk(derivative.formula):
                header = _needed_header(part, program, declared)
                if header is None:
                    return None
                found.add(header)
    return tuple(sorted(found - {""}))


def _needed_header(part: Expr, program: Program, declared: Mapping[str, str]) -> str | None:
    """The header of what this part itself names; empty where it needs none, None where that is not known."""
    match part:
        case Constant(name):
            if name in declared:
                return declared[name]
            return "" if name.startswith(_LIGHT_CONSTANTS) else None
        case Call(function):
            if function in declared:
                return declared[function]
            if function in _LIGHT_FUNCTIONS or function.startswith(_LIGHT_NAMESPACES):
                return ""
            if function in _FUNCTIONS:
                return _FUNCTIONS[function]
            name = function.removeprefix("at::").removesuffix("_symint")
            known = any(o.has_function and not o.schema.name.library for o in program.operators(name))
            # `add_` has its function in the header of `add`. Formulas write to nothing, and call none such.
            return f"<ATen/ops/{name}.h>" if known and not name.endswith("_") else None
        case _:
            return ""
