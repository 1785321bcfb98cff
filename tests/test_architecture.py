"""Who may import whom, and who may do what: read from the source with `ast`, so that nothing needs to run."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

# Modules that may use regular expressions, each with the text that it looks at. Formula text is never one of them.
MAY_USE_RE: dict[str, str] = {}


class Arrow(NamedTuple):
    """One import: from a module to a module, both in full."""

    source: str
    target: str
    line: int


class Module(NamedTuple):
    """One module of ours: its tree, and all that it imports, wherever in the file."""

    name: str
    tree: ast.Module
    arrows: tuple[Arrow, ...]


def read_modules(texts: Mapping[str, str]) -> dict[str, Module]:
    """Modules by name, from name to source text."""
    modules = {}
    for name, text in texts.items():
        tree = ast.parse(text)
        modules[name] = Module(name, tree, tuple(_arrows(name, tree, texts)))
    return modules


def _arrows(name: str, tree: ast.Module, known: Mapping[str, str]) -> Iterator[Arrow]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Arrow(name, alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            for alias in node.names:
                inner = f"{origin}.{alias.name}"
                yield Arrow(name, inner if inner in known or origin == "importlib" else origin, node.lineno)


def under(name: str, *packages: str) -> bool:
    """Whether a module is one of these, or inside of one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def is_core(name: str) -> bool:
    return under(name, "gradspec")


def is_backend(name: str) -> bool:
    return name.startswith("gradspec_")


def top(name: str) -> str:
    return name.partition(".")[0]


# ------------------------------------------------------------------------------------------------------ rules about imports

PASSES = tuple(
    f"gradspec.{name}"
    for name in (
        "saved", "forward", "variants", "verify", "printer", "backend", "emit", "values", "signatures", "operators", "typed",
        "typed_function",
    )
)  # fmt: skip
TEXT_SIDE = tuple(f"gradspec.{name}" for name in ("grammar", "parse", "syntax", "torch_yaml", "yaml_nodes"))
OPEN_TO_BACKENDS = tuple(
    f"gradspec.{name}"
    for name in (
        "ir",
        "types",
        "values",
        "signatures",
        "typed",
        "typed_function",
        "printer",
        "layout",
        "emit",
        "backend",
        "diagnostics",
    )
)
DISK_CLOCK_ENVIRONMENT = {
    "os", "sys", "time", "datetime", "random", "secrets", "uuid", "subprocess", "socket", "shutil", "tempfile",
}  # fmt: skip

# Where a package lies, and what is installed: neither runs any of it.
ALLOWED_IMPORTLIB = ("importlib.metadata", "importlib.resources", "importlib.util")

# A rule says what an arrow may not be; its words stand in the failure.
IMPORT_RULES: dict[str, Callable[[Arrow], bool]] = {
    "the core never imports a backend": lambda a: is_core(a.source) and is_backend(top(a.target)),
    "a backend imports of gradspec only the IR, its types, emit, backend and diagnostics": lambda a: (
        is_backend(a.source) and is_core(a.target) and not under(a.target, *OPEN_TO_BACKENDS)
    ),
    "a backend imports no other backend": lambda a: (
        is_backend(a.source) and is_backend(top(a.target)) and top(a.source) != top(a.target)
    ),
    "a backend knows no disk, clock or environment": lambda a: is_backend(a.source) and top(a.target) in DISK_CLOCK_ENVIRONMENT,
    "a backend needs nothing but attrs, Jinja2 and the standard library": lambda a: (
        is_backend(a.source)
        and top(a.target) not in sys.stdlib_module_names | {"attr", "attrs", "jinja2", "gradspec"}
        and not is_backend(top(a.target))
    ),
    "ir imports only source and types": lambda a: (
        under(a.source, "gradspec.ir")
        and is_core(a.target)
        and not under(a.target, "gradspec.ir", "gradspec.source", "gradspec.types")
    ),
    "source and types import nothing of ours": lambda a: a.source in ("gradspec.source", "gradspec.types") and is_core(a.target),
    "what works on the IR never looks at text again": lambda a: under(a.source, *PASSES) and under(a.target, *TEXT_SIDE),
    "emit knows no backend and no compiler": lambda a: (
        under(a.source, "gradspec.emit") and is_core(a.target) and not under(a.target, *OPEN_TO_BACKENDS)
    ),
    "the writer knows the standard library alone": lambda a: (
        a.source in ("gradspec.writer", "gradspec.manifest")
        and top(a.target) not in sys.stdlib_module_names
        and a.target != "gradspec.manifest"
    ),
    "only grammar and parse import lark": lambda a: (
        top(a.target) == "lark" and not under(a.source, "gradspec.grammar", "gradspec.parse")
    ),
    "only yaml_nodes imports yaml": lambda a: top(a.target) == "yaml" and not under(a.source, "gradspec.yaml_nodes"),
    "only the command line imports click and rich": lambda a: (
        top(a.target) in ("click", "rich") and not under(a.source, "gradspec.cli")
    ),
    "nothing imports the command line": lambda a: (
        under(a.target, "gradspec.cli") and not under(a.source, "gradspec.cli", "gradspec.__main__")
    ),
    "nothing imports torch but the gradient checker": lambda a: (
        top(a.target) in ("torch", "torchgen", "numpy") and not under(a.source, "gradspec.gradcheck")
    ),
    "only the command line imports the gradient checker": lambda a: (
        under(a.target, "gradspec.gradcheck") and not under(a.source, "gradspec.gradcheck", "gradspec.cli")
    ),
    "nothing imports the grammars: they are data": lambda a: "grammars" in a.target.split("."),
    "no formula is read with a regular expression": lambda a: top(a.target) in ("re", "regex") and a.source not in MAY_USE_RE,
    "imports say the whole name": lambda a: a.target.startswith("."),
    "modules are imported by statements": lambda a: under(a.target, "importlib", "runpy") and a.target not in ALLOWED_IMPORTLIB,
}  # fmt: skip


