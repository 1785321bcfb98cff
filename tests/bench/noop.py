"""`noop: ratio (0.15)`: `gradspec emit --torch -b cpp` with nothing changed against torchgen's load and emission."""

from __future__ import annotations

import tempfile
from pathlib import Path

from measure import Contender, alternate, conclude, emptied, gradspec_command, installed_spec, run_once, upstream_command

BOUND = 0.15


def main() -> None:
    """Measure and conclude; the unmeasured first round fills our folder."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder, "ours"), Path(folder, "upstream")
        contenders = (
            Contender("gradspec emit, nothing changed", gradspec_command("emit", "--torch", "-b", "cpp", "-o", str(ours))),
            Contender("torchgen, load and emission", upstream_command(*installed_spec(), theirs), emptied(theirs)),
        )
        run_once(contenders[0])
        before = {path: path.stat().st_mtime_ns for path in ours.rglob("*") if path.is_file()}
        results = alternate(contenders, warm_up=False)
        if not before or before != {path: path.stat().st_mtime_ns for path in ours.rglob("*") if path.is_file()}:
            raise SystemExit("noop: files were written in measured rounds, or none at all, so nothing was measured")
    conclude("noop", results[0].median / results[1].median, BOUND)


if __name__ == "__main__":
    main()
