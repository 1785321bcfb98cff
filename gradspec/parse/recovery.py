"""Finds what can be kept of a .grad item that is wrong, and each place where it is; knows only brackets, strings and comments."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, frozen

from gradspec.diagnostics import Diagnostics
from gradspec.grammar import BLANKS, STRING_HELP
from gradspec.source import Source, Span

_CLOSER_OF = {"(": ")", "[": "]", "{": "}"}


@frozen
class FoundRule:
    """The place of a rule with its `;`, and of the dispatch key that it stands below, None where there is none."""

    start: int
    end: int
    dispatch: tuple[int, int] | None


@frozen
class FoundOp:
    """The place of an op's schema, its rules, where the op ends, and the places of what stands in it by mistake."""

    schema: tuple[int, int]
    rules: tuple[FoundRule, ...]
    end: int
    nested: tuple[tuple[int, int], ...] = ()


def find_op(source: Source, start: int, stop: int, diagnostics: Diagnostics) -> FoundOp | None:
    """The parts of the op whose text begins at `start`, behind the word `op`, and ends at `stop`; None where it has no braces.

    Parts whose brackets, strings or comments do not end are reported and left out, as is a rule without its `;`.
    """
    scan = _Scanner(source, stop, diagnostics, start)
    head = scan.head("an op", "op name(Tensor self) -> Tensor { self: grad; }", start)
    if head is None:
        return None
    opened = [scan.at]
    scan.at += 1
    rules: list[FoundRule] = []
    nested: list[tuple[int, int]] = []
    dispatch: tuple[int, int] | None = None
    while opened and (sign := scan.next_sign()):
        rule_start = scan.at
        if sign == "}":
            opened.pop()
            dispatch = None
            scan.at += 1
        elif len(opened) == 1 and (key := scan.dispatch_head()) is not None:
            opened.append(scan.at - 1)
            dispatch = key
        elif scan.nested_item():
            nested.append((rule_start, scan.at))
        elif scan.go_to(";}") == ";":
            scan.at += 1
            if scan.fine:
                rules.append(FoundRule(rule_start, scan.at, dispatch))
        elif scan.fine and scan.at < stop:
            help_ = "a rule looks like `self: grad * other;`"
            if source.text[rule_start : scan.at].replace(" ", "").startswith("dispatch:"):
                help_ = "a block is `dispatch KEY { ... }`, without `:`"
            scan.report("GS0203", "a `;` is missing", scan.end_before() - 1, help=help_)
    if opened:
        scan.report("GS0206", "`{` is not closed", opened[-1])
    return FoundOp(head, tuple(rules), scan.at, tuple(nested))


@frozen
class FoundFunction:
    """The place of a function's header, of its whole body, of each statement with its `;`, and where the function ends."""

    header: tuple[int, int]
    body: tuple[int, int]
    statements: tuple[tuple[int, int], ...]
    end: int


def find_function(source: Source, start: int, stop: int, diagnostics: Diagnostics) -> FoundFunction | None:
    """The parts of the function whose text begins at `start`, behind the word `fn`, and ends at `stop`; None without braces.

    Statements whose brackets, strings or comments do not end are reported and left out, as is one without its `;`.
    """
    scan = _Scanner(source, stop, diagnostics, start)
    head = scan.head("a function", "fn name(Tensor x) -> Tensor { return x * 2; }", start - 1)
    if head is None:
        return None
    opened = scan.at
    scan.at += 1
    statements = tuple(_statements(scan))
    closed = scan.at
    if scan.next_sign() == "}":
        scan.at += 1
    else:
        scan.fine = True
        scan.report("GS0206", "`{` is not closed", opened)
    return FoundFunction(head, (opened + 1, closed), statements, scan.at)


def find_statements(source: Source, start: int, stop: int, diagnostics: Diagnostics) -> tuple[tuple[int, int], ...]:
    """The places of the statements between two places, each with its `;`; one without it is reported and left out."""
    return tuple(_statements(_Scanner(source, stop, diagnostics, start)))


def _statements(scan: _Scanner) -> Iterator[tuple[int, int]]:
    while (sign := scan.next_sign()) and sign != "}":
        start = scan.at
        if scan.go_to(";}") == ";":
            scan.at += 1
            if scan.fine:
                yield start, scan.at
        elif scan.fine:
            # What is wrong before may be why there is no `;`: the statement's own grammar looks at it first.
            yield start, scan.end_before()


