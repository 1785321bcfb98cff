"""`wide: seconds (2)`: one op with 300 inputs and 100 outputs; torchgen takes about a minute and is not run here."""

from __future__ import annotations

import tempfile
from pathlib import Path

from measure import Contender, alternate, conclude, emptied, gradspec_command
from synthetic import write_wide

BOUND = 2.0


def main() -> None:
    """Measure and conclude."""
    with tempfile.TemporaryDirectory() as folder:
        derivatives, native, _ = write_wide(Path(folder, "spec"), 300, 100)
        ours = Path(folder, "ours")
        command = gradspec_command("emit", str(derivatives), "--schemas", str(native), "-b", "cpp", "-o", str(ours))
        (result,) = alternate((Contender("gradspec emit, 300 inputs, 100 outputs", command, emptied(ours)),))
    conclude("wide", result.median, BOUND, unit=" s")


if __name__ == "__main__":
    main()
