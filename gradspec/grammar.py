"""Finds the grammars, builds Lark's parsers, and turns Lark's errors into diagnostics; knows nothing of what a tree means."""

from __future__ import annotations

import hashlib
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken
from lark.visitors import Transformer

from gradspec.cache import cache_folder
from gradspec.diagnostics import Diagnostics
from gradspec.habits import (
    ending_help,
    formula_help,
    item_help,
    open_fold,
    schema_help,
    spec_help,
    statement_help,
    uncalled_member,
)
from gradspec.source import Excerpt

STRING_HELP = 'end it with `"`, on the same line'
BLANKS = " \t\n\r\f\v"
_CLOSER_OF = {"(": ")", "[": "]", "{": "}"}
_DIGRAPHS = ("<%", "%>", "<:", ":>", "%:")
_TRIGRAPHS = tuple("??" + c for c in "=/'()!<>-")
_RAW_STRING_PREFIXES = ("R", "LR", "uR", "UR", "u8R")


@cache
def grammar_folder() -> Path:
    """The folder of the `.lark` files: installed beside this module, else next to the package in a checkout.

    Raises:
        FileNotFoundError: neither is there, so the installation is broken.
    """
    here = Path(__file__).resolve().parent
    for folder in (here / "grammars", here.parent / "grammars"):
        if (folder / "formula.lark").is_file():
            return folder
    raise FileNotFoundError(f"gradspec's grammars are missing beside {here}")


def build_parser(name: str, transformer: Transformer[Token, Any], starts: tuple[str, ...] = ("start",)) -> Lark:
    """An LALR parser for `grammars/<name>.lark` that hands each rule to `transformer` as soon as it is read.

    Where there are several `starts`, each call of its `parse` says which rule the text is.
    """
    return Lark.open(
        str(grammar_folder() / f"{name}.lark"),
        parser="lalr",
        lexer="contextual",
        start=list(starts),
        transformer=transformer,
        import_paths=[str(grammar_folder())],
        maybe_placeholders=True,
        cache=_tables_file(name),
    )


def _tables_file(name: str) -> str | bool:
    """Where Lark keeps a grammar's parse tables between runs: making them takes longer than parsing with them.

    Lark looks whether they fit the grammar and its own version. Without a folder that can be written there is no such file.
    """
    folder = cache_folder()
    if folder is None:
        return False
    digest = hashlib.sha256(b"".join(f.read_bytes() for f in sorted(grammar_folder().glob("*.lark")))).hexdigest()
    return str(folder / f"{name}-{digest[:16]}.tables")


def report_formula_error(error: UnexpectedInput, excerpt: Excerpt, diagnostics: Diagnostics) -> None:
    """Say what is wrong with a formula that Lark refused."""
    text, at = excerpt.text, error_position(error, excerpt.text)
    if _report_common(error, text, at, excerpt, diagnostics):
        return
    found = _found(error, text, at)
    if found == ";":
        help_ = "a formula is one expression; nothing may follow it"
    elif found == "#":
        help_ = "a formula is one expression; C++ preprocessor lines cannot stand in it"
    elif _begins_next_rule(text, at, found):
        help_ = "is a `;` missing before it?"
    else:
        help_ = formula_help(text, at, found)
    diagnostics.add("GS0201", f"`{printable(found)}` cannot stand here", excerpt.place(at, at + len(found)), help=help_)


def report_statement_error(error: UnexpectedInput, excerpt: Excerpt, diagnostics: Diagnostics) -> None:
    """Say what is wrong with a statement that Lark refused."""
    text, at = excerpt.text, error_position(error, excerpt.text)
    found = _found(error, text, at)
    if found and (help_ := statement_help(text, at, found)):
        diagnostics.add("GS0201", f"`{printable(found)}` cannot stand here", excerpt.place(at, at + len(found)), help=help_)
    elif not _report_common(error, text, at, excerpt, diagnostics):
        help_ = formula_help(text, at, found)
        diagnostics.add("GS0201", f"`{printable(found)}` cannot stand here", excerpt.place(at, at + len(found)), help=help_)


def _found(error: UnexpectedInput, text: str, at: int) -> str:
    """What stands at the place where Lark stopped; empty at the end."""
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        return str(error.token)
    return text[at : at + 1]