def first_word(source: Source, start: int, stop: int, diagnostics: Diagnostics) -> tuple[int, str]:
    """Where something begins that is no blank and no comment, and the word that it begins with, if it is one."""
    scan = _Scanner(source, stop, diagnostics, start)
    scan.skip_blank()
    return scan.at, scan.word()


def item_starts(source: Source) -> list[int]:
    """Where items may begin: at a keyword that is a line's first word, outside of comments and strings.

    Where it is indented it may also stand inside of the item before, by mistake: it does if that one's braces end behind it.
    """
    text = source.text
    starts: list[tuple[int, bool]] = [(0, False)]
    hidden = _hidden(text)
    begin, end = next(hidden, (len(text), len(text)))
    at = 0
    for line in text.split("\n"):
        while end <= at and begin < len(text):
            begin, end = next(hidden, (len(text), len(text)))
        if at and line and not begin < at < end and line.split(maxsplit=1)[:1] in (["op"], ["fn"], ["library"], ["extern"]):
            starts.append((at, line[0] in BLANKS))
        at += len(line) + 1
    outer = [at for at, indented in starts if not indented]
    ends = dict(zip(outer, [*outer[1:], len(text)], strict=True))
    kept: list[int] = []
    item_end = 0
    for i, (at, indented) in enumerate(starts):
        if indented and at < item_end:
            continue
        kept.append(at)
        if not indented and i + 1 < len(starts) and starts[i + 1][1]:
            item_end = _end_of_braces(source, at, ends[at])
    return kept


def _end_of_braces(source: Source, start: int, stop: int) -> int:
    """Behind the brace that closes the first one from `start` on, if all brackets up to there match; else `start`."""
    found = Diagnostics()
    scan = _Scanner(source, stop, found, start)
    if scan.go_to("{") == "{":
        scan.at += 1
        if scan.go_to("}") == "}" and not found.all:
            return scan.at + 1
    return start


