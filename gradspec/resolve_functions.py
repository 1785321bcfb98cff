"""Functions of the language to IR, and which of them are called; knows no op and no types of values."""

from __future__ import annotations

from collections.abc import Sequence

from gradspec import ir
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.names import WORDS
from gradspec.op_table import OpTable
from gradspec.scope import Scope


def resolve_functions(
    functions: Sequence[s.Function], table: OpTable, externs: frozenset[str], diagnostics: Diagnostics
) -> tuple[ir.Function, ...]:
    """The functions in order; what is wrong with them is in `diagnostics`."""
    externs |= {str(f.schema.name) for f in functions}
    _check_headers(functions, table, diagnostics)
    return tuple([_resolve(f, table, externs, diagnostics) for f in functions])


def _resolve(function: s.Function, table: OpTable, externs: frozenset[str], diagnostics: Diagnostics) -> ir.Function:
    schema = function.schema
    scope = Scope(
        schema=schema,
        inputs={},
        outputs={},
        differentiable_inputs=frozenset(),
        differentiable_outputs=(),
        table=table,
        externs=externs,
        diagnostics=diagnostics,
        forward=False,
        masked=None,
        foreach=False,
        formula=s.Formula(function.body_excerpt, function.body.result),
        locals={a.name for a in schema.arguments},
        function=True,
    )
    statements: list[ir.Statement] = []
    for statement in function.body.statements:
        value = scope.resolve(statement.value)
        if isinstance(statement, s.Guard):
            statements.append(ir.Guard(scope.resolve(statement.test), value))
            continue
        for name in statement.names:
            scope.check_new(name)
            scope.locals.add(name.text)
        statements.append(ir.Let(tuple([n.text for n in statement.names]), value))
    result = scope.resolve(function.body.result)
    return ir.Function(schema, tuple(statements), result, function.doc, function.name_span)


def _check_headers(functions: Sequence[s.Function], table: OpTable, diagnostics: Diagnostics) -> None:
    """A header is plain: a name of its own, parameters by position, results without names; no two take the same."""
    first: dict[tuple[str, ...], s.Function] = {}
    for function in functions:
        schema = function.schema
        why = ""
        if schema.keyword or schema.out:
            why = "its parameters are given by position alone"
        elif schema.name.base in WORDS:
            why = f"`{schema.name.base}` is a word of the language"
        elif schema.name.base in table.listed:
            why = f"ATen has an operator of that name, and `{schema.name.base}(...)` would mean either"
        elif schema.name.overload or schema.name.library:
            why = "several functions may share a plain name, if their parameters differ in type"
        elif any(a.alias is not None for a in schema.arguments) or any(r.alias is not None for r in schema.returns):
            why = "it changes nothing and aliases nothing"
        elif any(r.name for r in schema.returns):
            why = "its results have no names"
        elif any(
            a.default is not None and b.default is None for a, b in zip(schema.positional, schema.positional[1:], strict=False)
        ):
            why = "parameters with a default come last"
        elif not schema.returns:
            why = "it gives a value"
        if why:
            message = f"`{schema.name}` is not the header of a function"
            diagnostics.add("GS0413", message, function.name_span, help=why)
        for argument in schema.arguments:
            if argument.name in WORDS:
                message = f"`{argument.name}` is a word of the language"
                diagnostics.add("GS0411", message, function.place_of(argument.name), help="rename the parameter")
            if argument.default is not None and argument.default[0] in "'\"" and "\\" in argument.default:
                message = f"`{argument.name}` has an escape in its default, which each target would read in its own way"
                diagnostics.add("GS0413", message, function.place_of(argument.name), help="hand on the string where it is needed")
        same = first.setdefault((str(schema.name), *[str(a.type) for a in schema.positional]), function)
        if same is not function:
            message = f"`{schema.name}` stands twice with the same parameters"
            diagnostics.add("GS0413", message, function.name_span, others=[(same.name_span, "first here")])
