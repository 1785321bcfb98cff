"""What a run of the checker found, as text and as JSON; knows no torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field, frozen

from gradspec.diagnostics import count
from gradspec.gradcheck.known import Known
from gradspec.ir import Op

if TYPE_CHECKING:
    from gradspec.gradcheck.one import Checked
    from gradspec.gradcheck.outcomes import Outcome
    from gradspec.source import Span

# What a tangent's formula is asked for; the others ask for that of a gradient.
_OF_TANGENTS = (
    "jvp",
    "vjp of jvp",
    "jvp of jvp",
    "torch's tangent",
    "batched tangents",
    "in place, tangent",
    "special points, tangent",
)


@frozen
class Failure:
    """The first failure of a check, at the smallest call; `known`: why that is not the formula's fault."""

    outcome: Outcome
    call: str
    known: str = ""


@define
class OpReport:
    """What was checked of one op. `skipped` says why nothing was; `places` of formulas are told by who prints."""

    op: Op
    calls: int = 0
    ran: dict[str, int] = field(factory=dict)
    worst: dict[str, float] = field(factory=dict)
    absent: dict[str, str] = field(factory=dict)
    found: dict[str, Failure] = field(factory=dict)
    notes: list[str] = field(factory=list)
    skipped: str = ""
    places: dict[str, Span] = field(factory=dict)

    @property
    def failures(self) -> list[Failure]:
        """What failed, and is not known to be no fault of the formula."""
        return [f for f in self.found.values() if not f.known]

    @property
    def known(self) -> list[Failure]:
        """What failed for a reason that is not in the formula."""
        return [f for f in self.found.values() if f.known]

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    def add(self, checked: Checked, known: Known) -> None:
        """Note one outcome."""
        outcome = checked.outcome
        if outcome.check == "sample":
            self.calls += 1
            return
        if outcome.inputs:
            self._name(outcome)
            return
        if outcome.status == "absent":
            self.absent.setdefault(outcome.check, outcome.reason)
            return
        self.ran[outcome.check] = self.ran.get(outcome.check, 0) + 1
        self.worst[outcome.check] = max(self.worst.get(outcome.check, 0.0), outcome.error)
        if outcome.status == "failed":
            # What is known covers what torch has as well, and nothing else.
            reason = known.get((str(self.op.name), outcome.check), "") if outcome.as_torch else ""
            self.fail(outcome, checked.call, reason)

    def fail(self, outcome: Outcome, call: str, known: str = "") -> None:
        """Note a failure. A later one replaces one that is known."""
        before = self.found.get(outcome.check)
        if before is None or (before.known and not known):
            self.found[outcome.check] = Failure(outcome, call, known)

    def _name(self, outcome: Outcome) -> None:
        found = self.found.get(outcome.check)
        if found is not None and outcome.inputs[0] not in found.outcome.inputs:
            inputs = (*found.outcome.inputs, *outcome.inputs)
            self.found[outcome.check] = evolve(found, outcome=evolve(found.outcome, inputs=inputs))


def failure_lines(report: OpReport) -> Iterator[str]:
    """What is wrong with one op, for people."""
    for failure in report.found.values():
        outcome = failure.outcome
        what = outcome.reason or f"error {outcome.error:.1e}"
        where = f", in {' and '.join(outcome.inputs)}" if outcome.inputs else ""
        yield f"{report.op.name}{_place(_span(report, outcome))}: {outcome.check}{where}: {what}"
        yield f"    at {failure.call}"
        if failure.known:
            yield f"    known: {failure.known}"


def _span(report: OpReport, outcome: Outcome) -> Span | None:
    """Where the formula at fault stands: of the input that is named, of a tangent, else the op itself."""
    if outcome.check == "forward":
        return report.places.get("forward", report.op.span)
    names = [o.name for o in report.op.outputs] if outcome.check in _OF_TANGENTS else outcome.inputs
    return next((report.places[n] for n in names if n in report.places), report.op.span)


def _place(span: Span | None) -> str:
    return f" ({span.source.path}:{span.line})" if span is not None else ""


def as_json(reports: Sequence[OpReport]) -> str:
    """All of a run as one document: `{"format": 1, "ops": [...]}`."""
    return json.dumps({"format": 1, "ops": [_op_json(r) for r in reports]}, indent=2)


def _op_json(report: OpReport) -> dict[str, Any]:
    return {
        "op": str(report.op.name),
        "node": report.op.node,
        "calls": report.calls,
        "skipped": report.skipped,
        "passed": report.passed,
        "ran": report.ran,
        "worst": {k: v if isfinite(v) else None for k, v in report.worst.items()},
        "absent": report.absent,
        "failures": [_failure_json(report, f) for f in report.failures],
        "known": [_failure_json(report, f) | {"why": f.known} for f in report.known],
        "notes": report.notes,
        "place": _place_json(report.op.span),
    }


def _failure_json(report: OpReport, failure: Failure) -> dict[str, Any]:
    outcome = failure.outcome
    return {
        "check": outcome.check,
        "error": outcome.error if isfinite(outcome.error) else None,
        "reason": outcome.reason,
        "inputs": outcome.inputs,
        "input": failure.call,
        "place": _place_json(_span(report, outcome)),
    }


def _place_json(span: Span | None) -> dict[str, Any] | None:
    return {"file": span.source.path, "line": span.line} if span is not None else None


def summary_rows(reports: Sequence[OpReport]) -> list[str]:
    """A line for each op that was checked or could not be, and one of counts."""
    width = max((len(str(r.op.name)) for r in reports), default=0)
    rows = []
    for report in reports:
        word = "-    " if report.skipped else "FAIL " if not report.passed else "known" if report.known else "ok   "
        rows.append(f"{word} {report.op.name!s:<{width}}  {_row(report)}")
    checked = [r for r in reports if not r.skipped]
    wrong = sum(not r.passed for r in checked)
    known = sum(r.passed and bool(r.known) for r in checked)
    told = f", {known} with known faults" if known else ""
    rows.append(f"{count(len(checked), 'op')} checked, {wrong} wrong{told}, {len(reports) - len(checked)} skipped")
    return rows


def _row(report: OpReport) -> str:
    if report.skipped:
        return f"skipped: {report.skipped}"
    worst = max(report.worst.values(), default=0.0)
    parts = [count(report.calls, "call"), count(len(report.ran), "check"), f"worst error {worst:.1e}"]
    return "; ".join([", ".join(parts), *report.notes])
