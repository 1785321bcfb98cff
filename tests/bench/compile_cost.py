"""What compiling PyTorch's nodes costs, ours against upstream's Functions.cpp: four lines, `compile-WHAT: ratio (bound)`.

g++ -O2 against the headers of the wheel, in turn. Both emit the same nodes, each by its own generator. Wall clock is that of two
cores, of which upstream, whose nodes are one file, has no use for the second; all else is of one source after the other. The
variable ROUNDS says how often: twice where it is not set.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from attrs import evolve, frozen
from measure import gradspec_command, installed_spec, upstream_command

BOUNDS = {"cpu": 0.65, "memory": 0.6, "object": 0.7, "wall": 0.4}
CORES = 2


@frozen
class Cost:
    """Of compiling some sources: CPU and wall seconds for all, megabytes of the largest compiler, bytes of all objects."""

    cpu: float
    memory: float
    object: float
    wall: float

    def __str__(self) -> str:
        return f"{self.cpu:6.1f} s CPU  {self.wall:6.1f} s wall  {self.memory:5.0f} MB  {self.object / 1e6:6.2f} MB of objects"


def main() -> None:
    """Emit both, compile in turn, print the ratios."""
    rounds = int(os.environ.get("ROUNDS", "2"))
    with tempfile.TemporaryDirectory() as name:
        ours, theirs = Path(name, "ours"), Path(name, "upstream")
        for command in (
            gradspec_command("emit", "--torch", "--helpers", "torch", "-b", "cpp", "-o", str(ours)),
            upstream_command(*installed_spec(), theirs),
        ):
            subprocess.run(command, check=True, capture_output=True)
        # The costliest first, as a build engine with a history has it.
        sources = sorted(ours.glob("*.cpp"), key=lambda path: -path.stat().st_size)
        costs: dict[str, list[Cost]] = {"upstream": [], "gradspec": []}
        for _ in range(rounds):
            costs["upstream"].append(tell("upstream", compile_all([theirs / "Functions.cpp"])))
            costs["gradspec"].append(tell("gradspec", compile_all(sources)))
            together = tell("at once", compile_all(sources, CORES))
            costs["gradspec"].append(evolve(costs["gradspec"].pop(), wall=together.wall))
    failed = False
    for what, bound in BOUNDS.items():
        best = {name: min(getattr(cost, what) for cost in found) for name, found in costs.items()}
        ratio = best["gradspec"] / best["upstream"]
        failed |= ratio > bound
        print(f"compile-{what}: {ratio:.3f} ({bound:g})")
    raise SystemExit(1 if failed else 0)


def tell(name: str, cost: Cost) -> Cost:
    """Print a cost on its way."""
    print(f"{name:<9} {cost}", flush=True)
    return cost


def compile_all(sources: Sequence[Path], cores: int = 1) -> Cost:
    """Compile sources, as many at a time as said.

    Raises:
        SystemExit: there is no torch, or a source does not compile.
    """
    found = find_spec("torch")
    if found is None or found.origin is None:
        raise SystemExit("torch is not installed: its headers are compiled")
    include = Path(found.origin).parent / "include"
    flags = ["-std=c++20", "-O2", f"-isystem{include}", f"-isystem{include / 'torch/csrc/api/include'}", "-c"]
    waiting, running = list(sources), dict[int, Path]()
    cpu = memory = 0.0
    start = time.monotonic()
    while waiting or running:
        while waiting and len(running) < cores:
            source = waiting.pop(0)
            running[subprocess.Popen(["g++", *flags, str(source), "-o", f"{source}.o"]).pid] = source
        pid, status, usage = os.wait3(0)
        source = running.pop(pid)
        if status:
            raise SystemExit(f"{source} does not compile")
        cpu += usage.ru_utime + usage.ru_stime
        memory = max(memory, usage.ru_maxrss / 1024)
    wall = time.monotonic() - start
    size = sum(Path(f"{source}.o").stat().st_size for source in sources)
    return Cost(cpu, memory, size, wall)


if __name__ == "__main__":
    if sys.platform == "win32":
        raise SystemExit("needs wait3")
    main()
