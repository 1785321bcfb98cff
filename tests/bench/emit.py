"""`emit: ratio (0.5)`: a cold `gradspec emit --torch -b cpp` against torchgen's load and emission of the same nodes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from measure import Contender, alternate, conclude, emptied, gradspec_command, installed_spec, tell_cache, upstream_command

BOUND = 0.5


def main() -> None:
    """Measure and conclude."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder, "ours"), Path(folder, "upstream")
        command = gradspec_command("emit", "--torch", "--helpers", "torch", "-b", "cpp", "-o", str(ours))
        results = alternate(
            (
                Contender("gradspec emit --torch -b cpp", command, emptied(ours)),
                Contender("torchgen, load and emission", upstream_command(*installed_spec(), theirs), emptied(theirs)),
            )
        )
    tell_cache()
    conclude("emit", results[0].median / results[1].median, BOUND)


if __name__ == "__main__":
    main()
