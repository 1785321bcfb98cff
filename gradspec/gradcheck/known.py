"""What fails with torch's own gradients as well, and why that is not the formula's fault: known.toml, read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeAlias

LIST = Path(__file__).with_name("known.toml")

# Why a check of an op fails, by both.
Known: TypeAlias = dict[tuple[str, str], str]


def known_faults() -> Known:
    """The list.

    Raises:
        ValueError: an entry has no reason, or one stands there twice.
    """
    found: Known = {}
    for table in tomllib.loads(LIST.read_text(encoding="utf-8")).get("known", []):
        reason = " ".join(str(table.get("reason", "")).split())
        if not reason:
            raise ValueError(f"{LIST.name}: an entry has no reason: {table}")
        for op in table["ops"]:
            for check in table["checks"]:
                if (op, check) in found:
                    raise ValueError(f"{LIST.name}: {op}, {check} is there twice")
                found[op, check] = reason
    return found
