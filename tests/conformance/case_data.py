"""The cases of tests/cases/*.toml as data; runs nothing.

Keys of a case:

    id, title, must        its name, what it is, what has to happen
    derivatives, schemas   the two files; `bom`, `crlf` and `hex` change how the first one is written; `generate` makes its text
    exit                   0 fine, 1 the spec is wrong, 2 the call is wrong
    emit_exit, emit_says   where a backend refuses what is right for others: its exit code, and texts of what it says
    findings               every diagnostic: `code`, and where given `file`, `at` ("line:column"), `message`, `help`,
                           `says` (texts that must stand in message, label or help), `others` (further places)
    more                   further findings of the codes that are listed are welcome
    nodes                  the classes, all of them, in order
    saved                  class to the names that it saves
    formulas               class to input to its formula
    tangents               op to the formula of its only output's tangent
    outputs                op to whether each output is differentiable
    schemas_are            the canonical schemas of the records
    same_as                another derivatives text, whose output must be the same, byte for byte
    output_has, output_lacks, no_file, longest_output, compile, limits (seconds, megabytes)
    python                 case_torch.py also calls what the Python backend emits
    bindings               case_read.py also reads what nodes keep, by the classes of the backend for bindings
    setup                  a function of case_setups.py that does the whole case
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

CASES = Path(__file__).resolve().parent.parent / "cases"


@frozen
class Expected:
    """One diagnostic that must come."""

    code: str
    at: str = ""
    file: str = "derivatives.yaml"
    message: str = ""
    help: str = ""
    says: tuple[str, ...] = field(default=(), converter=tuple)
    others: tuple[str, ...] = field(default=(), converter=tuple)

    def __str__(self) -> str:
        texts = ", ".join(repr(t) for t in (self.message, self.help, *self.says) if t)
        return f"{self.code} at {self.file}:{self.at or '?'}{' with ' + texts if texts else ''}"


@frozen
class Case:
    """A small spec, how it is written, and what has to happen."""

    id: str
    title: str
    must: str
    derivatives: str | None = None
    schemas: str | None = None
    bom: bool = False
    crlf: bool = False
    hex: str = ""
    generate: str = ""
    exit: int = 0
    emit_exit: int | None = None
    emit_says: tuple[str, ...] = field(default=(), converter=tuple)
    findings: tuple[Expected, ...] = ()
    more: bool = False
    nodes: list[str] | None = None
    saved: Mapping[str, list[str]] = field(factory=dict)
    formulas: Mapping[str, Mapping[str, str]] = field(factory=dict)
    tangents: Mapping[str, str] = field(factory=dict)
    outputs: Mapping[str, list[bool]] = field(factory=dict)
    schemas_are: tuple[str, ...] = field(default=(), converter=tuple)
    same_as: str = ""
    output_has: tuple[str, ...] = field(default=(), converter=tuple)
    output_lacks: tuple[str, ...] = field(default=(), converter=tuple)
    no_file: tuple[str, ...] = field(default=(), converter=tuple)
    longest_output: int = 100_000
    compile: bool = False
    limits: Mapping[str, float] = field(factory=dict)
    python: bool = False
    bindings: bool = False
    setup: str = ""

    @property
    def derivatives_bytes(self) -> bytes:
        """What derivatives.yaml holds."""
        if self.hex:
            return bytes.fromhex(self.hex)
        text = _GENERATED[self.generate]() if self.generate else self.derivatives or ""
        text = text.replace("\n", "\r\n") if self.crlf else text
        return (b"\xef\xbb\xbf" if self.bom else b"") + text.encode("utf-8")


def _one_formula(formula: str) -> str:
    return f"- name: foo(Tensor self, Tensor other) -> Tensor\n  self: {formula}\n  other: grad\n"


_GENERATED = {
    "nested": lambda: _one_formula("(" * 10_000 + "grad" + ")" * 10_000),
    "calls": lambda: _one_formula("at::abs(" * 10_000 + "grad" + ")" * 10_000),
    "minus": lambda: _one_formula("grad * " + "- " * 10_000 + "1"),
    "indexes": lambda: _one_formula("grad[" * 10_000 + "0" + "]" * 10_000),
    "braces": lambda: _one_formula("'grad.sum(" + "{" * 10_000 + "0" + "}" * 10_000 + ")'"),
    "conditions": lambda: _one_formula('"' + "true ? grad : " * 5_000 + 'grad"'),
    "open": lambda: _one_formula("(" * 10_000 + "grad"),
    "long": lambda: _one_formula("+".join(["grad"] * 200_000)),
}


def load_cases() -> tuple[Case, ...]:
    """All cases, in the order of files and lines.

    Raises:
        ValueError: an unknown key, or an id that stands twice.
    """
    found: dict[str, Case] = {}
    for path in sorted(CASES.glob("*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            try:
                findings = tuple(Expected(**finding) for finding in row.pop("findings", ()))
                case = Case(**row, findings=findings)
            except TypeError as error:
                raise ValueError(f"{path.name}, {row.get('id')}: {error}") from error
            if case.id in found:
                raise ValueError(f"{path.name}: the case {case.id} stands twice")
            found[case.id] = case
    return tuple(found.values())


def retold(case: Case, told: Mapping[str, Any]) -> Case:
    """The case with the spec of a record of the shared folder, so that both tellings are judged by the same expectations."""
    changes: dict[str, Any] = {}
    if "derivatives_hex" in told:
        changes["hex"] = told["derivatives_hex"]
    elif isinstance(told.get("derivatives"), str) and not told["derivatives"].startswith("("):
        # Its text holds mark and line ends as they are.
        changes |= {"derivatives": told["derivatives"], "bom": False, "crlf": False}
    if isinstance(told.get("native_functions"), str) and not told["native_functions"].startswith("("):
        changes["schemas"] = told["native_functions"]
    return evolve(case, **changes)


def shared_records(folder: Path) -> dict[str, dict[str, Any]]:
    """The records of a folder with the two .jsonl files, by id; empty where it has none."""
    return {
        record["id"]: record
        for name in ("hostile_inputs.jsonl", "field_reports.jsonl")
        if (folder / name).is_file()
        for line in (folder / name).read_text(encoding="utf-8").splitlines()
        if line.strip()
        for record in [json.loads(line)]
    }
