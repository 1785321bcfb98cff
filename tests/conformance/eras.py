"""`eras: N/M`: shapes of older nodes, compiled with g++ -fsyntax-only -Wall -Wextra against the headers of their own releases.

- our specs in shape `apply`, as C++14, with torch 1.8.1
- our specs in shape `packed`, as C++17, with torch 2.7.0
- 2.7.0's own spec in shape `packed`, as C++17, with torch 2.7.0: as many nodes as its Functions.h has
- the bindings of all three, where a node counts whose class is registered

Helpers are those of the release: the prelude is for the torch of today. A node that calls what its release lacks is named in
eras.toml with the reason, and so is a spec that a shape has no form for. What is named there and compiles all the same, is not
refused, or is not there any more, fails too: the list can only shrink. Needs the package index once; see old_torch.py.
"""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path

from bindings_compile import compile_bindings
from case_runner import run_process
from compile import Build, Verdict, compile_emitted
from header import shipped_nodes
from old_torch import TORCH_1_8, TORCH_2_7, fetch

HERE = Path(__file__).resolve().parent
SPECS = HERE.parents[1] / "specs"
LACKING = HERE / "eras.toml"


def lacking(era: str) -> dict[str, str]:
    """The nodes that cannot compile in an era, each with the reason."""
    with LACKING.open("rb") as file:
        tables = tomllib.load(file).get(era, [])
    return {node: table["reason"] for table in tables for node in table["nodes"]}


def specs_for(shape: str, folder: Path) -> list[str]:
    """Our specs, without those that the shape is known to have no form for.

    Raises:
        SystemExit: one of them is not refused.
    """
    with LACKING.open("rb") as file:
        named = {spec for table in tomllib.load(file).get(f"{shape}-specs", []) for spec in table["specs"]}
    for spec in sorted(named):
        run = run_process(("emit", *_ours([SPECS / f"{spec}.grad"], shape), "-b", "cpp", "-o", "refused"), folder)
        if run.code != 1 or "GS0906" not in run.errors:
            raise SystemExit(f"{LACKING.name} names {spec}.grad, which shape {shape} does not refuse: {run.errors[-500:]}")
    return _ours([path for path in sorted(SPECS.glob("*.grad")) if path.stem not in named], shape)


def _ours(specs: list[Path], shape: str) -> list[str]:
    return [*map(str, specs), "--schemas", "torch", "--helpers", "torch", "-O", f"shape={shape}"]


def settle(era: str, verdict: Verdict) -> tuple[int, int]:
    """Print what was not expected of an era; how many nodes are as expected, and how many there are.

    A node that is named as lacking counts neither way.
    """
    named = lacking(era)
    unexpected = [finding for finding in verdict.findings if finding.node not in named]
    for finding in unexpected[:10]:
        print(f"{era}: {finding}")
    stale = sorted(node for node in named if node in verdict.passed or node not in verdict.expected)
    for node in stale:
        print(f"{era}: {node} is in {LACKING.name}, and compiles or is gone")
    wanted = verdict.expected - named.keys()
    # A finding that belongs to no node leaves none passed.
    passed = len(verdict.passed & wanted) if not stale else 0
    print(f"{era}: {passed}/{len(wanted)}" + (f", and {len(named)} that call what the release lacks" if named else ""))
    return passed, len(wanted)


def main() -> None:
    """Fetch, compile, count."""
    old, recent = fetch(TORCH_1_8), fetch(TORCH_2_7)
    with tempfile.TemporaryDirectory() as name:
        apply, packed = (specs_for(shape, Path(name)) for shape in ("apply", "packed"))
    upstream = ["--torch", str(recent.folder), "--helpers", "torch", "-O", "shape=packed"]
    shipped = frozenset(shipped_nodes(recent.include))
    verdicts = {
        "apply": compile_emitted(apply, None, Build(old.include, "c++14", HERE / "spec_externs_1_8.h")),
        "apply-bindings": compile_bindings(apply, None, Build(old.include, "c++14", HERE / "python_1_8.h")),
        "packed-specs": compile_emitted(packed, None, Build(recent.include, "c++17", HERE.parent / "spec_externs.h")),
        "packed-specs-bindings": compile_bindings(packed, None, Build(recent.include, "c++17")),
        "packed": compile_emitted(upstream, shipped, Build(recent.include, "c++17")),
        "packed-bindings": compile_bindings(upstream, shipped, Build(recent.include, "c++17")),
    }
    results = [settle(era, verdict) for era, verdict in verdicts.items()]
    passed, all_ = sum(p for p, _ in results), sum(a for _, a in results)
    print(f"eras: {passed}/{all_}")
    raise SystemExit(0 if passed == all_ else 1)


if __name__ == "__main__":
    main()
