"""Formula text to syntax; knows what is written, not what names mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, cast

from attrs import evolve
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


def parse_formula(excerpt: Excerpt, diagnostics: Diagnostics, *, is_printed: bool = False) -> s.Formula | None:
    """One formula or special value; None where it is wrong, with the reason in `diagnostics`.

    What the printer made of a formula may be longer than it was, by blanks, and an automatic tangent is a little deeper.
    """
    text = excerpt.text
    stripped = text.strip(grammar.BLANKS)
    if stripped in _SPECIAL_VALUES:
        return s.Formula(excerpt, cast(SpecialValue, stripped))
    if not stripped:
        diagnostics.add("GS0208", "empty formula", excerpt.span, help="write `non_differentiable` if that is meant")
        return None
    if len(text) > MAX_FORMULA_LENGTH * (4 if is_printed else 1):
        message = f"the formula has {len(text):,} characters; at most {MAX_FORMULA_LENGTH:,} are read"
        diagnostics.add("GS0802", message, excerpt.place(0, 1), help="move a part of it into a helper function")
        return None
    try:
        expr = _formula_tree(text)
    except UnexpectedInput as error:
        grammar.report_formula_error(error, excerpt, diagnostics)
        return None
    if len(text) > MAX_NESTING:
        deep = too_deep(expr, MAX_NESTING + (8 if is_printed else 0))
        if deep is not None:
            message = f"nested deeper than {MAX_NESTING} expressions"
            help_ = "move a part of it into a helper function; in a chain like `a + b + c` each operator is a level"
            diagnostics.add("GS0801", message, excerpt.place(deep.start, deep.start + 1), help=help_)
            return None
    formula = s.Formula(excerpt, expr)
    return formula if check_tokens(formula, diagnostics) else None


@lru_cache(maxsize=20_000)
def _formula_tree(text: str) -> s.Expr:
    return cast(s.Expr, formula_parser().parse(text, start="start"))


@cache
def formula_parser() -> Lark:
    """The parser of formulas, of functions' bodies, and of single statements."""
    return grammar.build_parser("formula", _FormulaBuilder(), starts=("start", "body", "statement"))


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
        case s.Comprehension(value=value, sources=sources, test=test):
            return (value, *sources) if test is None else (value, *sources, test)
        case s.Fold(initial=initial, sources=sources, value=value):
            return (initial, *sources, value)
        case _:
            return ()


