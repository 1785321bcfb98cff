"""`make demo`: compiles the derivatives of the installed PyTorch, and follows one op from spec to IR to C++."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from gradspec.load import find_torch

OP = "mul.Tensor"
OUT = Path("build/demo")


def main() -> None:
    """Run from the top of the checkout."""
    shutil.rmtree(OUT, ignore_errors=True)
    emit = ("emit", "--torch", "-b", "cpp", "-o", str(OUT))
    heading("The derivatives of the installed PyTorch, as C++ nodes")
    gradspec(*emit)
    heading("Again, with nothing changed")
    gradspec(*emit)

    heading(f"One op, from the spec: {OP} in PyTorch's derivatives.yaml")
    derivatives = find_torch(None).derivatives
    print("\n".join(entry(derivatives.read_text().splitlines(), f"- name: {OP}(")))
    heading("to the IR")
    gradspec("ir", "--torch", "--op", OP, warnings=False)
    heading("to C++")
    node = json.loads(gradspec("ir", "--torch", "--op", OP, "--format", "json", show=False, warnings=False))["nodes"][0]["node"]
    found = [(file.name, lines) for file in emitted(OUT) if (lines := [*definitions(file.read_text().splitlines(), node)])]
    if {Path(name).suffix for name, _ in found} != {".h", ".cpp"}:
        raise SystemExit(f"no header and source in {OUT} define {node}")
    for name, lines in found:
        print(f"{name}:\n")
        print("\n".join(lines))


def emitted(folder: Path) -> list[Path]:
    """The headers, then the sources, of the nodes: a large spec is emitted as several of each."""
    return [*sorted(folder.glob("Functions*.h")), *sorted(folder.glob("Functions*.cpp"))]


def heading(text: str) -> None:
    """A line between two parts of the demo."""
    print(f"\n\033[1m=== {text}\033[0m\n" if sys.stdout.isatty() else f"\n=== {text}\n", flush=True)


def gradspec(*args: str, show: bool = True, warnings: bool = True) -> str:
    """Run the command line; its output, which goes to the screen where `show` is set."""
    if show:
        print("$ gradspec", *args, *([] if warnings else ["2>/dev/null"]), flush=True)
    command = [sys.executable, "-m", "gradspec", *args]
    stdout, stderr = None if show else subprocess.PIPE, None if warnings else subprocess.DEVNULL
    return subprocess.run(command, check=True, text=True, stdout=stdout, stderr=stderr).stdout or ""


def entry(lines: list[str], start: str) -> Iterator[str]:
    """The lines of a YAML list from the one that begins with `start` to the next empty one."""
    at = next(i for i, line in enumerate(lines) if line.startswith(start))
    for line in lines[at:]:
        if not line.strip():
            return
        yield line


def definitions(lines: list[str], node: str) -> Iterator[str]:
    """Each definition in emitted C++ that names `node` in its first line, with the comment above it, up to its closing brace."""
    inside = False
    comment: list[str] = []
    for line in lines:
        after = line.partition(f" {node}")[2]
        if not inside and line[:1].isalpha() and after and not after[0].isdigit():
            inside = True
            yield from comment
        comment = [*comment, line] if line.startswith("//") else []
        if inside:
            yield line
        if inside and line.startswith("}"):
            inside = False
            yield ""


if __name__ == "__main__":
    main()
