"""What a run of the checker found, as text and as JSON; knows no torch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradspec.diagnostics import count

if TYPE_CHECKING:
    from gradspec.gradcheck.run import OpReport


def failure_lines(report: OpReport) -> list[str]:
    """What is wrong with one op, for people."""
    lines = []
    for outcome, call in report.failures:
        span = report.op.span
        place = f" ({span.source.path}:{span.line})" if span is not None else ""
        what = outcome.reason or f"error {outcome.error:.1e}"
        lines += [f"{report.op.name}{place}: {outcome.check}: {what}", f"    at {call}"]
    return lines


def as_json(reports: Sequence[OpReport]) -> str:
    """All of a run as one document: `{"format": 1, "ops": [...]}`."""
    ops = [
        {
            "op": str(r.op.name),
            "node": r.op.node,
            "calls": r.calls,
            "skipped": r.skipped,
            "passed": r.passed,
            "worst": {k: v if v == v and v != float("inf") else None for k, v in r.worst.items()},
            "failures": [{"check": o.check, "error": min(o.error, 1e308), "reason": o.reason, "input": c} for o, c in r.failures],
            "place": {"file": r.op.span.source.path, "line": r.op.span.line} if r.op.span else None,
        }
        for r in reports
    ]
    return json.dumps({"format": 1, "ops": ops}, indent=2)


def summary_rows(reports: Sequence[OpReport]) -> list[str]:
    """A line for each op that was checked or could not be, and one of counts."""
    width = max((len(str(r.op.name)) for r in reports), default=0)
    rows = []
    for report in reports:
        worst = max(report.worst.values(), default=0.0)
        kept = f"skipped: {report.skipped}" if report.skipped else f"{report.calls} calls, worst error {worst:.1e}"
        word = "-   " if report.skipped else "ok  " if report.passed else "FAIL"
        rows.append(f"{word} {report.op.name!s:<{width}}  {kept}")
    checked = [r for r in reports if not r.skipped]
    wrong = sum(not r.passed for r in checked)
    rows.append(f"{count(len(checked), 'op')} checked, {wrong} wrong, {len(reports) - len(checked)} skipped")
    return rows
