"""How many of PyTorch's nodes lower to Python; the rest is listed by the function that it calls."""

from __future__ import annotations

from collections import Counter

import torch
from emitted_python import emitted_module, nodes

# All of them.
FLOOR = 649


def main() -> None:
    """Count, and list what is left out."""
    found = [node for node in nodes().values() if hasattr(torch._C._functions, node.name)]
    lowered = [node for node in found if node.function is not None and node.backward is not None]
    reasons: Counter[str] = Counter()
    for line in (emitted_module().__doc__ or "").splitlines():
        what, _, reason = line.removeprefix("- ").partition(": no ")
        if reason:
            kind = "tangents" if "(tangents)" in what else "node"
            reasons[f"{kind}: {reason}"] += 1
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:>4}  {reason}")
    print(f"python-nodes: {len(lowered)}/{len(found)}")
    raise SystemExit(0 if len(lowered) >= FLOOR and len(found) == 649 else 1)


if __name__ == "__main__":
    main()
