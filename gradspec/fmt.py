"""The canonical form of a .grad file: the same tokens and comments, laid out anew; knows no meaning of names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import Factory, define, frozen

from gradspec.diagnostics import Diagnostics
from gradspec.ir import Schema
from gradspec.layout import GAP, HARD_LINE, LINE, Align, Concat, Doc, Fill, Group, Nest, Verbatim, concat, render
from gradspec.names import DIFFERENTIABILITY_KEY
from gradspec.parse import parse_schema, parse_spec
from gradspec.parse.concrete import Block, Comment, Declaration, Layout, Rule, Statement, fold_formula, parse_layout
from gradspec.printer import PRECEDENCE
from gradspec.source import Excerpt, Source, Span

WIDTH = 100
_INDENT = 2
# A longer key does not move the formulas of all others to the right.
_WIDEST_ALIGNED_KEY = 24
# What may follow a comment without a blank.
_CLOSERS = frozenset({"PAREN_CLOSE", "SQUARE_CLOSE", "CURLY_CLOSE", "COMMA"})


def format_spec(source: Source, diagnostics: Diagnostics) -> str | None:
    """The canonical text of a .grad file; None where it is wrong, with the reasons in `diagnostics`."""
    found = Diagnostics()
    parse_spec(source, found)
    diagnostics.extend(found.all)
    if found.has_errors:
        return None
    return _Printer(source, parse_layout(source.text)).text()


# ---------------------------------------------------------------------------------------------------------------- formulas


@frozen(eq=False)
class _Piece:
    """A part of a formula: its doc, and what its surroundings must know. `chain` are the operands of one precedence level."""

    doc: Doc
    rule: str
    first: str
    last: str
    level: int = 0
    chain: tuple[Doc, ...] = ()
    items: tuple[Doc, ...] = ()


def formula_doc(text: str) -> Doc:
    """A formula's doc, every token and comment of it kept, but for comments behind its end.

    Raises:
        lark.exceptions.UnexpectedInput: the text is no formula.
    """
    return fold_formula(text, _leaf, _branch).doc


def statement_doc(text: str) -> Doc:
    """The doc of a function's statement, with its `;`.

    Raises:
        lark.exceptions.UnexpectedInput: the text is no statement.
    """
    return fold_formula(text, _leaf, _branch, "statement").doc


def _leaf(terminal: str, text: str, comments: tuple[str, ...]) -> _Piece:
    if terminal in ("NAME", "TEMPLATE_TYPE", "TEMPLATE_FUNCTION"):
        text = "".join(text.split())
    doc: Doc = text
    if comments:
        doc = concat(*_comment_docs(comments, terminal not in _CLOSERS), text)
    return _Piece(doc, terminal, text, text)


def _comment_docs(comments: Sequence[str], blank_after: bool) -> Iterator[Doc]:
    for comment in comments:
        yield GAP
        if comment.startswith("//"):
            yield comment
            yield HARD_LINE
        else:
            yield Verbatim(_without_trailing_blanks(comment))
    if blank_after:
        yield GAP


def _branch(rule: str, parts: list[_Piece]) -> _Piece:
    docs = [part.doc for part in parts]
    first, last = parts[0].first, parts[-1].last
    match rule:
        case "args":
            return _Piece(concat(*docs), rule, first, last, items=_items(parts))
        case "template_args":
            spaced = [concat(doc, " ") if part.rule == "COMMA" else doc for part, doc in zip(parts, docs, strict=True)]
            return _Piece(concat(*spaced), rule, first, last)
        case "binary":
            return _binary(parts)
        case "unary":
            # Two signs in a row would be read as one.
            gap = " " if first in "+-" and parts[1].first == first else ""
            return _Piece(concat(docs[0], gap, docs[1]), rule, first, last)
        case "conditional":
            test, question, then, colon, other = docs
            branches = concat(LINE, question, " ", then, LINE, colon, " ", other)
            return _Piece(Group(concat(test, Nest(_INDENT, branches))), rule, first, last)
        case "method":
            # `2.` would be another number.
            gap = " " if parts[0].rule == "number" else ""
            return _Piece(concat(docs[0], gap, _bracketed(parts[1:])), rule, first, last)
        case "parenthesized":
            return _Piece(concat(docs[0], Nest(1, docs[1]), docs[2]), rule, first, last)
        case "lambda_":
            opened, closed, paren, type_, name, paren_end, curly, word, body, semicolon, curly_end = docs
            head = concat(opened, closed, paren, type_, " ", name, paren_end, " ", curly)
            inside = concat(LINE, word, " ", body, semicolon)
            return _Piece(Group(concat(head, Nest(_INDENT, inside), LINE, curly_end)), rule, first, last)
        case "start":
            return parts[0]
        case "let":
            *names, equals, value, semicolon = docs[1:]
            head = concat(docs[0], " ", *_with_blanks(names), " ", equals, " ")
            return _Piece(concat(head, value, semicolon), rule, first, last)
        case "guard":
            word, opened, test, closed, returned, value, semicolon = docs
            result = concat(LINE, returned, " ", value, semicolon)
            head = concat(word, " ", opened, Align(test), closed)
            return _Piece(Group(concat(head, Nest(_INDENT, result))), rule, first, last)
        case "result":
            return _Piece(concat(docs[0], " ", docs[1], docs[2]), rule, first, last)
        case "tuple_":
            return _Piece(concat(docs[0], Align(Fill(_items(parts[1:-1]))), docs[-1]), rule, first, last)
        case "comprehension":
            opened, value, *more, closed = docs
            clauses = [concat(word, " ", what) for word, what in zip(more[::2], more[1::2], strict=True)]
            return _Piece(Group(concat(opened, Align(concat(value, LINE, Fill(tuple(clauses)))), closed)), rule, first, last)
        case "fold":
            word, opened, name, equals, initial, end, walk, walk_end, value, closed = docs
            parts_of = Fill((concat(name, " ", equals, " ", initial, end), concat(walk, walk_end), value))
            return _Piece(concat(word, opened, Align(parts_of), closed), rule, first, last)
        case "walk":
            *names, word, source = docs
            return _Piece(concat(*_with_blanks(names), " ", word, " ", source), rule, first, last)
        case _:
            return _Piece(_bracketed(parts), rule, first, last)


def _with_blanks(names: list[Doc]) -> Iterator[Doc]:
    """Names with commas between them, a blank behind each comma."""
    for i, name in enumerate(names):
        yield name if i % 2 == 0 else concat(name, " ")


def _items(parts: list[_Piece]) -> tuple[Doc, ...]:
    """What stands between commas, each with the comma behind it."""
    items = []
    for i in range(0, len(parts), 2):
        items.append(concat(*[part.doc for part in parts[i : i + 2]]))
    return tuple(items)


def _bracketed(parts: list[_Piece]) -> Concat:
    """The parts side by side; lists of arguments are filled."""
    docs: list[Doc] = []
    for part in parts:
        docs.append(Nest(2 * _INDENT, Fill(part.items, opened=True)) if part.items else part.doc)
    return Concat(tuple(docs))


def _binary(parts: list[_Piece]) -> _Piece:
    left, sign, right = parts
    level = PRECEDENCE[sign.first]
    operand = concat(sign.doc, " ", right.doc)
    chain = (*left.chain, operand) if left.level == level else (left.doc, operand)
    lines: list[Doc] = []
    for operand_doc in chain[1:]:
        lines += [LINE, operand_doc]
    doc = Group(concat(chain[0], Nest(_INDENT, Concat(tuple(lines)))))
    return _Piece(doc, "binary", left.first, right.last, level, chain)


# ----------------------------------------------------------------------------------------------------------------- schemas


def schema_doc(schema: Schema) -> Doc:
    """A schema that may be broken at its commas."""
    arguments = [str(a) for a in schema.positional]
    if schema.keyword or schema.out:
        arguments.append("*")
    arguments += [str(a) for a in schema.keyword + schema.out]
    returns = [str(r) for r in schema.returns]
    results: Doc = returns[0] if len(returns) == 1 else concat("(", _comma_list(returns), ")")
    # What comes out stands on one line where it can.
    return concat(f"{schema.name}(", _comma_list(arguments), ")", Group(Nest(2 * _INDENT, concat(LINE, "-> ", results, " {"))))


def _comma_list(texts: list[str]) -> Doc:
    return Nest(2 * _INDENT, Fill(tuple([f"{text}," for text in texts[:-1]] + texts[-1:])))


# ------------------------------------------------------------------------------------------------------------------- files


@define
class _Printer:
    """Writes a file line by line, and puts each comment where it belongs."""

    source: Source
    layout: Layout
    out: list[str] = Factory(list)
    # How far the comments are written, and where in the source the last written thing ends.
    comments_done: int = 0
    at: int = 0
    # Whether the next line must stand apart from the last one, and whether it must not.
    need_blank: bool = False
    at_start: bool = True

    def text(self) -> str:
        """The whole file."""
        items = self.layout.items
        for i, item in enumerate(items):
            if isinstance(item, Declaration):
                self._lead(item.start, item.end, 0)
                self._write(f"{item.keyword} {', '.join(item.names)};", item.end, 0)
            else:
                self._lead(item.start, item.opened, 0, apart=i > 0)
                self._block(item, 0)
            self.need_blank = isinstance(item, Block)
        end = len(self.source.text)
        self._lead(end, end, 0, closing=True)
        return "".join([f"{line}\n" for line in self.out])

    def _block(self, block: Block, indent: int) -> None:
        start, end = block.head
        if block.keyword in ("op", "fn"):
            excerpt = Excerpt(self.source.text[start:end], Span(self.source, start, end))
            schema = parse_schema(excerpt, Diagnostics(), is_function=block.keyword == "fn")
            assert schema is not None
            head = render(concat(f"{block.keyword} ", schema_doc(schema)), WIDTH)
        else:
            head = f"{block.keyword} {self.source.text[start:end]} {{"
        if not block.members and not any(block.opened <= c.start < block.closed for c in self.layout.comments):
            self._write(f"{head}}}", block.end, indent)
            return
        self._write(head, block.opened, indent)
        keys = [", ".join(m.names) for m in block.members if isinstance(m, Rule)]
        aligned = [len(k) for k in keys if len(k) <= _WIDEST_ALIGNED_KEY and k != DIFFERENTIABILITY_KEY]
        column = max(aligned, default=0) + len(": ")
        inner = indent + _INDENT
        self.at_start = True
        for member in block.members:
            if isinstance(member, Rule):
                self._lead(member.start, member.formula[0] if self._is_flags(member) else member.colon, inner)
                self._write(self._rule(member, inner, column), member.end, inner, inside=member.formula)
            elif isinstance(member, Statement):
                self._lead(member.start, member.start, inner)
                doc = statement_doc(self.source.text[member.start : member.end])
                text = render(doc, WIDTH, indent=inner, column=inner)
                self._write(text, member.end, inner, inside=(member.start, member.end))
            else:
                self._lead(member.start, member.opened, inner)
                self._block(member, inner)
        self._lead(block.closed, block.closed, inner, closing=True)
        self._write("}", block.end, indent)

    def _rule(self, rule: Rule, indent: int, column: int) -> str:
        key = ", ".join(rule.names)
        start, end = rule.formula
        if self._is_flags(rule):
            words = self.source.text[start:end].strip("[]").split(",")
            return f"{key}: [{', '.join([word.strip().title() for word in words])}];"
        doc = concat(formula_doc(self.source.text[rule.colon + 1 : end]), ";")
        if len(key) > _WIDEST_ALIGNED_KEY or key == DIFFERENTIABILITY_KEY:
            hung = Group(Nest(2 * _INDENT, concat(LINE, doc)))
            return f"{key}:" + render(hung, WIDTH, indent=indent, column=indent + len(key) + 1)
        head = f"{key}:".ljust(column)
        return head + render(doc, WIDTH, indent=indent + column, column=indent + column)

    def _is_flags(self, rule: Rule) -> bool:
        return rule.names == (DIFFERENTIABILITY_KEY,) and self.source.text[rule.formula[0]] == "["

    def _lead(self, start: int, until: int, indent: int, *, apart: bool = False, closing: bool = False) -> None:
        """Write the comments before the thing that starts at `start`, and those in it up to `until`, each on a line of its own.

        One blank line is kept where there are some. `apart`: the thing stands apart from what is before it, with the comments
        that stand right above it. `closing`: it is the end of what is before it, so that no blank line parts them.
        """
        lines: list[tuple[str, bool]] = []
        while (comment := self._next_comment()) is not None and comment.start < until:
            place = min(comment.start, start)
            lines.append((comment.text, self._blank_before(place)))
            self.at = max(self.at, min(comment.end, start))
            self.comments_done += 1
        blank = self._blank_before(start)
        above = len(lines)
        while above and not (lines[above][1] if above < len(lines) else blank):
            above -= 1
        for i, (text, blank_before) in enumerate(lines):
            self._separate(blank_before or (apart and i == above))
            self.out.append(" " * indent + _without_trailing_blanks(text))
        if closing:
            self.need_blank = self.at_start = False
        else:
            self._separate(blank or (apart and above == len(lines)))
        self.at = start

    def _blank_before(self, place: int) -> bool:
        return self.source.text.count("\n", self.at, place) > 1

    def _separate(self, blank: bool) -> None:
        """Note whether a blank line stands before the next line."""
        if (blank or self.need_blank) and not self.at_start:
            self.out.append("")
        self.need_blank = self.at_start = False

    def _write(self, text: str, end: int, indent: int, inside: tuple[int, int] | None = None) -> None:
        """Write a line of the file that ends at `end`, then the comments that stand behind it.

        Comments in it are written by now, but for those around and in its formula, which is at `inside`.
        """
        behind: list[str] = []
        self.at = end
        while (comment := self._next_comment()) is not None:
            if comment.start < end:
                if inside is not None and comment.start >= inside[1]:
                    behind.append(comment.text)
            elif self.source.text[self.at : comment.start].strip(" \t"):
                break
            else:
                behind.append(comment.text)
                self.at = comment.end
            self.comments_done += 1
        line = [" " * indent + text]
        while behind and not line[-1].startswith("//"):
            line.append(_without_trailing_blanks(behind.pop(0)))
        self.out.append("  ".join(line))
        # Nothing can stand behind a comment that ends with its line.
        self.out += [" " * indent + _without_trailing_blanks(text) for text in behind]

    def _next_comment(self) -> Comment | None:
        return self.layout.comments[self.comments_done] if self.comments_done < len(self.layout.comments) else None


def _without_trailing_blanks(text: str) -> str:
    return "\n".join([line.rstrip() for line in text.split("\n")])
