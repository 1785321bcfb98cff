"""`header: N/711`: every class of the Functions.h that torch ships against the one of `gradspec emit --torch -b cpp`.

Compared are the name, the data members (types and names, in order, those of bases of ours included) and the base:
TraceableFunction or Node, directly or through bases of ours. A namespace of ours is not compared, and neither are default values.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

from attrs import fields
from command import gradspec
from cxx_reader import Shape, read_classes, resolve
from deliberate import settle

ROOTS = ("TraceableFunction", "Node")


def torch_include() -> Path:
    """The header folder of the installed torch, found without importing it.

    Raises:
        SystemExit: torch is not installed.
    """
    found = find_spec("torch")
    if found is None or found.origin is None:
        raise SystemExit("torch is not installed: this judge reads its headers")
    return Path(found.origin).parent / "include"


def shipped_nodes(include: Path | None = None) -> dict[str, Shape]:
    """The classes of the Functions.h that a torch ships: the one of this header folder, else the installed one."""
    text = ((include or torch_include()) / "torch/csrc/autograd/generated/Functions.h").read_text(encoding="utf-8")
    classes = read_classes(text)
    return {name: resolve(classes, name, ROOTS) for name in classes}


def emitted_nodes(folder: Path) -> dict[str, Shape]:
    """The classes of the emitted Functions.h, and of those that it is split into; the other headers are read for the bases."""
    read = {header.stem: read_classes(header.read_text(encoding="utf-8")) for header in sorted(folder.rglob("*.h"))}
    own = [classes for stem, classes in read.items() if stem.startswith("Functions")]
    if not own:
        raise SystemExit(f"no Functions.h was emitted, but {list(read)}")
    classes = {name: c for part in read.values() for name, c in part.items()}
    return {name: resolve(classes, name, ROOTS) for part in own for name, c in part.items() if not c.parameters and c.bases}


def shown(shape: Shape) -> str:
    """A shape for people."""
    return f"{shape.root} {{{'; '.join(map(str, shape.members))}}}"


def main(details: str | None) -> None:
    """Emit, compare, print the table of differences and the last line."""
    theirs = shipped_nodes()
    with tempfile.TemporaryDirectory() as folder:
        gradspec("emit", "--torch", "-b", "cpp", "-o", folder)
        ours = emitted_nodes(Path(folder))
    found: dict[str, list[str]] = defaultdict(list)
    for name in theirs.keys() | ours.keys():
        if name not in ours:
            found["missing"].append(name)
        elif name not in theirs:
            found["made up"].append(name)
        else:
            for field in fields(Shape):
                if getattr(ours[name], field.name) != getattr(theirs[name], field.name):
                    found[field.name].append(name)
    if details:
        lines = [f"{kind}: {len(names)} classes" for kind, names in sorted(found.items())]
        for kind, names in sorted(found.items()):
            lines += [f"## {kind}"]
            for name in sorted(names):
                lines += [f"  {name}"]
                lines += [
                    f"    {side}: {shown(all_[name])}"
                    for side, all_ in (("upstream", theirs), ("gradspec", ours))
                    if name in all_
                ]
        Path(details).write_text("\n".join(lines) + "\n", encoding="utf-8")
    wrong = settle("header", ((name, kind) for kind, names in found.items() for name in names))
    for kind, names in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{kind:<12} {len(names):>4} classes differ, such as {min(names)}")
    different = {name for names in found.values() for name in names}
    print(f"header: {sum(name not in different for name in theirs)}/{len(theirs)}")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main(sys.argv[2] if sys.argv[1:2] == ["--details"] else None)
