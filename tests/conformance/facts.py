"""`facts: N/808`: every record of `gradspec ir --torch` against the loader of the installed torchgen.

Usage: facts.py [--details FILE]    FILE gets every difference, grouped by field, with both sides.

A field that upstream has no word for is derived by the same rule on both sides. N counts the records that are equal in every
field, so that a deliberate difference counts as failed; the exit code is 0 where all differences are those of deliberate.toml.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from attrs import evolve, fields
from command import ir_records
from deliberate import settle
from trees import Formula, formula, mentions
from upstream_facts import Derivative, Key, Record, Saved, Tangent, load_records


def our_record(node: dict[str, Any]) -> Record:
    """A record of our JSON in the shape of the comparison.

    Raises:
        KeyError: a documented key is missing.
    """
    saved = tuple(Saved(s["name"], s["type"], s["from"], parsed(s["value"])) for s in node["saved"])
    derivatives = tuple(Derivative(tuple(d["inputs"]), parsed(d["formula"])) for d in node["derivatives"])
    inputs = node["inputs"]
    return Record(
        schema=node["schema"],
        node=node["node"],
        traceable=node["traceable"],
        inputs=tuple((i["name"], i["type"]) for i in inputs),
        differentiable=tuple(i["name"] for i in inputs if i["state"] == "differentiable"),
        non_differentiable=tuple(sorted(i["name"] for i in inputs if i["state"] == "non_differentiable")),
        outputs=tuple((o["name"], o["type"], o["differentiable"]) for o in node["outputs"]),
        saved=tuple((s.name, s.type, s.origin) for s in saved),
        save_time=saved,
        derivatives=derivatives,
        tangents=tuple(
            Tangent(tuple(t["outputs"]), parsed(t["formula"]), frozenset(t["tangents"]), frozenset(t["primals"]))
            for t in node["tangents"]
        ),
        named_gradients=tuple(sorted(node["named_gradients"])),
        uses_grad=any(mentions(d.formula.tree, "grad") for d in derivatives),
        uses_retain_variables=node["uses_retain_variables"],
    )


def parsed(text: str) -> Formula:
    """A formula of ours; one that does not parse is a difference, not a crash."""
    try:
        return formula(text)
    except ValueError as error:
        return Formula(("not a formula", str(error)), text)


def differences(ours: Record, theirs: Record) -> list[str]:
    """The fields that differ; save-time expressions are compared where both sides save the value."""
    common = {s.name for s in ours.save_time} & {s.name for s in theirs.save_time}
    ours, theirs = (evolve(r, save_time=tuple(s for s in r.save_time if s.name in common)) for r in (ours, theirs))
    return [f.name for f in fields(Record) if getattr(ours, f.name) != getattr(theirs, f.name)]


def shown(value: object) -> str:
    """A field for people, a part a line."""
    if isinstance(value, tuple):
        return "".join(f"\n        {part}" for part in value) or " nothing"
    return f" {value}"


def main(details: str | None) -> None:
    """Compare, print the table of differing fields and the last line."""
    theirs = load_records()
    ours: dict[Key, Record] = {}
    for node in ir_records("--torch"):
        key = (node["op"], node["dispatch"])
        if key in ours:
            raise SystemExit(f"two records for {key}")
        ours[key] = our_record(node)
    found: dict[str, list[Key]] = defaultdict(list)
    for key in theirs.keys() | ours.keys():
        if key not in ours:
            found["missing"].append(key)
        elif key not in theirs:
            found["made up"].append(key)
        else:
            for field in differences(ours[key], theirs[key]):
                found[field].append(key)
    different = {key for keys in found.values() for key in keys}
    if details:
        Path(details).write_text(report(found, ours, theirs), encoding="utf-8")
    wrong = settle("facts", ((" ".join(key), field) for field, keys in found.items() for key in keys))
    for field, keys in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{field:<24} {len(keys):>4} records differ, such as {' '.join(min(keys))}")
    print(f"facts: {sum(key not in different for key in theirs)}/{len(theirs)}")
    raise SystemExit(1 if wrong else 0)


def report(found: dict[str, list[Key]], ours: dict[Key, Record], theirs: dict[Key, Record]) -> str:
    """Every difference with both sides."""
    lines: list[str] = []
    for field, keys in sorted(found.items()):
        lines.append(f"## {field}: {len(keys)} records")
        for key in sorted(keys):
            lines.append(f"  {' '.join(key)}")
            if key in ours and key in theirs:
                lines.append(f"    upstream:{shown(getattr(theirs[key], field))}")
                lines.append(f"    gradspec:{shown(getattr(ours[key], field))}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[2] if sys.argv[1:2] == ["--details"] else None)
