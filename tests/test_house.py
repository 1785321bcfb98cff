"""What the checkout promises of itself: the demo runs, the make targets exist, the walk-through shows real code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gradspec.backend import load_backend
from gradspec.pipeline import Helpers, compile_sources
from gradspec.source import Source


def test_the_demo(repo: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, repo / "scripts/demo.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "808 ops, 711 nodes" in done.stdout
    assert "build/demo is up to date" in done.stdout
    spec, _, rest = done.stdout.partition("=== One op, from the spec: ")[2].partition("\n=== to the IR\n")
    ir, _, cxx = rest.partition("\n=== to C++\n")
    assert "- name: mul.Tensor(" in spec
    assert "node MulBackward0" in ir
    # A large spec is emitted as several headers and sources: the node is in one of each.
    for definition in (
        "struct GRADSPEC_CLASS MulBackward0 :",
        "static void MulBackward0_gradients(",
        "void MulBackward0::visit(",
    ):
        assert cxx.count(definition) == 1, definition
    assert cxx.count("\nFunctions") == 2
    assert cxx.count("MulBackward1") == 0


def make_list(makefile: str, name: str) -> list[str]:
    (line,) = [line for line in makefile.splitlines() if line.startswith(f"{name} := ")]
    return line.partition(" := ")[2].split()


def test_every_conformance_and_bench_target_has_its_program(repo: Path) -> None:
    makefile = (repo / "Makefile").read_text()
    for name, folder in (("CONFORMANCE", "conformance"), ("BENCH", "bench")):
        targets = make_list(makefile, name)
        assert targets
        assert [t for t in targets if not (repo / "tests" / folder / f"{t.replace('-', '_')}.py").is_file()] == []


def test_the_help_of_make_names_every_target(repo: Path) -> None:
    makefile = (repo / "Makefile").read_text()
    (targets,) = [line.split()[1:] for line in makefile.splitlines() if line.startswith(".PHONY: ")]
    assert "test" in targets
    assert [t for t in targets if t != "help" and f"@echo 'make {t} " not in makefile] == []


def test_the_map_names_every_module(repo: Path) -> None:
    text = (repo / "docs/design.md").read_text()
    core = repo / "gradspec"
    modules = {path.name for path in core.rglob("*.py")} - {"__init__.py"}
    packages = {f"{path.parent.name}/" for path in core.glob("*/__init__.py")}
    assert {"resolve.py", "parse/"} <= modules | packages
    assert [name for name in sorted(modules | packages) if f"`{name}`" not in text] == []
    shown = {piece for piece in text.split("`") if piece.endswith(".py") and "/" not in piece}
    backends = {path.name for path in (repo / "backends").rglob("*.py")}
    assert sorted(shown - modules - backends) == []


def test_the_walk_through_shows_the_files_of_the_plugin(repo: Path) -> None:
    plugin = repo / "tests/plugin"
    real = {line for path in plugin.rglob("*") if path.suffix in (".py", ".toml") for line in path.read_text().splitlines()}
    shown = []
    inside = False
    for line in (repo / "docs/adding-a-backend.md").read_text().splitlines():
        if line.startswith("```"):
            inside = line in ("```python", "```toml")
        elif inside and line.strip() != "...":
            shown.append(line)
    assert len(shown) > 30
    assert [line for line in shown if line not in real] == []


def test_the_guide_lists_the_headers_that_are_emitted(repo: Path) -> None:
    source = Source("a.grad", "op f(Tensor self) -> Tensor { self: grad; }\n")
    backend = load_backend("cpp")
    modes: tuple[Helpers, ...] = ("prelude", "torch")
    programs = [compile_sources([source], helpers=helpers).program for helpers in modes]
    emitted = {name for p in programs for name in backend.emit(p, backend.Options()) if not name.startswith("Functions")}
    table = (repo / "docs/reviewing-generated-code.md").read_text().partition("\n| file | holds |\n")[2].partition("\n\n")[0]
    assert {name for line in table.splitlines()[1:] for name in line.split("|")[1].split("`")[1::2]} == emitted


def test_links_between_the_pages_lead_somewhere(repo: Path) -> None:
    pages = [*repo.glob("*.md"), *(repo / "docs").rglob("*.md"), *(repo / "tests/plugin").glob("*.md")]
    assert len(pages) > 5
    dead = []
    for page in pages:
        # What stands between backquotes is code: a lambda there is no link.
        text = "".join(page.read_text().split("`")[::2])
        for piece in text.split("](")[1:]:
            target = piece.partition(")")[0].partition("#")[0]
            if target and "://" not in target and not (page.parent / target).exists():
                dead.append(f"{page.relative_to(repo)}: {target}")
    assert dead == []
