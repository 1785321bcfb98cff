"""The list of deliberate differences, deliberate.toml: what is not on it fails, and what no longer differs fails too."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

LIST = Path(__file__).resolve().parent / "deliberate.toml"


def listed(judge: str) -> dict[tuple[str, str], str]:
    """The differences that are meant, for one judge: (record, field) to the reason.

    A table of the file names the records that share a reason:

        [[facts]]
        reason = "..."
        records = ["op.overload Default"]
        fields = ["saved"]

    Raises:
        SystemExit: an entry without a reason, or a difference that is listed twice.
    """
    with LIST.open("rb") as file:
        tables = tomllib.load(file).get(judge, [])
    found: dict[tuple[str, str], str] = {}
    for table in tables:
        reason = str(table.get("reason", "")).strip()
        if not reason:
            raise SystemExit(f"{LIST.name}: an entry of [[{judge}]] has no reason: {table}")
        for record in table["records"]:
            for field in table["fields"]:
                if (record, field) in found:
                    raise SystemExit(f"{LIST.name}: {record}, {field} is listed twice")
                found[record, field] = reason
    return found


def settle(judge: str, differences: Iterable[tuple[str, str]]) -> int:
    """Compare what differs with the list, say what does not fit, and give the number of such things."""
    meant, seen = listed(judge), set(differences)
    wrong = 0
    for record, field in sorted(seen - meant.keys()):
        print(f"differs, and is not in {LIST.name}: {record}, {field}")
        wrong += 1
    for record, field in sorted(meant.keys() - seen):
        print(f"is in {LIST.name}, and does not differ: {record}, {field}")
        wrong += 1
    if meant:
        print(f"deliberate differences: {len(meant)} fields of {len({record for record, _ in meant})} records")
    return wrong
