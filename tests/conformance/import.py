"""`import: N/808`: derivatives.yaml turned into .grad by `gradspec import`, then to IR, against derivatives.yaml to IR.

Both sides get the same native_functions.yaml. Compared is all that `gradspec ir` tells of each schema and dispatch key; if
nothing differs there, the printed programs too, order included.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from command import gradspec, ir_records
from deliberate import settle

from gradspec.load import find_torch


def keyed(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Records by op and dispatch key.

    Raises:
        SystemExit: two records stand for the same op and key.
    """
    found = {f"{r['op']} {r['dispatch']}": r for r in records}
    if len(found) != len(records):
        raise SystemExit("two records stand for one op and dispatch key")
    return found


def main() -> None:
    """Import, compile both, compare, print the differences and the last line."""
    torch = find_torch(None)
    schemas = ("--schemas", str(torch.native_functions))
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "derivatives.grad"
        spec.write_text(gradspec("import", str(torch.derivatives), *schemas), encoding="utf-8")
        ours = keyed(ir_records(str(spec), *schemas))
        printed = gradspec("ir", str(spec), *schemas)
    theirs = keyed(ir_records(str(torch.derivatives), *schemas))
    differences = [(name, "missing") for name in theirs.keys() - ours.keys()]
    differences += [(name, "made up") for name in ours.keys() - theirs.keys()]
    for name in theirs.keys() & ours.keys():
        fields = theirs[name].keys() | ours[name].keys()
        differences += [(name, field) for field in fields if theirs[name].get(field) != ours[name].get(field)]
    if not differences and printed != gradspec("ir", str(torch.derivatives), *schemas):
        differences = [("all", "order, or what JSON leaves out")]
    wrong = settle("import", differences)
    different = {name for name, _ in differences}
    print(f"import: {sum(name not in different for name in theirs)}/{len(theirs)}")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1:]:
        raise SystemExit("usage: import.py")
    main()
