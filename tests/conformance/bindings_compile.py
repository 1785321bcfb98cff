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
from compile import Build, Verdict, compiler_findings
from header import emitted_nodes, shipped_nodes


def compile_bindings(arguments: list[str], expected: frozenset[str] | None, build: Build) -> Verdict:
    """Emit nodes and bindings with these arguments, and compile the bindings. What is expected, if not said, is what is emitted.

    Raises:
        SystemExit: gradspec or g++ failed, other than by findings.
    """
    # How a compiler is told of more system headers than compile.py names.
    os.environ["CPLUS_INCLUDE_PATH"] = sysconfig.get_paths()["include"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        gradspec("emit", *arguments, "-b", "cpp", "-o", str(folder))
        gradspec("emit", *arguments, "-b", "bindings", "-o", str(folder / "bindings"))
        sources = sorted((folder / "bindings").glob("*.cpp"))
        text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
        expected = frozenset(emitted_nodes(folder)) if expected is None else expected
        registered = frozenset(node for node in expected if f"add_class<{node}>(" in text)
        findings = compiler_findings(sources, folder, expected, build)
    spoiled = {finding.node for finding in findings}
    return Verdict(expected, frozenset() if None in spoiled else registered - spoiled, findings)


def main(details: str | None) -> None:
    """Compile the bindings of the installed torch, count."""
    verdict = compile_bindings(["--torch"], frozenset(shipped_nodes()), Build())
    if details:
        Path(details).write_text("".join(f"{finding}\n" for finding in verdict.findings), encoding="utf-8")
    for finding in verdict.findings[:20]:
        print(finding)
    spoiled = {finding.node for finding in verdict.findings}
    for missing in sorted(verdict.expected - verdict.passed - spoiled)[:10]:
        print(f"{missing}: has no class")
    passed, all_ = len(verdict.passed), len(verdict.expected)
    print(f"bindings: {passed}/{all_}")
    raise SystemExit(0 if passed == all_ and not verdict.findings else 1)


if __name__ == "__main__":
    main(sys.argv[2] if sys.argv[1:2] == ["--details"] else None)