def _report_common(error: UnexpectedInput, text: str, at: int, excerpt: Excerpt, diagnostics: Diagnostics) -> bool:
    """Report what formulas and statements may have in common, if it is that."""
    if _report_bad_text(text, at, excerpt, diagnostics) or _report_brackets(text, at, excerpt, diagnostics):
        return True
    member = uncalled_member(text, at)
    if member is not None:
        start, end, help_ = member
        diagnostics.add("GS0201", f"`{text[start:end]}` is not called", excerpt.place(start, end), help=help_)
    elif not text[at : at + 1]:
        place = excerpt.place(max(0, len(text.rstrip()) - 1), len(text.rstrip()))
        if "SEMICOLON" in (getattr(error, "expected", None) or ()):
            diagnostics.add("GS0203", "a `;` is missing", place, help=ending_help(text) or "each statement ends with `;`")
        else:
            diagnostics.add("GS0201", "the formula ends too early", place, label="something must follow", help=ending_help(text))
    else:
        return False
    return True


_HEADER_HELP = "a header looks like `name(Tensor x, int[] dims, float eps=0.1) -> (Tensor, Tensor)`"


def report_schema_error(error: UnexpectedInput, excerpt: Excerpt, diagnostics: Diagnostics, *, is_function: bool = False) -> None:
    """Say what is wrong with a schema, or a function's header, that Lark refused."""
    text, at = excerpt.text, error_position(error, excerpt.text)
    start = len(text) - len(text.lstrip(BLANKS))
    name = (text[start:].partition("(")[0].split(maxsplit=1) or [""])[0]
    if at <= start + len(name) and not is_op_name(name) and text[start:]:
        diagnostics.add(
            "GS0311",
            f"bad op name `{printable(name)}`",
            excerpt.place(start, start + max(1, len(name))),
            help=_HEADER_HELP
            if is_function
            else "names match [A-Za-z_][A-Za-z0-9_]*, with `.overload` behind and `library::` before where needed",
        )
        return
    if _report_bad_text(text, at, excerpt, diagnostics):
        return
    found = text[at : at + 1]
    what = "header" if is_function else "schema"
    help_ = _HEADER_HELP if is_function else "a schema looks like `name.overload(Tensor self, *, int dim=0) -> Tensor`"
    if not found:
        end = len(text.rstrip(BLANKS))
        diagnostics.add("GS0202", f"the {what} ends too early", excerpt.place(max(end - 1, 0), end), help=help_)
        return
    help_ = schema_help(text, at, found) or help_
    diagnostics.add("GS0202", f"`{found}` cannot stand here in a {what}", excerpt.place(at, at + 1), help=help_)


def report_spec_error(error: UnexpectedInput, excerpt: Excerpt, diagnostics: Diagnostics) -> None:
    """Say what is wrong with a piece of a .grad file whose brackets match: a declaration, a rule, or what is neither."""
    text, at = excerpt.text, error_position(error, excerpt.text)
    if _report_bad_text(text, at, excerpt, diagnostics):
        return
    found = str(error.token) if isinstance(error, UnexpectedToken) else text[at : at + 1]
    if found == ";" and (start := open_fold(text, at)) >= 0:
        help_ = "write a function, `fn name(Tensor[] grads) -> Tensor { ... }`, and call it"
        diagnostics.add("GS0410", "`fold` stands only in a function", excerpt.place(start, start + len("fold")), help=help_)
        return
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    help_ = _ITEM_HELP.get(word, "a rule looks like `self: grad * other;`")
    if not found:
        end = len(text.rstrip())
        message = "the declaration does not end" if word in ("library", "extern") else "something must follow"
        diagnostics.add("GS0203", message, excerpt.place(max(0, end - 1), end), help=help_)
        return
    expected: set[str] = set(getattr(error, "expected", None) or getattr(error, "allowed", None) or ())
    if "_OP" in expected:
        help_ = item_help(text, at, found)
    help_ = spec_help(text) or help_
    diagnostics.add("GS0203", f"`{printable(found)}` cannot stand here", excerpt.place(at, at + len(found)), help=help_)


_DECLARED = "declarations look like `library NAME;` and `extern NAME, NAME;`"
_ITEM_HELP = {
    "library": _DECLARED,
    "extern": _DECLARED,
    "fn": "a function looks like `fn name(Tensor x) -> Tensor { return x * 2; }`",
    "op": "an op looks like `op name(Tensor self) -> Tensor { self: grad; }`",
}


