"""What a shape is; knows none of them."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from gradspec_cpp.model import Speech

# The headers that shapes with a visitor share.
SHARED_HEADERS = {
    "gradspec_node.h": "templates/gradspec_node.h.j2",
    "gradspec_vjp.h": "templates/gradspec_vjp.h.j2",
    "gradspec_visitor.h": "templates/gradspec_visitor.h.j2",
    "gradspec_tasks.h": "templates/gradspec_tasks.h.j2",
}

# What their emitted functions call by an unqualified name.
SHARED_NAMES = frozenset(
    """
    NodeOf Vjp Visitor releasable saved_input saved_inputs saved_optional_inputs saved_optional_outputs saved_output
    saved_outputs vjp visit visitor
    """.split()
)

# What their visitors are told of by a function of the headers.
TOLD = ("SavedTensor", "SavedList", "SavedOptionalList", "ScalarList")


@frozen
class Shape:
    """One form of node, for one release of torch.

    `header`, `source` and `runtime` are templates: of Functions.h, of Functions.cpp, and of what those include, by file name.
    A source and its header are rendered for some of the nodes or all, and what they include for none. `told`: the types of
    members that a visitor may be told of beside plain ones.
    """

    name: str
    torch: str
    source: str = "templates/Functions.cpp.j2"
    header: str = "templates/Functions.h.j2"
    runtime: Mapping[str, str] = field(default=SHARED_HEADERS)
    speech: Speech = field(default=Speech(internal=SHARED_NAMES))
    told: tuple[str, ...] = TOLD

    @property
    def has_operator_headers(self) -> bool:
        """Whether that torch has a header for each operator, ATen/ops/NAME.h: since 1.11."""
        return self._release >= (1, 11)

    @property
    def has_functions(self) -> bool:
        """Whether that torch is C++17 or later, which emitted functions need: since 2.1."""
        return self._release >= (2, 1)

    @property
    def _release(self) -> tuple[int, ...]:
        return tuple(map(int, self.torch.split(".")))