def _hidden(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of comments and strings, in order."""
    following = {mark: text.find(mark) for mark in ("//", "/*", '"')}
    while any(at >= 0 for at in following.values()):
        start, mark = min((at, mark) for mark, at in following.items() if at >= 0)
        if mark == '"':
            end = start + 1
            while end < len(text) and text[end] not in '"\n':
                end += 2 if text[end] == "\\" else 1
            end += 1
        else:
            end = text.find("*/", start + 2) + 2 if mark == "/*" else text.find("\n", start) + 1
            end = end if end > start else len(text)
        yield start, end
        following = {m: at if at < 0 or at >= end else text.find(m, end) for m, at in following.items()}


@define
class _Scanner:
    """Walks over an op. `at` is the place reached; `fine` is whether all was well since the last `go_to` began."""

    source: Source
    stop: int
    diagnostics: Diagnostics
    at: int
    fine: bool = True

    def report(self, code: str, message: str, at: int, *, help: str = "", opened: int = -1) -> None:
        """Say what is wrong at one place; of what is wrong between two calls of `go_to`, only the first thing."""
        if self.fine:
            others = [(Span(self.source, opened, opened + 1), "opened here")] if opened >= 0 else []
            self.diagnostics.add(code, message, Span(self.source, at, at + 1), help=help, others=others)
        self.fine = False

    def next_sign(self) -> str:
        """Go over blanks, comments and strings to what comes then, and give its first code point; empty at the end."""
        while sign := self.skip_blank():
            if not (sign == '"' or self._quotes_default()):
                return sign
            self.at = self._string_end(sign)
        return ""

    def skip_blank(self) -> str:
        """Go over blanks and comments to what comes then, and give its first code point; empty at the end."""
        text = self.source.text
        while self.at < self.stop:
            character, end = text[self.at], self.at + 1
            if character in BLANKS:
                while end < self.stop and text[end] in BLANKS:
                    end += 1
            elif character != "/":
                return character
            elif text.startswith("/*", self.at):
                end = text.find("*/", self.at + 2, self.stop) + 2
                if end < 2:
                    self.report("GS0205", "the comment is not closed", self.at, help="end it with `*/`")
                    end = self.stop
            elif text.startswith("//", self.at):
                end = text.find("\n", self.at, self.stop)
                end = self.stop if end < 0 else end
            else:
                return character
            self.at = end
        return ""

    def _quotes_default(self) -> bool:
        """Whether a string in single quotes begins here, and not the rest of a number like 1'000."""
        text = self.source.text
        if text[self.at] != "'" or text[self.at - 1].isalnum():
            return False
        closing = text.find("'", self.at + 1, self.stop)
        return closing > 0 and text.find("\n", self.at, closing) < 0

    def _string_end(self, quote: str) -> int:
        text, end = self.source.text, self.at + 1
        while end < self.stop and text[end] not in (quote, "\n"):
            end += 2 if text[end] == "\\" else 1
        if end < self.stop and text[end] == quote:
            return end + 1
        # What follows is read as if the quote were not there, so that the rule still ends somewhere.
        self.report("GS0205", "the string is not closed", self.at, help=STRING_HELP)
        return self.at + 1

    def word(self) -> str:
        """The word at this place, empty where none begins."""
        text, end = self.source.text, self.at
        while end < self.stop and (text[end].isalnum() or text[end] == "_"):
            end += 1
        return text[self.at : end]

    def end_before(self) -> int:
        """Where the text before this place ends, blanks left out."""
        end = self.at
        while end > 0 and self.source.text[end - 1] in BLANKS:
            end -= 1
        return end

    def dispatch_head(self) -> tuple[int, int] | None:
        """The place of KEY, if `dispatch KEY {` stands here; then the `{` is behind us."""
        start = self.at
        if self.word() == "dispatch":
            self.at += len("dispatch")
            self.next_sign()
            key = (self.at, self.at + len(self.word()))
            self.at = key[1]
            if key[0] < key[1] and self.next_sign() == "{":
                self.at += 1
                return key
        self.at = start
        return None

    def nested_item(self) -> bool:
        """Whether an op or function begins here, inside of another item: it is reported, and then behind us."""
        start, word = self.at, self.word()
        if word not in ("op", "fn"):
            return False
        self.at += len(word)
        if not self.skip_blank().isidentifier() or self.go_to("{;}:") != "{":
            self.at = start
            return False
        self.fine = True
        self.report("GS0203", f"`{word}` cannot stand here", start, help="ops and functions stand beside each other")
        self.at += 1
        if self.go_to("}"):
            self.at += 1
        return True

    def head(self, what: str, example: str, least: int) -> tuple[int, int] | None:
        """Go to the `{` of an item, and give the place of its schema; None where there is no brace, which is reported.

        That is not before `least`, where the item's first word ends.
        """
        self.next_sign()
        start = self.at
        sign = self.go_to("{;}")
        place = (start, self.end_before())
        if sign == "{":
            return place
        if self.fine:
            at = min(max(least, place[1] - 1), self.stop - 1)
            self.report("GS0203", f"{what} without its `{{`", at, help=f"{what} looks like `{example}`")
        return None

    def go_to(self, ends: str) -> str:
        """Go to the first of some signs that stands outside of braces, and give it; empty at the end.

        Brackets must match up to there. An opening brace ends the stretch only outside of all brackets.
        """
        self.fine = True
        opened: list[int] = []
        # Where each `fold(` is, or what would be a loop of C++, and how many `;` it may still have.
        folds: dict[int, int] = {}
        braces = 0
        text = self.source.text
        word = ""
        while sign := self.next_sign():
            if sign == ";" and opened and folds.get(opened[-1], 0):
                folds[opened[-1]] -= 1
            elif sign in ends and not braces and (sign != "{" or not opened):
                break
            if sign in _CLOSER_OF:
                opened.append(self.at)
                braces += sign == "{"
                if sign == "(" and word in ("fold", "for"):
                    folds[self.at] = 2
            elif sign in ")]}" and not opened:
                self.report("GS0206", f"`{sign}` closes nothing", self.at)
            elif sign in ")]}":
                start = opened.pop()
                braces -= text[start] == "{"
                if _CLOSER_OF[text[start]] != sign:
                    self.report("GS0206", f"`{sign}` does not close `{text[start]}`", self.at, opened=start)
            word = self.word()
            self.at += max(1, len(word))
        if opened:
            self.report("GS0206", f"`{text[opened[-1]]}` is not closed", opened[-1])
        return sign