def import_faults(modules: Mapping[str, Module]) -> list[str]:
    """Every arrow that a rule forbids, and every circle."""
    arrows = [arrow for module in modules.values() for arrow in module.arrows]
    faults = [
        f"{a.source}:{a.line} imports {a.target}, but {rule}"
        for rule, forbids in IMPORT_RULES.items()
        for a in arrows
        if forbids(a)
    ]
    faults += [f"{' -> '.join(circle)} is a circle" for circle in _circles(modules)]
    return faults


def _circles(modules: Mapping[str, Module]) -> Iterator[list[str]]:
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> Iterator[list[str]]:
        if name in path:
            yield [*path[path.index(name) :], name]
        elif name not in done:
            targets = {a.target for a in modules[name].arrows if a.target in modules}
            for target in sorted(targets - {name}):
                yield from visit(target, [*path, name])
            done.add(name)

    for name in sorted(modules):
        yield from visit(name, [])


# ------------------------------------------------------------------------------------------------------- rules about calls


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            return f"{_dotted(value)}.{attribute}"
        case _:
            return ""


PRINTS_OR_EXITS = {
    "print()", "input()", "exit()", "quit()", "SystemExit", "os._exit", "os.abort",
    "sys.exit", "sys.stdout", "sys.stderr", "sys.stdin", "sys.__stdout__", "sys.__stderr__",
}  # fmt: skip
LOOKS_AT_THE_WORLD = {"open()", "os.environ", "os.getenv"}
RUNS_TEXT = {"eval()", "exec()", "compile()", "__import__()"}


