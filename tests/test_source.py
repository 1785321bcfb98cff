"""Places in texts: lines and columns, and those of a YAML scalar whose text is not what the file spells."""

from __future__ import annotations

import pytest
import yaml

from gradspec.source import Excerpt, Source, Span


def scalar(document: str) -> Excerpt:
    """The value of the key `self` in a YAML document, as PyYAML reads it."""
    events = [e for e in yaml.parse(document, Loader=yaml.SafeLoader) if isinstance(e, yaml.ScalarEvent)]
    value = events[[e.value for e in events].index("self") + 1]
    assert value.start_mark is not None
    assert value.end_mark is not None
    quote = value.style if value.style in ("'", '"') else ""
    return Excerpt(value.value, Span(Source("d.yaml", document), value.start_mark.index, value.end_mark.index), quote)


def spelled(excerpt: Excerpt, word: str) -> tuple[str, int, int]:
    """What the source spells where the text has a word, with its line and column."""
    start = excerpt.text.index(word)
    span = excerpt.place(start, start + len(word))
    return span.source.text[span.start : span.end], span.line, span.column


# ------------------------------------------------------------------------------------------------------------------ sources


@pytest.mark.parametrize(
    ("offset", "place"),
    [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (4, (3, 1)), (6, (3, 3)), (7, (4, 1))],
    ids=["start", "line end", "empty line", "third line", "before the last end", "end of text"],
)
def test_line_and_column(offset: int, place: tuple[int, int]) -> None:
    assert Source("x", "ab\n\ncd\n").line_column(offset) == place


def test_columns_count_code_points() -> None:
    source = Source("x", "é😀x\ny")
    assert source.line_column(2) == (1, 3)
    assert source.line_column(4) == (2, 1)


@pytest.mark.parametrize(("line", "text"), [(1, "ab"), (2, ""), (3, "cd"), (4, "")])
def test_text_of_a_line(line: int, text: str) -> None:
    assert Source("x", "ab\n\ncd\n").line_text(line) == text


def test_only_line_feeds_end_a_line() -> None:
    source = Source("x", "a\u2028b\x0bc\x85d\ne")
    assert source.line_text(1) == "a\u2028b\x0bc\x85d"
    assert source.line_column(8) == (2, 1)


def test_a_span_knows_its_line_and_column() -> None:
    span = Span(Source("x", "ab\ncd"), 4, 5)
    assert (span.line, span.column) == (2, 2)


# ----------------------------------------------------------------------------------------------------------------- excerpts


def test_a_whole_text() -> None:
    excerpt = Excerpt.of_text("grad * self")
    assert excerpt.place(7, 11) == Span(excerpt.span.source, 7, 11)


def test_a_piece_of_a_text() -> None:
    source = Source("x.grad", "op f { self: grad; }")
    excerpt = Excerpt("grad", Span(source, 13, 17))
    assert excerpt.place(1, 3) == Span(source, 14, 16)
    assert excerpt.place(4, 4) == Span(source, 17, 17)


