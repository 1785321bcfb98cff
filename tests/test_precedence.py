"""How operators bind, and what whole numbers mean: as in C++, with g++ as the judge."""

from __future__ import annotations

import itertools
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from shapes import BINARY, UNARY, evaluate, parse

OPERATORS = [*BINARY, "&&", "||"]


def flat_expressions() -> Iterator[str]:
    """Every pair of binary operators, every unary one before and between, conditionals, and longer runs."""
    chance = random.Random(7)

    def number() -> str:
        return f"{chance.randrange(1, 8)}ll"

    for first, second in itertools.product(OPERATORS, OPERATORS):
        for _ in range(3):
            yield f"{number()} {first} {number()} {second} {number()}"
    for unary, binary in itertools.product(UNARY, OPERATORS):
        yield f"{unary}{number()} {binary} {number()}"
        yield f"{number()} {binary} {unary} {number()}"
    for operator in OPERATORS:
        yield f"{number()} {operator} 0 ? {number()} {operator} {number()} : {number()} {operator} {number()}"
    for _ in range(600):
        text = number()
        for _ in range(chance.randrange(2, 7)):
            unary = chance.choice(["", "", "", *UNARY])
            text += f" {chance.choice(OPERATORS)} {unary}{number()}"
            if chance.random() < 0.1:
                text = f"{text} ? {number()} : {number()}"
            elif chance.random() < 0.2:
                text = f"({text})"
        yield text


def defined(texts: Iterator[str]) -> dict[str, int]:
    values = {}
    for text in texts:
        try:
            values[text] = evaluate(parse(text))
        except (ArithmeticError, ValueError):
            continue
    return values


def test_operators_bind_and_mean_as_in_cxx(tmp_path: Path) -> None:
    """The judge is g++: it computes the same texts."""
    values = defined(flat_expressions())
    assert len(values) > 1000
    lines = "\n".join([f"  (long long)({text})," for text in values])
    source = tmp_path / "judge.cpp"
    source.write_text(
        f'#include <cstdio>\nlong long v[] = {{\n{lines}\n}};\nint main() {{ for (auto x : v) printf("%lld\\n", x); }}\n'
    )
    subprocess.run(["g++", "-w", "-O0", "-o", tmp_path / "judge", source], check=True, timeout=60)
    printed = subprocess.run([tmp_path / "judge"], check=True, timeout=60, capture_output=True, text=True).stdout.split()
    wrong = {t: (ours, theirs) for (t, ours), theirs in zip(values.items(), map(int, printed), strict=True) if ours != theirs}
    assert wrong == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 / 2", 0),
        ("-7 / 2", -3),
        ("7 / -2", -3),
        ("-7 % 4", -3),
        ("7 % 4", 3),
        ("1 << 2 + 1", 8),
        ("1 - 2 - 3", -4),
        ("8 / 4 / 2", 1),
    ],
)
def test_whole_numbers_mean_what_they_do_in_cxx(text: str, value: int) -> None:
    assert evaluate(parse(text)) == value
