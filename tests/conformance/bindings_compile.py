"""`bindings: N/711`: g++ -std=c++20 -fsyntax-only -Wall -Wextra over all that `gradspec emit --torch -b bindings` writes.

A node counts where its class is registered and nothing is said of its text; see compile.py, which does the same for the nodes.

Usage: bindings_compile.py [--details FILE]
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from pathlib import Path

from command import gradspec
from compile import Build, compiler_findings
from header import shipped_nodes


def main(details: str | None) -> None:
    """Emit nodes and bindings, compile the bindings, count."""
    expected = frozenset(shipped_nodes())
    # How a compiler is told of more system headers than compile.py names.
    os.environ["CPLUS_INCLUDE_PATH"] = sysconfig.get_paths()["include"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        gradspec("emit", "--torch", "-b", "cpp", "-o", str(folder))
        gradspec("emit", "--torch", "-b", "bindings", "-o", str(folder / "bindings"))
        sources = sorted((folder / "bindings").glob("*.cpp"))
        text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
        registered = frozenset(node for node in expected if f"add_class<{node}>(" in text)
        findings = compiler_findings(sources, folder, expected, Build())
    if details:
        Path(details).write_text("".join(f"{finding}\n" for finding in findings), encoding="utf-8")
    for finding in findings[:20]:
        print(finding)
    for missing in sorted(expected - registered)[:10]:
        print(f"{missing}: has no class")
    spoiled = {finding.node for finding in findings}
    passed = 0 if None in spoiled else len(registered - spoiled)
    print(f"bindings: {passed}/{len(expected)}")
    raise SystemExit(0 if passed == len(expected) and not findings else 1)


if __name__ == "__main__":
    main(sys.argv[2] if sys.argv[1:2] == ["--details"] else None)
