"""What one check of one call gave, and whose fault it is; knows no check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from attrs import frozen

from gradspec.gradcheck.numeric import TOLERANCE, Gap

Status: TypeAlias = Literal["ok", "failed", "absent"]

# What torch says where it has no such derivative itself; that is no fault of the formula.
_NOT_THERE = ("not implemented", "does not support", "must implement the jvp", "not yet implemented", "Batching rule")


@frozen
class Outcome:
    """One check of one call.

    `reason`: what was raised, what is apart without a number, and why a check is absent. `as_torch`: torch's own gradient has
    the same fault. `inputs`: those whose formula is at fault, where that could be told. `at`: the call, if it is another one.
    """

    check: str
    status: Status
    error: float = 0.0
    reason: str = ""
    as_torch: bool = False
    inputs: tuple[str, ...] = ()
    at: str = ""


@frozen
class Measured:
    """An error, with what is apart if that is no number, or what was raised in its place."""

    error: float = 0.0
    why: str = ""
    raised: str = ""
    not_there: bool = False

    @property
    def no_kernel(self) -> bool:
        """Whether the formula calls an operator that the CPU has not, as torch itself takes another way there."""
        return "Could not run 'aten::" in self.raised

    @property
    def wrong(self) -> bool:
        """Whether numbers differ."""
        return not self.raised and not self.error <= TOLERANCE


def measure(of: Callable[[], float]) -> Measured:
    """The error that a function tells."""
    try:
        error = of()
        return Measured(float(error), error.why if isinstance(error, Gap) else "")
    except Exception as failure:
        lines = str(failure).splitlines()
        not_there = isinstance(failure, NotImplementedError) or any(text in str(failure) for text in _NOT_THERE)
        # A list of all backends may follow.
        first = lines[0].partition(". ")[0] if lines else ""
        return Measured(raised=f"{type(failure).__name__}: {first}", not_there=not_there)


def judged(check: str, mine: Measured, theirs: Callable[[], Measured | None]) -> Outcome:
    """A check that torch's own operator can be put to as well: what it cannot do is not asked of ours.

    `theirs` is asked where ours does not pass, and gives None if torch has no gradient of its own: then what the formula calls
    must be there. Where both are wrong, it is a failure still: whether that is torch's fault, or meant, or our sample's, a
    person has to say.
    """
    if not mine.raised and not mine.wrong:
        return Outcome(check, "ok", mine.error)
    other = theirs()
    if mine.no_kernel:
        return Outcome(check, "absent", reason=mine.raised)
    if other is None:
        if mine.not_there:
            return Outcome(check, "absent", reason=mine.raised)
        return Outcome(check, "failed", mine.error, mine.raised or mine.why)
    if mine.raised and other.raised and (other.not_there or mine.not_there or other.raised == mine.raised):
        return Outcome(check, "absent", reason=f"torch itself: {other.raised}")
    if mine.raised:
        return Outcome(check, "failed", reason=mine.raised)
    return Outcome(check, "failed", mine.error, mine.why, as_torch=other.wrong)


def by_differences(check: str, error: Callable[[], float | None]) -> Outcome:
    """A check at a point where differences may show nothing."""
    nothing = False

    def told() -> float:
        nonlocal nothing
        found = error()
        nothing = found is None
        return found or 0.0

    measured = measure(told)
    return Outcome(check, "absent", reason="differences show nothing") if nothing else judged(check, measured, lambda: None)


def compared(check: str, both: Measured, mine: Callable[[], Measured], theirs: Callable[[], Measured]) -> Outcome:
    """A comparison of ours with torch's. `mine` and `theirs` run one of them alone, to see who raises."""
    if not both.raised:
        return Outcome(check, "failed" if both.wrong else "ok", both.error, both.why)
    other, ours = theirs(), mine()
    if ours.no_kernel:
        return Outcome(check, "absent", reason=ours.raised)
    if not other.raised:
        return Outcome(check, "failed", reason=both.raised)
    if other.not_there or ours.not_there or ours.raised == other.raised:
        return Outcome(check, "absent", reason=f"torch itself: {other.raised}")
    return Outcome(check, "failed", reason=f"torch itself: {other.raised}", as_torch=True)