def is_op_name(text: str) -> bool:
    """Whether a text is `name`, `name.overload`, or either behind `library::`."""
    library, _, rest = text.rpartition("::")
    base, dot, overload = rest.partition(".")
    parts = [base, *([overload] if dot else []), *([library] if "::" in text else [])]
    return all(p.isascii() and p.isidentifier() for p in parts)


def printable(text: str) -> str:
    """The text with what a terminal should not see replaced by escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _begins_next_rule(text: str, at: int, word: str) -> bool:
    """Whether a word looks like the key of a rule: the first of its line, with a colon behind."""
    after = text[at + len(word) :].lstrip()
    return text[:at].rstrip(" ").endswith("\n") and after.startswith(":") and not after.startswith("::")


def error_position(error: UnexpectedInput, text: str) -> int:
    """Where in the text Lark stopped; its length where the text ends too early."""
    if isinstance(error, UnexpectedEOF):
        return len(text)
    if isinstance(error, UnexpectedToken):
        return len(text) if error.token.type == "$END" else int(error.token.start_pos or 0)
    assert isinstance(error, UnexpectedCharacters)
    return int(error.pos_in_stream or 0)  # type: ignore[redundant-expr]


def _report_bad_text(text: str, at: int, excerpt: Excerpt, diagnostics: Diagnostics) -> bool:
    found = text[at : at + 1]
    if not found:
        return False
    if not found.isascii():
        name = unicodedata.name(found, "unnamed")
        diagnostics.add(
            "GS0204",
            f"U+{ord(found):04X} ({name}) is no character of the language",
            excerpt.place(at, at + 1),
            help="names and signs are ASCII; look-alike letters are not the same name",
        )
    elif not found.isprintable() and found not in BLANKS:
        diagnostics.add("GS0204", f"control character U+{ord(found):04X}", excerpt.place(at, at + 1))
    elif text.startswith("/*", at):
        diagnostics.add("GS0205", "the comment is not closed", excerpt.place(at, at + 2), help="end it with `*/`")
    elif found == '"' and text[:at].rstrip().endswith(_RAW_STRING_PREFIXES) and not text[at - 1].isspace():
        diagnostics.add("GS0209", "raw strings are not part of the language", excerpt.place(at - 1, at + 1))
    elif found == '"' and _string_end(text, at) < 0:
        diagnostics.add("GS0205", "the string is not closed", excerpt.place(at, at + 1), help=STRING_HELP)
    elif (start := next((i for i in (at - 2, at - 1, at) if text[max(i, 0) : i + 3] in _TRIGRAPHS), None)) is not None:
        diagnostics.add("GS0209", "trigraphs are not part of the language", excerpt.place(start, start + 3))
    elif (start := next((i for i in (at - 1, at) if text[max(i, 0) : i + 2] in _DIGRAPHS), None)) is not None:
        diagnostics.add("GS0209", "digraphs are not part of the language", excerpt.place(start, start + 2))
    else:
        return False
    return True


def _string_end(text: str, start: int) -> int:
    """Where the string that begins here ends, behind its closing quote; -1 where its line ends first."""
    at = start + 1
    while at < len(text) and text[at] not in '"\n':
        at += 2 if text[at] == "\\" else 1
    return at + 1 if text[at : at + 1] == '"' else -1


def _report_brackets(text: str, at: int, excerpt: Excerpt, diagnostics: Diagnostics) -> bool:
    """Report the bracket at which the text up to and with `at` stops to match, if there is one."""
    opened: list[int] = []
    i = 0
    while i < min(at + 1, len(text)):
        c = text[i]
        if c == '"':
            i = max(_string_end(text, i) - 1, i)
        elif text.startswith("/*", i):
            i = max(text.find("*/", i + 2), i) + 1
        elif text.startswith("//", i):
            i = max(text.find("\n", i), i)
        elif c in _CLOSER_OF:
            opened.append(i)
        elif c in ")]}":
            if not opened:
                diagnostics.add("GS0206", f"`{c}` closes nothing", excerpt.place(i, i + 1))
                return True
            start = opened.pop()
            if _CLOSER_OF[text[start]] != c:
                diagnostics.add(
                    "GS0206",
                    f"`{c}` does not close `{text[start]}`",
                    excerpt.place(i, i + 1),
                    others=[(excerpt.place(start, start + 1), "opened here")],
                )
                return True
        i += 1
    if at >= len(text.rstrip()) and opened:
        start = opened[-1]
        diagnostics.add("GS0206", f"`{text[start]}` is not closed", excerpt.place(start, start + 1))
        return True
    return False