def _uses(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names that are read, dotted ones in full, and names that are called, with `()`, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield f"{_dotted(node.func)}()", node.lineno
        elif isinstance(node, ast.Name | ast.Attribute):
            yield _dotted(node), node.lineno


def use_faults(modules: Mapping[str, Module]) -> list[str]:
    """Every use of a name that the module may not use."""
    faults = []
    for module in modules.values():
        for name, line in _uses(module.tree):
            if name in PRINTS_OR_EXITS and not under(module.name, "gradspec.cli"):
                faults.append(f"{module.name}:{line} uses {name}, but only the command line prints or exits")
            if name in LOOKS_AT_THE_WORLD and is_backend(module.name):
                faults.append(f"{module.name}:{line} uses {name}, but a backend knows no disk, clock or environment")
            if name in RUNS_TEXT:
                faults.append(f"{module.name}:{line} uses {name}, but no text is run as code")
    return faults


# ------------------------------------------------------------------------------------------------------------- the checkout


@pytest.fixture(scope="module")
def modules(repo: Path) -> dict[str, Module]:
    texts = {}
    for root in (repo, repo / "backends"):
        for path in sorted(root.glob("gradspec*/**/*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            texts[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text()
    return read_modules(texts)


def test_every_module_is_seen(modules: Mapping[str, Module]) -> None:
    assert {"gradspec", "gradspec.ir", "gradspec.parse", "gradspec.parse.formula", "gradspec.cli", "gradspec_cpp"} <= set(modules)


def test_imports_of_the_checkout(modules: Mapping[str, Module]) -> None:
    assert import_faults(modules) == []


def test_uses_of_the_checkout(modules: Mapping[str, Module]) -> None:
    assert use_faults(modules) == []


def test_whoever_may_use_regular_expressions_does(modules: Mapping[str, Module]) -> None:
    users = {a.source for module in modules.values() for a in module.arrows if top(a.target) == "re"}
    assert set(MAY_USE_RE) <= users


def test_grammars_hold_no_python(repo: Path) -> None:
    # An __init__.py there would break the editable install.
    assert {path.suffix for path in (repo / "grammars").iterdir()} == {".lark"}


# ------------------------------------------------------------------------------------------------- the rules do forbid

CLEAN = {
    "gradspec": "",
    "gradspec.ir": "import attrs\nfrom gradspec.source import Span\n",
    "gradspec.source": "",
    "gradspec_cpp": "",
}

PLANTS = [
    ("gradspec.resolve", "import gradspec_cpp", "the core never imports a backend"),
    ("gradspec.resolve", "def f():\n    from gradspec_cpp.expr import x", "the core never imports a backend"),
    ("gradspec_cpp.expr", "from gradspec.parse import parse_formula", "a backend imports of gradspec only"),
    ("gradspec_cpp.expr", "from gradspec import parse", "a backend imports of gradspec only"),
    ("gradspec_cpp.expr", "import gradspec.cli", "a backend imports of gradspec only"),
    ("gradspec_cpp.expr", "from gradspec_python import types", "a backend imports no other backend"),
    ("gradspec_cpp.emit", "import datetime", "a backend knows no disk"),
    ("gradspec_cpp.emit", "import yaml", "a backend needs nothing but"),
    ("gradspec.ir", "from gradspec.syntax import Name", "ir imports only"),
    ("gradspec.types", "from gradspec.source import Span", "source and types import nothing"),
    ("gradspec.saved", "from gradspec import syntax", "what works on the IR never looks at text again"),
    ("gradspec.emit.cxx", "from gradspec.pipeline import compile_spec", "emit knows no backend"),
    ("gradspec.writer", "import attrs", "the writer knows the standard library alone"),
    ("gradspec.resolve", "from lark import Token", "only grammar and parse import lark"),
    ("gradspec.resolve", "import yaml", "only yaml_nodes imports yaml"),
    ("gradspec.resolve", "from rich.console import Console", "only the command line imports click and rich"),
    ("gradspec.resolve", "from gradspec.cli import main", "nothing imports the command line"),
    ("gradspec.torch_yaml", "import torch.utils", "nothing imports torch"),
    ("gradspec_cpp.emit", "from torchgen.model import DispatchKey", "nothing imports torch"),
    ("gradspec.check", "from gradspec.gradcheck.run import check_program", "only the command line imports the gradient checker"),
    ("gradspec.grammar", "from gradspec.grammars import x", "nothing imports the grammars"),
    ("gradspec.saved", "if True:\n    import re", "no formula is read with a regular expression"),
    ("gradspec.saved", "from . import ir", "imports say the whole name"),
    ("gradspec.saved", "from importlib import import_module", "modules are imported by statements"),
    ("gradspec.source", "from gradspec import ir", "is a circle"),
    ("gradspec.resolve", "print('x')", "only the command line prints or exits"),
    ("gradspec.resolve", "raise SystemExit(1)", "only the command line prints or exits"),
    ("gradspec.resolve", "import sys\nsys.stderr.write('x')", "only the command line prints or exits"),
    ("gradspec_cpp.emit", "open('x')", "a backend knows no disk"),
    ("gradspec.saved", "eval('1')", "no text is run as code"),
]


@pytest.mark.parametrize(("name", "text", "words"), PLANTS, ids=[f"{name}-{text}" for name, text, _ in PLANTS])
def test_a_planted_fault_is_found(name: str, text: str, words: str) -> None:
    known = dict.fromkeys(("gradspec.parse", "gradspec.syntax", "gradspec.cli", "gradspec_python.types"), "")
    modules = read_modules(CLEAN | known | {name: text})
    faults = import_faults(modules) + use_faults(modules)
    assert any(words in fault for fault in faults), faults


def test_a_clean_tree_has_no_fault() -> None:
    modules = read_modules(CLEAN)
    assert import_faults(modules) + use_faults(modules) == []


def test_every_import_rule_has_a_plant() -> None:
    for rule in IMPORT_RULES:
        assert any(rule.startswith(words) for _, _, words in PLANTS), rule
