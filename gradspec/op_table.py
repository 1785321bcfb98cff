"""The operators that exist, as native_functions.yaml lists them, each schema parsed when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from attrs import evolve, field, frozen

from gradspec.diagnostics import Diagnostics
from gradspec.ir import Operator, Return, Schema
from gradspec.parse import parse_schema
from gradspec.source import Excerpt


@frozen(eq=False)
class ListedOp:
    """One line of native_functions.yaml, its schema still text."""

    excerpt: Excerpt
    variants: str


@frozen(eq=False)
class OpTable:
    """Operators by base name. Wrong schemas are reported to `diagnostics` when they are asked for."""

    listed: dict[str, list[ListedOp]]
    diagnostics: Diagnostics
    _known: dict[str, tuple[Operator, ...]] = field(init=False, factory=dict)

    def named(self, base: str) -> tuple[Operator, ...]:
        """All overloads of a base name, in file order; none where it is unknown."""
        known = self._known.get(base)
        if known is None:
            parsed = [(parse_schema(o.excerpt, self.diagnostics), o.variants) for o in self.listed.get(base, ())]
            known = tuple(Operator(s, "function" in v, "method" in v) for s, v in parsed if s is not None)
            self._known[base] = known
        return known

    def find(self, schema: Schema) -> Operator | None:
        """The operator with exactly this schema."""
        wanted = str(schema)
        for listed in self.listed.get(schema.name.base, ()):
            # Nearly all are spelled in the canonical way: then no other overload has to be parsed.
            if listed.excerpt.text == wanted:
                return Operator(schema, "function" in listed.variants, "method" in listed.variants)
        return next((op for op in self.named(schema.name.base) if str(op.schema) == wanted), None)

    def has_functional_form(self, schema: Schema) -> bool:
        """Whether the schema is the functional form that the build makes of an op that writes to its arguments.

        Its name ends in `_functional`, and each argument written to comes back as `NAME_out` (torchgen's
        native_function_generation).
        """
        base = schema.name.base
        if not base.endswith("_functional"):
            return False
        for op in self.named(base.removesuffix("_functional")):
            written = [a for a in op.schema.arguments if a.alias is not None and a.alias.write]
            returns = [Return(r.type, r.name) for r in op.schema.returns] + [Return(a.type, f"{a.name}_out") for a in written]
            plain = [str(evolve(a, alias=None)) for a in op.schema.arguments]
            if written and plain == [str(a) for a in schema.arguments] and returns == list(schema.returns):
                return True
        return False

    def all(self) -> Iterator[Operator]:
        """Every operator; parses all schemas."""
        for base in self.listed:
            yield from self.named(base)

    def bases(self) -> Iterator[str]:
        """Every base name, in file order."""
        return iter(self.listed)

    def nearest(self, schema: Schema) -> list[str]:
        """The three schemas most like this one, those of its own name first."""
        same_name = [str(op.schema) for op in self.named(schema.name.base)]
        near: list[str] = []
        if self.diagnostics.may_compare(len(self.listed)):
            near = get_close_matches(schema.name.base, self.listed, n=3, cutoff=0.6)
        others = [str(op.schema) for base in near if base != schema.name.base for op in self.named(base)]
        return [*get_close_matches(str(schema), same_name, n=3, cutoff=0.0), *others][:3]

    def difference(self, schema: Schema) -> str:
        """In what one argument the schema differs from that of the operator of its name; empty where it does in more."""
        for op in self.named(schema.name.base):
            known = op.schema
            if known.name != schema.name or len(known.arguments) != len(schema.arguments):
                continue
            pairs = [(str(a), str(b)) for a, b in zip(schema.arguments, known.arguments, strict=True) if a != b]
            if len(pairs) == 1:
                return f"`{pairs[0][0]}` is `{pairs[0][1]}` there"
        return ""


EMPTY = OpTable({}, Diagnostics())
