"""The body of a function to syntax, statement by statement where it is wrong; knows what is written, not what names mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from lark.exceptions import UnexpectedInput

from gradspec import grammar
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.habits import RESULT_HELP
from gradspec.parse.formula import MAX_NESTING, check_tokens, formula_parser, too_deep
from gradspec.parse.recovery import find_statements
from gradspec.source import Excerpt, Source, Span

MAX_FUNCTION_LENGTH = 100_000  # code points between the braces


def parse_body(excerpt: Excerpt, diagnostics: Diagnostics) -> s.Body | None:
    """The body of a function; None where it is wrong, with the reasons in `diagnostics`: those of every statement."""
    if not check_length(excerpt, diagnostics):
        return None
    try:
        body = cast(s.Body, formula_parser().parse(excerpt.text, start="body"))
    except UnexpectedInput:
        span = excerpt.span
        found = Diagnostics()
        statements = find_statements(span.source, span.start, span.end, found)
        report_statements(span.source, statements, span, found)
        diagnostics.extend(found.all)
        return None
    fine = True
    for expr in body_expressions(body):
        deep = too_deep(expr, MAX_NESTING)
        if deep is not None:
            message = f"nested deeper than {MAX_NESTING} expressions"
            diagnostics.add("GS0801", message, excerpt.place(deep.start, deep.start + 1), help="name a part of it with `let`")
            fine = False
            continue
        fine = check_tokens(s.Formula(excerpt, expr), diagnostics) and fine
    return body if fine else None


def check_length(excerpt: Excerpt, diagnostics: Diagnostics) -> bool:
    """Whether a function is short enough to be read; what is not is reported."""
    length = len(excerpt.text)
    if length <= MAX_FUNCTION_LENGTH:
        return True
    message = f"the function has {length:,} characters; at most {MAX_FUNCTION_LENGTH:,} are read"
    diagnostics.add("GS0802", message, excerpt.place(0, 1), help="move parts of it into other functions")
    return False


def report_statements(source: Source, statements: Iterable[tuple[int, int]], body: Span, diagnostics: Diagnostics) -> None:
    """Say what is wrong with each statement of a body that cannot be read, else with their order."""
    result: Span | None = None
    last: Span | None = None
    behind: Span | None = None
    for start, end in statements:
        excerpt = Excerpt(source.text[start:end], Span(source, start, end))
        last = excerpt.span
        behind = behind or (last if result is not None else None)
        try:
            statement = formula_parser().parse(excerpt.text, start="statement")
        except UnexpectedInput as error:
            grammar.report_statement_error(error, excerpt, diagnostics)
            continue
        if not isinstance(statement, s.Let | s.Guard):
            result = result or last
    if diagnostics.has_errors:
        return
    if behind is not None:
        first = Span(source, behind.start, behind.start + 1)
        others = [] if result is None else [(result, "the function ends here")]
        help_ = "one result stands at the end, those under a condition before it: `if (COND) return EXPR;`"
        diagnostics.add("GS0201", "nothing may follow the result", first, help=help_, others=others)
    elif result is None:
        end = body.end if last is None else last.end
        diagnostics.add("GS0201", "the function ends without a result", Span(source, end - 1, end), help=RESULT_HELP)


def body_expressions(body: s.Body) -> tuple[s.Expr, ...]:
    """Every expression of a function's body, in order."""
    parts: list[s.Expr] = []
    for statement in body.statements:
        parts += [statement.value] if isinstance(statement, s.Let) else [statement.test, statement.value]
    return (*parts, body.result)
