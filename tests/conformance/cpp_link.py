"""`cpp-link: N/649`: the nodes of the installed torch with our helpers, built as one library that torch's process loads whole.

Every symbol is bound when the library is loaded (RTLD_NOW), and the class of every node is looked up in what was loaded. A node
counts where torch has its Python class in torch._C._functions. One missing symbol makes the load fail: the nodes that need it,
themselves or by helpers, are counted out then.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from cpp_library import Library, built_library
from header import shipped_nodes

_SECTION = re.compile(r"Relocation section '\.rela\.text\.(\S+)'")
_RELOCATION = re.compile(r"^[0-9a-f]{12,16}\s+[0-9a-f]{12,16}\s+\S+\s+[0-9a-f]{16}\s+(\S+)")


def torch_nodes() -> frozenset[str]:
    """The nodes that torch has Python classes for: those of foreach ops have none."""
    import torch

    return frozenset(name for name, value in vars(torch._C._functions).items() if isinstance(value, type)) & set(shipped_nodes())


def vtable(node: str) -> str:
    """The symbol that a class has where its virtual functions are linked."""
    return f"_ZTVN8gradspec9generated{len(node)}{node}E"


def loaded(library: Path, nodes: Iterable[str]) -> tuple[frozenset[str], str]:
    """The nodes that are in a library once it is loaded, and why it could not be."""
    import torch

    # What the library needs of torch is in the process now.
    assert torch.__version__
    try:
        handle = ctypes.CDLL(str(library), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        return frozenset(), str(error)
    return frozenset(node for node in nodes if hasattr(handle, vtable(node))), ""


def needing(library: Library, nodes: Iterable[str]) -> frozenset[str]:
    """The nodes of which some function needs a symbol that is nowhere, read from the objects."""
    uses: dict[str, set[str]] = defaultdict(set)
    for made in sorted(library.folder.glob("*.o")):
        done = subprocess.run(["readelf", "-rW", str(made)], capture_output=True, text=True, check=True)
        user = ""
        for line in done.stdout.splitlines():
            if line.startswith("Relocation section"):
                found = _SECTION.match(line)
                user = found[1] if found else ""
            elif user and (found := _RELOCATION.match(line)):
                uses[found[1].removeprefix(".text.")].add(user)
    # What is nowhere is told by its readable name, and is needed by its symbol.
    readable = _demangled([*uses])
    spoiled: set[str] = set()
    todo = [symbol for symbol in uses if readable[symbol] in library.unresolved or symbol in library.unresolved]
    while todo:
        symbol = todo.pop()
        if symbol not in spoiled:
            spoiled.add(symbol)
            todo += uses[symbol]
    words = {word for text in _demangled(spoiled).values() for word in re.findall(r"\w+", text)}
    return frozenset(node for node in nodes if node in words or f"{node}_gradients" in words)


def _demangled(symbols: Iterable[str]) -> dict[str, str]:
    names = sorted(symbols)
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, done.stdout.splitlines(), strict=True))


def main() -> None:
    """Build, load, count."""
    library = built_library()
    wanted = torch_nodes()
    found, refused = loaded(library.path, wanted)
    if not refused:
        print(f"{library.path.stat().st_size / 1e6:.1f} MB")
    else:
        print(refused)
        for symbol in library.unresolved[:20]:
            print(f"nowhere: {symbol}")
        without = needing(library, wanted)
        for node in sorted(without)[:20]:
            print(f"cannot be loaded: {node}")
        found = wanted - without if without else frozenset()
    for node in sorted(wanted - found)[:20] if not refused else ():
        print(f"not in the library: {node}")
    print(f"cpp-link: {len(found)}/{len(wanted)}")
    raise SystemExit(1 if refused or found != wanted else 0)


if __name__ == "__main__":
    main()
