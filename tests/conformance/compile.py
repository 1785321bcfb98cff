"""`compile: N/711`: g++ -std=c++20 -fsyntax-only -Wall -Wextra over everything that `gradspec emit --torch -b cpp` writes.

One translation unit, since torch's headers alone cost seconds and most of a gigabyte. A finding counts against the node whose
text it stands in; a finding in our files that belongs to no node, or an error anywhere else, fails every node. The judges of
other shapes, functional.py and eras.py, count in the same way.

Usage: compile.py [--details FILE]
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from attrs import field, frozen
from command import gradspec
from header import emitted_nodes, shipped_nodes, torch_include

FLAGS = ("-fsyntax-only", "-Wall", "-Wextra", "-fmax-errors=0", "-fdiagnostics-format=json")
_WORD = re.compile(r"[A-Za-z_]\w*")


@frozen
class Finding:
    """An error or warning of the compiler; `node` is None where it belongs to none."""

    kind: str
    path: Path
    line: int
    message: str
    node: str | None

    def __str__(self) -> str:
        return f"{self.node or 'no node'}: {self.kind} at {self.path.name}:{self.line}: {self.message}"


@frozen
class Build:
    """What sources are compiled with: the header folder of a torch, the C++ standard, and a header that comes first."""

    include: Path = field(factory=torch_include)
    standard: str = "c++20"
    first: Path | None = None


def compiler_findings(sources: list[Path], folder: Path, nodes: frozenset[str], build: Build) -> list[Finding]:
    """Compile all sources as one unit and give what the compiler says of the files in `folder`, and all errors.

    Raises:
        SystemExit: there is no g++, or it died.
    """
    compiler = shutil.which("g++")
    if compiler is None:
        raise SystemExit("g++ is not installed")
    unit = "".join(f'#include "{source}"\n' for source in ([build.first] if build.first else []) + sources)
    systems = [f"-isystem{build.include}", f"-isystem{build.include / 'torch/csrc/api/include'}"]
    command = [compiler, f"-std={build.standard}", *FLAGS, *systems, f"-I{folder}", "-x", "c++", "-"]
    done = subprocess.run(command, input=unit, capture_output=True, text=True, check=False)
    report = next((line for line in done.stderr.splitlines() if line.startswith("[")), None)
    if report is None:
        raise SystemExit(f"g++ ended with {done.returncode} and no report:\n{done.stderr[-4000:]}")
    findings = [finding for entry in json.loads(report) for finding in _findings(entry, folder, nodes)]
    if done.returncode != 0 and not any(f.kind in ("error", "fatal error") for f in findings):
        raise SystemExit(f"g++ ended with {done.returncode}:\n{done.stderr[-4000:]}")
    return findings


def _findings(entry: dict[str, Any], folder: Path, nodes: frozenset[str]) -> list[Finding]:
    # A note says where a template was used; the first place inside of our files is the one to blame.
    places = [_place(location) for part in (entry, *entry.get("children", ())) for location in part.get("locations", ())]
    ours = [(path, line) for path, line in places if path.is_relative_to(folder)]
    if not ours and entry["kind"] not in ("error", "fatal error"):
        return []
    path, line = (ours or places or [(Path("<command line>"), 0)])[0]
    return [Finding(entry["kind"], path, line, entry["message"], node_at(path, line, nodes) if ours else None)]


def _place(location: dict[str, Any]) -> tuple[Path, int]:
    caret = location["caret"]
    return Path(caret["file"]), int(caret["line"])


def node_at(path: Path, line: int, nodes: frozenset[str]) -> str | None:
    """The node whose text a line belongs to: the last one that is named at the start of a block, on this line or above."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for text in reversed(lines[:line]):
        for found in _WORD.findall(text):
            word: str = found
            while word and word not in nodes:
                # XBackward0_gradients belongs to XBackward0, and AliasBackward0_copy_gradients to AliasBackward0_copy.
                word = word.rpartition("_")[0]
            if word:
                return word
    return None


@frozen
class Verdict:
    """What came of one compilation: the nodes that were expected, those without a finding, and all findings."""

    expected: frozenset[str]
    passed: frozenset[str]
    findings: list[Finding]


def compile_emitted(arguments: list[str], expected: frozenset[str] | None, build: Build) -> Verdict:
    """Emit C++ with these arguments of `gradspec emit`, and compile it. What is expected, if not said, is what is emitted.

    Raises:
        SystemExit: gradspec or g++ failed, other than by findings.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        gradspec("emit", *arguments, "-b", "cpp", "-o", str(folder))
        sources = sorted(folder.rglob("*.cpp"))
        text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
        defined = frozenset(emitted_nodes(folder)) & frozenset(_WORD.findall(text))
        expected = defined if expected is None else expected
        findings = compiler_findings(sources, folder, expected | defined, build)
    spoiled = {finding.node for finding in findings}
    return Verdict(expected, frozenset() if None in spoiled else (expected & defined) - spoiled, findings)


def judge(name: str, arguments: list[str], details: str | None = None) -> None:
    """Compile all nodes of the installed torch, and print findings and the last line.

    Raises:
        SystemExit: always, with 1 where a node is missing or anything was found.
    """
    verdict = compile_emitted(["--torch", *arguments], frozenset(shipped_nodes()), Build())
    if details:
        Path(details).write_text("".join(f"{finding}\n" for finding in verdict.findings), encoding="utf-8")
    for finding in verdict.findings[:20]:
        print(finding)
    if len(verdict.findings) > 20:
        print(f"and {len(verdict.findings) - 20} more")
    spoiled = {finding.node for finding in verdict.findings}
    for missing in sorted(verdict.expected - verdict.passed - spoiled)[:10]:
        print(f"{missing}: not emitted")
    passed, all_ = len(verdict.passed), len(verdict.expected)
    print(f"{name}: {passed}/{all_}")
    raise SystemExit(0 if passed == all_ and not verdict.findings else 1)


if __name__ == "__main__":
    judge("compile", [], sys.argv[2] if sys.argv[1:2] == ["--details"] else None)