# What stands behind `self: `, the word that is sought, and how and where the source spells it.
SCALARS = {
    "plain": ("grad * other", "other", "other", 1, 14),
    "plain with blanks behind": ("grad * other   # no", "other", "other", 1, 14),
    "plain, two lines": ("grad *\n    other", "other", "other", 2, 5),
    "plain, an empty line between": ("grad *\n\n    other", "other", "other", 3, 5),
    "plain, blanks at the line's end": ("grad *  \n    other + x", "x", "x", 2, 13),
    "plain, blanks inside": ("grad   *   other", "other", "other", 1, 18),
    "single quotes": ("'grad * other'", "other", "other", 1, 15),
    "single quotes, first word": ("'grad * other'", "grad", "grad", 1, 8),
    "a quote in single quotes": ("'f(''a'') * other'", "other", "other", 1, 19),
    "the quote itself": ("'f(''a'') * other'", "'a'", "''a''", 1, 10),
    "only quotes": ("''''", "'", "''", 1, 8),
    "single quotes, two lines": ("'grad *\n  other'", "other", "other", 2, 3),
    "single quotes, empty lines": ("'grad *\n\n\n  other'", "other", "other", 4, 3),
    "double quotes": ('"grad * other"', "other", "other", 1, 15),
    "an escaped quote": ('"f(\\"a\\") * other"', "other", "other", 1, 19),
    "the escape itself": ('"f(\\"a\\") * other"', '"a"', '\\"a\\"', 1, 10),
    "an escaped backslash": ('"f(\\\\) * other"', "other", "other", 1, 16),
    "an escaped line feed": ('"grad\\n* other"', "other", "other", 1, 16),
    "two hexadecimal digits": ('"\\x67rad * other"', "grad", "\\x67rad", 1, 8),
    "behind two hexadecimal digits": ('"\\x67rad * other"', "other", "other", 1, 18),
    "four hexadecimal digits": ('"\\u0067rad * other"', "other", "other", 1, 20),
    "eight hexadecimal digits": ('"\\U00000067rad * other"', "other", "other", 1, 24),
    "double quotes, two lines": ('"grad *\n    other"', "other", "other", 2, 5),
    "double quotes, empty lines": ('"grad *\n\n    other"', "other", "other", 3, 5),
    "an escaped line break": ('"grad \\\n    * other"', "other", "other", 2, 7),
    "an escaped line break in a word": ('"grad * ot\\\n    her"', "other", "ot\\\n    her", 1, 15),
    "an escaped blank after a line break": ('"grad *\n    \\  other"', "other", "other", 2, 8),
    "an escaped break, then an empty line": ('"grad * \\\n\n    other"', "other", "other", 3, 5),
    "literal": ("|\n    grad *\n    other", "other", "other", 3, 5),
    "literal, first line": ("|\n    grad *\n    other\n", "grad", "grad", 2, 5),
    "literal, further in": ("|\n    grad *\n      other\n", "other", "other", 3, 7),
    "literal, stripped": ("|-\n    grad *\n\n    other\n\n\n", "other", "other", 4, 5),
    "literal, kept": ("|+\n    grad *\n    other\n\n", "other", "other", 3, 5),
    "literal, a comment in its head": ("| # why\n    grad *\n    other\n", "other", "other", 3, 5),
    "literal, a width in its head": ("|2\n      grad *\n     other\n", "other", "other", 3, 6),
    "literal, empty lines first": ("|\n\n\n    grad *\n    other\n", "other", "other", 5, 5),
    "literal, one word twice": ("|\n    a *\n    a + other\n", "a + o", "a + o", 3, 5),
    "folded": (">\n    grad *\n    other", "other", "other", 3, 5),
    "folded, an empty line": (">\n    grad *\n\n    other\n", "other", "other", 4, 5),
    "folded, further in": (">-\n    grad *\n      inner\n\n    other\n", "inner", "inner", 3, 7),
    "folded, behind what is further in": (">-\n    grad *\n      inner\n\n    other\n", "other", "other", 5, 5),
    "folded, blanks at the line's end": (">\n    grad * \n    other\n", "other", "other", 3, 5),
    "non-ASCII before it": ('"é\\u00e9😀 other"', "other", "other", 1, 17),
}


@pytest.mark.parametrize(("value", "word", "spelling", "line", "column"), SCALARS.values(), ids=SCALARS)
def test_a_yaml_scalar(value: str, word: str, spelling: str, line: int, column: int) -> None:
    assert spelled(scalar(f"self: {value}"), word) == (spelling, line, column)


def test_a_scalar_inside_of_a_document() -> None:
    document = "# é\n- name: foo\n  self: >\n      grad *\n      other\n  other: grad\n"
    assert spelled(scalar(document), "other") == ("other", 5, 7)


@pytest.mark.parametrize("value", ["''", '""', "", "|\n\n", "'  '", '"\\n"'])
def test_an_empty_place(value: str) -> None:
    excerpt = scalar(f"self: {value}\n")
    span = excerpt.place(0, 0)
    assert excerpt.span.start <= span.start == span.end <= excerpt.span.end


def test_the_end_of_a_scalar_is_before_its_quote() -> None:
    excerpt = scalar("self: 'it''s'")
    span = excerpt.place(4, 4)
    assert (span.start, span.end) == (12, 12)


def test_a_text_that_the_source_does_not_spell_is_placed_as_a_whole() -> None:
    source = Source("x", "self: 'grad' # other")
    span = Span(source, 6, 12)
    assert Excerpt("something else", span, "'").place(3, 5) == span
