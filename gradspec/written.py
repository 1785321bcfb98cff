"""The formulas of ops beside the text that they come from; knows nothing of what may be wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import field, frozen

from gradspec import ir
from gradspec import syntax as s
from gradspec.parse.body import body_expressions
from gradspec.parse.formula import expr_children
from gradspec.source import Span


@frozen(eq=False)
class Written:
    """A formula that a spec writes out, as an expression and as a rule; `names` are those of its key."""

    names: tuple[str, ...]
    expr: ir.Expr
    rule: s.Rule
    is_vjp: bool
    _nodes: dict[int, s.Expr] = field(init=False, factory=dict, repr=False)

    def node_of(self, part: ir.Expr) -> s.Expr | None:
        """What was written for a part of the expression, which is told from others by identity."""
        if not self._nodes and not isinstance(self.rule.formula.value, str):
            _pair(self.expr, self.rule.formula.value, self._nodes)
        return self._nodes.get(id(part))

    def place(self, part: ir.Expr) -> Span:
        """Where a part of the expression stands; the whole formula if that cannot be told."""
        node = self.node_of(part)
        return self.rule.formula.excerpt.span if node is None else self.rule.formula.place(node)


def written_formulas(specs: Iterable[s.Spec], ops: Iterable[ir.Op]) -> Iterator[tuple[ir.Op, tuple[Written, ...]]]:
    """Each op that a spec has an entry for, with its formulas; special values are none."""
    blocks = {(str(e.schema), b.dispatch): b for spec in specs for e in spec.entries for b in e.blocks}
    for op in ops:
        block = blocks.get((str(op.schema), op.dispatch))
        if block is None:
            continue
        rules = {tuple([n.text for n in r.names]): r for r in block.rules}
        vjps = [Written(d.inputs, d.written, rules[d.inputs], True) for d in op.derivatives]
        jvps = [Written(j.outputs, j.formula, rules[j.outputs], False) for j in op.jvps if not j.auto]
        yield op, (*vjps, *jvps)


def body_nodes(expressions: Iterable[ir.Expr], body: s.Body) -> dict[int, s.Expr]:
    """What was written for each part of a function's expressions, by `id`."""
    nodes: dict[int, s.Expr] = {}
    for expr, node in zip(expressions, body_expressions(body), strict=True):
        _pair(expr, node, nodes)
    return nodes


def _pair(expr: ir.Expr, node: s.Expr, nodes: dict[int, s.Expr]) -> None:
    """Note the surface node of each part. Both trees have the same shape, down to names and gradients."""
    pending = [(expr, node)]
    while pending:
        part, written = pending.pop()
        nodes.setdefault(id(part), written)
        pending += zip(ir.children(part), expr_children(written), strict=False)
