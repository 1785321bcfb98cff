"""`optimised: N/711`: g++ -O2 -Wall -Wextra over each emitted source by itself.

Optimisation warns of more, and a source that stands alone shows whether it includes what it needs.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

from command import gradspec
from compile import Finding, node_at
from header import emitted_nodes, shipped_nodes, torch_include

FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-c")
CORES = 2
_SAID = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?P<kind>fatal error|error|warning): (?P<message>.*)", re.MULTILINE)


def compile_alone(compiler: Sequence[str], source: Path, nodes: frozenset[str]) -> list[Finding]:
    """All that a compiler says of one source: of torch's headers, which are system headers, it says nothing.

    Raises:
        SystemExit: it died.
    """
    include = torch_include()
    systems = [f"-isystem{include}", f"-isystem{include / 'torch/csrc/api/include'}"]
    command = [*compiler, *FLAGS, *systems, str(source), "-o", f"{source}.o"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    findings = []
    for said in _SAID.finditer(done.stderr):
        path, line = Path(said["path"]), int(said["line"])
        node = node_at(path, line, nodes) if path.parent == source.parent else None
        findings.append(Finding(said["kind"], path, line, said["message"], node))
    if done.returncode and not findings:
        raise SystemExit(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    return findings


def judge(name: str, compiler: Sequence[str]) -> NoReturn:
    """Emit the nodes of the installed torch, compile each source, print findings and the last line.

    Raises:
        SystemExit: always, with 1 where a node is missing or anything was found.
    """
    expected = frozenset(shipped_nodes())
    with tempfile.TemporaryDirectory() as folder:
        gradspec("emit", "--torch", "-b", "cpp", "-o", folder)
        defined = frozenset(emitted_nodes(Path(folder)))
        sources = sorted(Path(folder).glob("*.cpp"))
        with ThreadPoolExecutor(CORES) as pool:
            parts = list(pool.map(lambda source: compile_alone(compiler, source, expected), sources))
    findings = [finding for part in parts for finding in part]
    for finding in findings[:20]:
        print(finding)
    spoiled = {finding.node for finding in findings}
    passed = 0 if None in spoiled else len((expected & defined) - spoiled)
    print(f"{name}: {passed}/{len(expected)}")
    raise SystemExit(0 if passed == len(expected) and not findings else 1)


if __name__ == "__main__":
    judge("optimised", ["g++", "-O2"])