def too_deep(expr: s.Expr, deepest: int) -> s.Expr | None:
    """The first part of an expression that is nested deeper than that."""
    pending = [(expr, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > deepest:
            return node
        pending += [(c, depth + 1) for c in expr_children(node)]
    return None


# Words of C++ that look like a call before a bracket, and are none ([lex.key]). Types such as `int` make values, so they may.
_NO_FUNCTIONS = frozenset(
    """
    alignas alignof asm __asm __asm__ case catch co_await co_return co_yield const const_cast constexpr decltype delete do
    dynamic_cast else explicit for goto if new noexcept not operator reinterpret_cast requires return sizeof static_assert
    switch template this throw try typeid typename using volatile while
    """.split()
)


def check_tokens(formula: s.Formula, diagnostics: Diagnostics) -> bool:
    """Whether every number and every called name of a formula is one; what is not is reported."""
    pending: list[s.Expr] = [cast(s.Expr, formula.value)]
    fine = True
    while pending:
        node = pending.pop()
        if type(node) is s.Number:
            problem = number_problem(node.text)
            if problem:
                diagnostics.add("GS0207", f"`{node.text}` {problem}", formula.place(node))
                fine = False
            continue
        for text in _template_numbers(node):
            if not text.isdigit() or str(int(text)) != text:
                message = f"`{text}` is no number of a template: write it in plain figures"
                diagnostics.add("GS0207", message, formula.place(node))
                fine = False
        called = node.function if type(node) is s.Call else node.name if type(node) is s.Method else None
        if called is not None and not _NO_FUNCTIONS.isdisjoint(called.text.split("::")):
            message = f"`{called.text}` is a word of C++, and no function"
            help_ = "a formula is one expression of values; move what is more into a helper function"
            diagnostics.add("GS0201", message, formula.excerpt.place(called.start, called.end), help=help_)
            fine = False
        pending += expr_children(node)
    return fine


def _template_numbers(node: s.Expr) -> Iterator[str]:
    """The numbers among the template arguments of one expression, without its parts."""
    match node:
        case s.Call(template=args) | s.Method(template=args):
            pending = list(args)
        case s.Construct(type=type_) | s.Lambda(param_type=type_):
            pending = [type_]
        case _:
            return
    while pending:
        arg = pending.pop()
        if isinstance(arg, str):
            yield arg
        else:
            pending += arg.args


def number_problem(text: str) -> str:
    """What is wrong with a C++ number ([lex.icon], [lex.fcon]); empty where it is right and has a finite value."""
    body = text.lower()
    hexadecimal = body.startswith("0x")
    figures = "0123456789abcdef" if hexadecimal else "0123456789"
    around = [body[i - 1 : i] + body[i + 1 : i + 2] for i, c in enumerate(body) if c == "'"]
    if "_" in body or any(len(pair) < 2 or not set(figures) >= set(pair) for pair in around):
        return _NO_NUMBER
    body = body.replace("'", "")
    if hexadecimal and ("p" in body or "." in body):
        return (
            _floating_problem(body, float.fromhex)
            if "p" in body
            else "needs an exponent, such as `p0`, as hexadecimal fractions do"
        )
    if not hexadecimal and ("." in body or "e" in body):
        return _floating_problem(body, float)
    return _whole_problem(body, "lL" in text or "Ll" in text)


_NO_NUMBER = "is not a number of C++"


def _floating_problem(body: str, read: Callable[[str], float]) -> str:
    try:
        value = read(body[:-1] if body[-1] in "fl" else body)
    except ValueError:
        return _NO_NUMBER
    except OverflowError:
        value = float("inf")
    return "is larger than a double can be" if value == float("inf") else ""


def _whole_problem(body: str, mixed_case: bool) -> str:
    suffix = next((x for x in ("ull", "llu", "ul", "lu", "uz", "zu", "ll", "u", "l", "z") if body.endswith(x)), "")
    digits = body.removesuffix(suffix)
    base = {"0x": 16, "0b": 2}.get(digits[:2], 8 if digits.startswith("0") and digits != "0" else 10)
    try:
        whole = int(digits, base)
    except ValueError:
        octal = base == 8 and digits.isdigit()
        return "is not an octal number, which is what a leading 0 means in C++" if octal else _NO_NUMBER
    if mixed_case or (base == 8 and not digits.isdigit()):
        return _NO_NUMBER
    # A decimal number without `u` is never unsigned.
    return "does not fit 64 bits" if whole >= 1 << (63 if base == 10 and "u" not in suffix else 64) else ""


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_OCTAL, _HEXADECIMAL = "01234567", "0123456789abcdefABCDEF"


def string_value(literal: str) -> str:
    """What a quoted C++ string means ([lex.ccon]); an escape that C++ does not have means its character."""
    out: list[str] = []
    at, end = 1, len(literal) - 1

    def digits(figures: str, most: int) -> str:
        stop = at
        while stop < min(at + most, end) and literal[stop] in figures:
            stop += 1
        return literal[at:stop]

    while at < end:
        c = literal[at]
        at += 1
        if c == "\\":
            c = literal[at]
            if c in _OCTAL:
                code = digits(_OCTAL, 3)
                at += len(code)
                out.append(chr(int(code, 8)))
                continue
            at += 1
            code = digits(_HEXADECIMAL, {"x": end, "u": 4, "U": 8}.get(c, 0))
            if len(code) >= {"x": 1, "u": 4, "U": 8}.get(c, end) and (c == "x" or _is_character(int(code, 16))):
                at += len(code)
                c = chr(int(code, 16) & 0xFF if c == "x" else int(code, 16))
            else:
                c = _ESCAPES.get(c, c)
        out.append(c)
    return "".join(out)


def _is_character(code: int) -> bool:
    return code < 0xD800 or 0xE000 <= code <= 0x10FFFF


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
        # The parentheses belong to the place of what they hold.
        return cast(s.Expr, evolve(c[1], start=c[0].start_pos, end=c[2].end_pos))

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
        return s.Lambda(c[3], _name(c[4]), c[7], c[0].start_pos, c[9].end_pos)

    def tuple_(self, c: list[Any]) -> s.Call:
        opened, *items, closed = c
        return s.Call(
            s.Name("std::make_tuple", opened.start_pos, opened.end_pos), (), tuple(items), opened.start_pos, closed.end_pos
        )

    def comprehension(self, c: list[Any]) -> s.Comprehension:
        names, sources = c[2]
        return s.Comprehension(c[1], names, sources, c[3], c[0].start_pos, c[4].end_pos)

    def fold(self, c: list[Any]) -> s.Fold:
        opened, accumulator, initial, _, (names, sources), _, value, closed = c
        start = opened.start_pos - len("fold")
        return s.Fold(_name(accumulator), initial, names, sources, value, start, closed.end_pos)

    def walk(self, c: list[Any]) -> tuple[tuple[s.Name, ...], tuple[s.Expr, ...]]:
        *names, source = c
        side_by_side = len(names) > 1 and isinstance(source, s.Call) and source.function.text == "zip"
        return tuple([_name(n) for n in names]), source.args if side_by_side else (source,)

    def let(self, c: list[Any]) -> s.Let:
        *names, value, _ = c
        return s.Let(tuple([_name(n) for n in names]), value)

    def guard(self, c: list[Any]) -> s.Guard:
        return s.Guard(c[1], c[3])

    def body(self, c: list[Any]) -> s.Body:
        *statements, result = c
        return s.Body(tuple(statements), result)

    def result(self, c: list[Any]) -> s.Expr:
        return cast(s.Expr, c[0])

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
