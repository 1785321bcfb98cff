"""`ops10k: ratio (0.5)`: 10,000 synthetic ops against torchgen, and the growth from 1,000 to 10,000."""

from __future__ import annotations

import tempfile
from pathlib import Path

from measure import Contender, alternate, conclude, emptied, gradspec_command, upstream_command
from synthetic import write_many

BOUND = 0.5
# Ten times the ops may take ten times as long, and a tenth more for caches that no longer fit. Start-up is in both figures.
LINEAR = 11.0


def main() -> None:
    """Measure and conclude."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "1000"), Path(folder, "10000")
        pairs = {small: write_many(small, 1000), large: write_many(large, 10000)}
        ours = {
            spec: Contender(
                f"gradspec emit, {spec.name} ops",
                gradspec_command("emit", str(paths[0]), "--schemas", str(paths[1]), "-b", "cpp", "-o", str(spec / "ours")),
                emptied(spec / "ours"),
            )
            for spec, paths in pairs.items()
        }
        theirs = Contender(
            "torchgen, 10000 ops", upstream_command(*pairs[large], large / "upstream"), emptied(large / "upstream")
        )
        little, much, upstream = alternate((ours[small], ours[large], theirs), warm_up=False)
    growth = much.median / little.median
    print(f"growth from 1,000 to 10,000 ops: {growth:.2f} times ({LINEAR:g})")
    ratio = much.median / upstream.median
    if growth > LINEAR:
        print("ops10k: not linear")
        print(f"ops10k: {ratio:.3f} ({BOUND:g})")
        raise SystemExit(1)
    conclude("ops10k", ratio, BOUND)


if __name__ == "__main__":
    main()
