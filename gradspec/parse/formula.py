"""Formula text to syntax; knows what is written, not what names mean."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, cast

from lark import Lark, Token
from lark.exceptions import UnexpectedInput
from lark.visitors import Transformer

from gradspec import grammar
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.ir import TypeRef
from gradspec.source import Excerpt
from gradspec.syntax import SpecialValue

MAX_FORMULA_LENGTH = 100_000  # code points
MAX_NESTING = 200  # expressions inside of each other

_SPECIAL_VALUES = ("non_differentiable", "auto_linear", "auto_element_wise")


def parse_formula(excerpt: Excerpt, diagnostics: Diagnostics) -> s.Formula | None:
    """One formula or special value; None where it is wrong, with the reason in `diagnostics`."""
    text = excerpt.text
    stripped = text.strip()
    if stripped in _SPECIAL_VALUES:
        return s.Formula(excerpt, cast(SpecialValue, stripped))
    if not stripped:
        diagnostics.add(
            "GS0208", "empty formula", excerpt.place(0, len(text)), help="write `non_differentiable` if that is meant"
        )
        return None
    if len(text) > MAX_FORMULA_LENGTH:
        message = f"the formula has {len(text):,} characters; at most {MAX_FORMULA_LENGTH:,} are read"
        diagnostics.add("GS0802", message, excerpt.place(0, 1), help="move a part of it into a helper function")
        return None
    try:
        expr = _formula_tree(text)
    except UnexpectedInput as error:
        grammar.report_formula_error(error, excerpt, diagnostics)
        return None
    if len(text) > MAX_NESTING:
        deep = _too_deep(expr)
        if deep is not None:
            message = f"nested deeper than {MAX_NESTING} expressions"
            diagnostics.add("GS0801", message, excerpt.place(deep.start, deep.start + 1))
            return None
    formula = s.Formula(excerpt, expr)
    return formula if _check_literals(formula, diagnostics) else None


@lru_cache(maxsize=20_000)
def _formula_tree(text: str) -> s.Expr:
    return cast(s.Expr, _formula_parser().parse(text))


@cache
def _formula_parser() -> Lark:
    return grammar.build_parser("formula", _FormulaBuilder())


def expr_children(expr: s.Expr) -> tuple[s.Expr, ...]:
    """The direct parts of a surface expression, in the order in which they are written."""
    match expr:
        case s.Call(args=args) | s.Construct(args=args):
            return args
        case s.Method(receiver=receiver, args=args):
            return (receiver, *args)
        case s.Braces(items=items):
            return items
        case s.Index(value=value, index=index):
            return (value, index)
        case s.Unary(operand=operand):
            return (operand,)
        case s.Binary(left=left, right=right):
            return (left, right)
        case s.Conditional(test=test, then=then, other=other):
            return (test, then, other)
        case s.Lambda(body=body):
            return (body,)
        case _:
            return ()


def _too_deep(expr: s.Expr) -> s.Expr | None:
    pending = [(expr, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > MAX_NESTING:
            return node
        pending += [(c, depth + 1) for c in expr_children(node)]
    return None


def _check_literals(formula: s.Formula, diagnostics: Diagnostics) -> bool:
    pending: list[s.Expr] = [cast(s.Expr, formula.value)]
    fine = True
    while pending:
        node = pending.pop()
        if type(node) is s.Number:
            problem = number_problem(node.text)
            if problem:
                diagnostics.add("GS0207", f"`{node.text}` {problem}", formula.place(node))
                fine = False
        else:
            pending += expr_children(node)
    return fine


def number_problem(text: str) -> str:
    """What is wrong with a C++ number ([lex.icon], [lex.fcon]); empty where it is right and has a finite value."""
    body = text.replace("'", "").lower()
    hexadecimal = body.startswith("0x")
    if hexadecimal:
        floating = "p" in body or "." in body
    else:
        floating = "." in body or "e" in body
    suffixes = ("f", "l") if floating else ("ull", "llu", "ul", "lu", "uz", "zu", "ll", "u", "l", "z")
    digits = body
    for suffix in suffixes:
        if body.endswith(suffix) and not (hexadecimal and floating and "p" not in body):
            digits = body[: -len(suffix)]
            break
    try:
        if floating:
            value = float.fromhex(digits) if hexadecimal else float(digits)
            return "is larger than a double can be" if value == float("inf") else ""
        if hexadecimal or digits.startswith("0b"):
            whole = int(digits, 0)
        elif digits.startswith("0") and digits != "0":
            whole = int(digits, 8)
        else:
            whole = int(digits, 10)
    except (ValueError, OverflowError):
        if digits.isdigit() and digits.startswith("0"):
            return "is not an octal number, which is what a leading 0 means in C++"
        return "is not a number of C++"
    return "does not fit 64 bits" if whole >= 1 << 64 else ""


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def string_value(literal: str) -> str:
    """What a quoted C++ string means."""
    out: list[str] = []
    i = 1
    while i < len(literal) - 1:
        c = literal[i]
        if c == "\\":
            i += 1
            c = literal[i]
            if c == "x":
                digits = 0
                while literal[i + 1 + digits] in "0123456789abcdefABCDEF":
                    digits += 1
                c = chr(int(literal[i + 1 : i + 1 + digits] or "78", 16) & 0xFF)
                i += digits
            else:
                c = _ESCAPES.get(c, c)
        out.append(c)
        i += 1
    return "".join(out)


class _FormulaBuilder(Transformer[Token, Any]):
    """Makes a surface expression of each rule as Lark reduces it. Tokens carry `start_pos` and `end_pos`."""

    def start(self, c: list[Any]) -> Any:
        return c[0]

    def number(self, c: list[Any]) -> s.Number:
        return s.Number(c[0].value, c[0].start_pos, c[0].end_pos)

    def string(self, c: list[Any]) -> s.String:
        return s.String(string_value(c[0].value), c[0].start_pos, c[0].end_pos)

    def name(self, c: list[Any]) -> s.Name:
        return _name(c[0])

    def parenthesized(self, c: list[Any]) -> s.Expr:
        return cast(s.Expr, c[1])

    def args(self, c: list[Any]) -> tuple[Any, ...]:
        return tuple(c)

    def call(self, c: list[Any]) -> s.Call:
        return s.Call(_name(c[0]), (), c[2] or (), c[0].start_pos, c[3].end_pos)

    def template_call(self, c: list[Any]) -> s.Call:
        return s.Call(_name(c[0]), c[1], c[3] or (), c[0].start_pos, c[4].end_pos)

    def construct(self, c: list[Any]) -> s.Construct:
        type_ = TypeRef(_joined(c[0]), c[1])
        return s.Construct(type_, c[3] or (), c[2].type == "CURLY_OPEN", c[0].start_pos, c[4].end_pos)

    def construct_named(self, c: list[Any]) -> s.Construct:
        return s.Construct(TypeRef(_joined(c[0])), c[2] or (), True, c[0].start_pos, c[3].end_pos)

    def braces(self, c: list[Any]) -> s.Braces:
        return s.Braces(c[1] or (), c[0].start_pos, c[2].end_pos)

    def lambda_(self, c: list[Any]) -> s.Lambda:
        return s.Lambda(c[3], _name(c[4]), c[7], c[0].start_pos, c[8].end_pos)

    def method(self, c: list[Any]) -> s.Method:
        return s.Method(c[0], _name(c[2]), c[3] or (), c[5] or (), c[1].type == "ARROW", c[0].start, c[6].end_pos)

    def index(self, c: list[Any]) -> s.Index:
        return s.Index(c[0], c[2], c[0].start, c[3].end_pos)

    def unary(self, c: list[Any]) -> s.Unary:
        return s.Unary(c[0].value, c[1], c[0].start_pos, c[1].end)

    def binary(self, c: list[Any]) -> s.Binary:
        return s.Binary(c[1].value, c[0], c[2], c[0].start, c[2].end)

    def conditional(self, c: list[Any]) -> s.Conditional:
        return s.Conditional(c[0], c[1], c[2], c[0].start, c[2].end)

    def template_args(self, c: list[Any]) -> tuple[TypeRef | str, ...]:
        return tuple([a if type(a) is TypeRef else a.value for a in c[1:-1]])

    def type(self, c: list[Any]) -> TypeRef:
        return TypeRef(_joined(c[0]), c[1] if len(c) > 1 else ())


def _joined(token: Token) -> str:
    text = str(token.value)
    return text if text.isidentifier() else "".join(text.split())


def _name(token: Token) -> s.Name:
    return s.Name(_joined(token), cast(int, token.start_pos), cast(int, token.end_pos))
