"""derivatives.yaml as .grad: the same meaning, and what people wrote beside it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from attrs import evolve
from conftest import RunGradspec

from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.fmt import format_spec
from gradspec.import_yaml import import_derivatives
from gradspec.load import find_torch, load_source
from gradspec.parse import parse_spec
from gradspec.pipeline import compile_sources
from gradspec.printer import as_record
from gradspec.source import Source

SPECS = sorted((Path(__file__).parent.parent / "specs").glob("*.grad"))
NATIVE = """
- func: f(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
- func: g(Tensor self) -> (Tensor first, Tensor second)
"""


def imported(text: str, externs: tuple[str, ...] = ()) -> str:
    diagnostics = Diagnostics()
    result = import_derivatives(Source("d.yaml", text), externs, diagnostics)
    assert result is not None, [d.message for d in diagnostics.all]
    return result


# ------------------------------------------------------------------------------------------------------------------- torch


@cache
def torch_sources() -> tuple[Source, Source]:
    files = find_torch(None)
    diagnostics = Diagnostics()
    derivatives, native = load_source(files.derivatives, diagnostics), load_source(files.native_functions, diagnostics)
    assert derivatives is not None
    assert native is not None
    return derivatives, native


@cache
def torch_imported() -> str:
    return imported(torch_sources()[0].text)


def test_torch_means_the_same() -> None:
    derivatives, native = torch_sources()
    wanted = [as_record(op) for op in compile_sources([derivatives], native).program.ops]
    found = [as_record(op) for op in compile_sources([Source("x.grad", torch_imported())], native).program.ops]
    assert len(found) == 808
    for one, other in zip(found, wanted, strict=True):
        assert one == other


def test_torch_is_in_canonical_form() -> None:
    assert format_spec(Source("x.grad", torch_imported()), Diagnostics()) == torch_imported()


def test_torch_fits_the_width() -> None:
    code = [line for line in torch_imported().splitlines() if "//" not in line]
    assert len(code) > 3000
    assert max(map(len, code)) <= 100


# ------------------------------------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("", "", id="empty"),
        pytest.param(
            "- name: f(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
            "  result: self_t + other_t*alpha\n"
            "  other: grad*alpha.conj()\n"
            "  self: grad\n",
            "op f(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor {\n"
            "  self:   grad;\n"
            "  other:  grad * alpha.conj();\n"
            "  result: self_t + other_t * alpha;\n"
            "}\n",
            id="in the order of the schema",
        ),
        pytest.param(
            "- name: g(Tensor self) -> (Tensor first, Tensor second)\n"
            "  self: 'h(grads, \"it''s\")'\n"
            "  output_differentiability: [true, False]\n",
            "op g(Tensor self) -> (Tensor first, Tensor second) {\n"
            "  output_differentiability: [True, False];\n"
            '  self: h(grads, "it\'s");\n'
            "}\n",
            id="quoted",
        ),
        pytest.param(
            "- name: f(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
            "  self, other: h(grad,\n"
            "    /*training=*/false)\n"
            "  output_differentiability: [isDifferentiableType(self.scalar_type())]\n",
            "op f(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor {\n"
            "  output_differentiability: isDifferentiableType(self.scalar_type());\n"
            "  self, other: h(grad, /*training=*/ false);\n"
            "}\n",
            id="folded, with a condition",
        ),
        pytest.param(
            "- name: g(Tensor self) -> (Tensor first, Tensor second)\n"
            "  dispatch:\n"
            "    Default:\n"
            "      self: grad\n"
            "    AutogradCUDA:\n"
            "      self: 2 * grad\n",
            "op g(Tensor self) -> (Tensor first, Tensor second) {\n"
            "  self: grad;\n"
            "  dispatch AutogradCUDA {\n"
            "    self: 2 * grad;\n"
            "  }\n"
            "}\n",
            id="dispatch",
        ),
        pytest.param(
            "- name: g(Tensor self) -> (Tensor first, Tensor second)\n"
            "  dispatch:\n"
            "    AutogradCUDA:\n"
            "      self: 2 * grad\n"
            "    Default:\n"
            "      self: grad\n",
            "op g(Tensor self) -> (Tensor first, Tensor second) {\n"
            "  dispatch AutogradCUDA {\n"
            "    self: 2 * grad;\n"
            "  }\n"
            "  dispatch Default {\n"
            "    self: grad;\n"
            "  }\n"
            "}\n",
            id="Default not first",
        ),
        pytest.param(
            "# Far above: dropped.\n\n"
            "# Right above,\n"
            "  # on two lines\n"
            "- name: g(Tensor self) -> (Tensor first, Tensor second)  # behind the name\n"
            "  # above a rule\n"
            "  self: grad  # behind it\n"
            "  # After the last rule: dropped.\n",
            "// Right above,\n"
            "// on two lines\n"
            "op g(Tensor self) -> (Tensor first, Tensor second) {  // behind the name\n"
            "  // above a rule\n"
            "  self: grad;  // behind it\n"
            "}\n",
            id="comments",
        ),
        pytest.param(
            '- name: g(Tensor self) -> (Tensor first, Tensor second)\n  self: "grad // to the end\\n"\n',
            "op g(Tensor self) -> (Tensor first, Tensor second) {\n  self: grad;  // to the end\n}\n",
            id="a formula that ends in a comment",
        ),
    ],
)
def test_form(text: str, wanted: str) -> None:
    assert imported(text) == wanted
    native = Source("n.yaml", NATIVE)
    compiled = [compile_sources([Source(f"x{end}", t)], native, ["h"]).program for end, t in ((".yaml", text), (".grad", wanted))]
    assert [as_record(op) for op in compiled[0].ops] == [as_record(op) for op in compiled[1].ops]


def test_externs_are_declared() -> None:
    text = imported("- name: g(Tensor self) -> (Tensor first, Tensor second)\n  self: h(grad)\n", ("h", "geo::k"))
    assert text.startswith("extern h, geo::k;\n\nop g(")


def test_wrong_yaml_is_reported() -> None:
    diagnostics = Diagnostics()
    text = "- name: g(Tensor self) -> (Tensor first, Tensor second)\n  self: grad +\n"
    assert import_derivatives(Source("d.yaml", text), (), diagnostics) is None
    assert [d.code.id for d in diagnostics.all] == ["GS0201"]


def as_yaml(spec: s.Spec) -> str:
    """A spec as derivatives.yaml; JSON strings are YAML's quoted ones."""
    lines = []
    for entry in spec.entries:
        lines.append(f"- name: {json.dumps(str(entry.schema))}")
        said = entry.differentiability
        if said is not None:
            value = f"[{json.dumps(said.condition.excerpt.text)}]" if said.condition is not None else json.dumps(said.flags)
            lines.append(f"  output_differentiability: {value}")
        rules = [
            [f"{json.dumps(', '.join([n.text for n in r.names]))}: {json.dumps(r.formula.excerpt.text)}" for r in block.rules]
            for block in entry.blocks
        ]
        # An argument called `dispatch` has its rule below the key of that name.
        plain = not any(n.text == "dispatch" for b in entry.blocks for r in b.rules for n in r.names)
        if plain and [b.dispatch for b in entry.blocks] == ["Default"]:
            lines += [f"  {rule}" for rule in rules[0]]
            continue
        lines.append("  dispatch:")
        for block, inside in zip(entry.blocks, rules, strict=True):
            lines.append(f"    {block.dispatch}:{'' if inside else ' {}'}")
            lines += [f"      {rule}" for rule in inside]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", SPECS, ids=[p.stem for p in SPECS])
def test_specs_come_back_from_yaml(path: Path) -> None:
    """Every construct of our own specs goes through YAML and means what it did."""
    source = Source(str(path), path.read_text())
    spec = parse_spec(source, Diagnostics())
    text = imported(as_yaml(spec), spec.externs)
    # What an op computes, and functions, YAML cannot say; the calls are there.
    wanted = [as_record(evolve(op, forward=None)) for op in compile_sources([source]).program.ops]
    assert [as_record(op) for op in compile_sources([Source("x.grad", text)]).program.ops] == wanted


# ------------------------------------------------------------------------------------------------------------ command line

YAML = "- name: g(Tensor self) -> (Tensor first, Tensor second)\n  self: grad * 2\n"
GRAD = "op g(Tensor self) -> (Tensor first, Tensor second) {\n  self: grad * 2;\n}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "d.yaml").write_text(YAML)
    (tmp_path / "n.yaml").write_text(NATIVE)
    return tmp_path


def test_to_stdout_and_to_a_file(folder: Path, run_gradspec: RunGradspec) -> None:
    call = ("import", "d.yaml", "--schemas", "n.yaml")
    done = run_gradspec(*call, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, GRAD, "")
    done = run_gradspec(*call, "-o", "x.grad", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 op in x.grad\n", "")
    assert (folder / "x.grad").read_text() == GRAD


def test_a_file_that_is_there_is_kept_unless_forced(folder: Path, run_gradspec: RunGradspec) -> None:
    (folder / "x.grad").write_text("mine")
    call = ("import", "d.yaml", "--schemas", "n.yaml", "-o", "x.grad")
    done = run_gradspec(*call, cwd=folder)
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert (folder / "x.grad").read_text() == "mine"
    assert run_gradspec(*call, "--force", cwd=folder).returncode == 0
    assert (folder / "x.grad").read_text() == GRAD


def test_a_spec_that_means_nothing_is_not_imported(folder: Path, run_gradspec: RunGradspec) -> None:
    (folder / "d.yaml").write_text(YAML.replace("grad * 2", "grda * 2"))
    done = run_gradspec("import", "d.yaml", "--schemas", "n.yaml", "-o", "x.grad", cwd=folder)
    assert done.returncode == 1
    assert "d.yaml:2:9" in done.stderr
    assert not (folder / "x.grad").exists()


@pytest.mark.parametrize("arguments", [["x.grad"], ["d.yaml", "d.yaml", "--schemas", "n.yaml"], ["d.yaml"], []])
def test_a_wrong_call(folder: Path, run_gradspec: RunGradspec, arguments: list[str]) -> None:
    assert run_gradspec("import", *arguments, cwd=folder).returncode == 2


def test_the_installed_torch(tmp_path: Path, run_gradspec: RunGradspec) -> None:
    done = run_gradspec("import", "--torch", "-o", "torch.grad", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == "687 ops in torch.grad\n"
    assert (tmp_path / "torch.grad").read_text() == torch_imported()
