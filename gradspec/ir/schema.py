"""Schemas of operators, and operators that exist; knows no derivative."""

from __future__ import annotations

from functools import cached_property

from attrs import frozen

from gradspec.types import Type


@frozen
class Alias:
    """An alias annotation: `(a)`, `(a!)`, `(a -> *)`, `(a|b)`."""

    before: tuple[str, ...]
    write: bool = False
    after: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = "|".join(self.before) + ("!" if self.write else "")
        return f"({text} -> {'|'.join(self.after)})" if self.after else f"({text})"


@frozen
class Argument:
    """One argument of a schema. `default` is its canonical text, None where there is none."""

    name: str
    type: Type
    default: str | None = None
    alias: Alias | None = None

    def __str__(self) -> str:
        text = f"{annotated(self.type, self.alias)} {self.name}"
        return text if self.default is None else f"{text}={self.default}"


@frozen
class Return:
    """One result of a schema; `name` is empty where the schema gives none."""

    type: Type
    name: str = ""
    alias: Alias | None = None

    def __str__(self) -> str:
        text = annotated(self.type, self.alias)
        return f"{text} {self.name}" if self.name else text


def annotated(type_: Type, alias: Alias | None) -> str:
    """A type with its alias annotation, which stands behind the innermost base name."""
    text = str(type_)
    if alias is None:
        return text
    name = next((i for i, c in enumerate(text) if c in "?["), len(text))
    return f"{text[:name]}{alias}{text[name:]}"


@frozen
class OpName:
    """`library::base.overload`; `library` is empty for ATen's own ops, `overload` where there is one form."""

    base: str
    overload: str = ""
    library: str = ""

    def __str__(self) -> str:
        text = f"{self.library}::{self.base}" if self.library else self.base
        return f"{text}.{self.overload}" if self.overload else text


_AUGMENTED_ASSIGNMENTS = frozenset(
    f"i{op}" for op in ("add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or")
)


@frozen
class Schema:
    """An operator's schema. `positional + keyword + out` are its arguments in order; `out` are keyword-only and written to."""

    name: OpName
    positional: tuple[Argument, ...]
    keyword: tuple[Argument, ...]
    out: tuple[Argument, ...]
    returns: tuple[Return, ...]

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments but the out ones."""
        return self.positional + self.keyword

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        """The names that formulas use for the results: their own, else `result`, or `result0`, `result1`, ...

        The result of an in-place op is `result`; one with the name of an argument is `NAME_return`
        (torchgen.api.cpp.return_names).
        """
        if self.is_inplace:
            return ("result",) * len(self.returns)
        taken = {a.name for a in self.arguments + self.out}
        single = len(self.returns) == 1
        names = [r.name or ("result" if single else f"result{i}") for i, r in enumerate(self.returns)]
        return tuple(f"{n}_return" if n in taken and not self.out else n for n in names)

    @property
    def is_inplace(self) -> bool:
        """Whether the op is the in-place form: `add_`, `__iand__` (torchgen.model.BaseOperatorName has the rule)."""
        base = self.name.base
        if base.startswith("__") and base.endswith("__"):
            return base[2:-2] in _AUGMENTED_ASSIGNMENTS
        return base.endswith("_")

    @property
    def is_foreach(self) -> bool:
        """Whether the op repeats another one over lists; its formulas are then for one element."""
        return self.name.base.startswith("_foreach_")

    @property
    def returns_view(self) -> bool:
        """Whether a result aliases an argument that is not written to."""
        return any(r.alias is not None and not r.alias.write for r in self.returns)

    def __str__(self) -> str:
        return self.text

    @cached_property
    def text(self) -> str:
        """The canonical text."""
        parts = [str(a) for a in self.positional]
        if self.keyword or self.out:
            parts.append("*")
        parts += [str(a) for a in self.keyword + self.out]
        returns = ", ".join(map(str, self.returns))
        return f"{self.name}({', '.join(parts)}) -> {returns if len(self.returns) == 1 else f'({returns})'}"


@frozen(eq=False)
class Operator:
    """An operator that exists: its schema and whether it is a function, a method, or both."""

    schema: Schema
    has_function: bool
    has_method: bool


def no_operators(name: str) -> tuple[Operator, ...]:
    """No operator of any name: what is known of operators where nobody lists them."""
    return ()
