"""Checks of option values that several backends have; knows no backend."""

from __future__ import annotations

from collections.abc import Callable, Collection

from attrs import Attribute

from gradspec.emit.identifiers import is_cxx_reserved


def cxx_namespace(_: object, attribute: Attribute[str], value: str) -> None:
    """An attrs validator: names joined by `::`, none of which C++ reserves.

    Raises:
        ValueError: the value is no C++ namespace.
    """
    parts = value.split("::")
    if not all(part.isascii() and part.isidentifier() and not is_cxx_reserved(part) for part in parts):
        raise ValueError(f"{attribute.name}={value} is not a C++ namespace; write names joined by `::`")


def shape_of(shapes: Collection[str]) -> Callable[[object, Attribute[str], str], None]:
    """An attrs validator that takes the named shapes of a node alone; its ValueError lists them."""

    def check(_: object, attribute: Attribute[str], value: str) -> None:
        if value not in shapes:
            raise ValueError(f"{attribute.name}={value} is not a shape; write one of {', '.join(shapes)}")

    return check
