"""The whole compiler in memory and from files: what is read, in which order, and what ends a run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from compiling import place

from gradspec.diagnostics import Diagnostics, SpecError, render_text
from gradspec.load import MAX_FILE_BYTES, TorchNotFound, decode_source, find_torch, load_source
from gradspec.pipeline import compile_files, compile_sources
from gradspec.source import Source

GRAD = "op f(Tensor self) -> Tensor { self: grad; }\n"
DERIVATIVES = "- name: f(Tensor self) -> Tensor\n  self: grad\n"
NATIVE = "- func: f(Tensor self) -> Tensor\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    made = {"grad": tmp_path / "f.grad", "yaml": tmp_path / "d.yaml", "native": tmp_path / "n.yaml"}
    for path, text in zip(made.values(), (GRAD, DERIVATIVES, NATIVE), strict=True):
        path.write_text(text)
    return made


def errors(*specs: Path, schemas: Path | None = None) -> list[str]:
    with pytest.raises(SpecError) as caught:
        compile_files(specs, schemas)
    return [place(d) for d in caught.value.diagnostics]


# ------------------------------------------------------------------------------------------------------------------ compile


def test_both_languages_give_the_same_program(files: dict[str, Path]) -> None:
    first = compile_files([files["grad"]], files["native"])
    second = compile_files([files["yaml"]], files["native"])
    assert first.program == second.program
    assert first.diagnostics == second.diagnostics == ()


def test_specs_of_both_languages_make_one_program(files: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "g.grad"
    other.write_text("library mine;\nop g(Tensor self) -> Tensor { self: f(grad); }\n")
    compiled = compile_files([other, files["yaml"]], files["native"])
    assert [str(op.name) for op in compiled.program.ops] == ["mine::g", "f"]
    assert compiled.diagnostics == ()


def test_one_op_in_two_files(files: dict[str, Path]) -> None:
    assert errors(files["grad"], files["yaml"], schemas=files["native"]) == ["GS0305 1:9"]


def test_externs_are_of_their_file_those_of_the_caller_of_all(tmp_path: Path) -> None:
    sources = [Source("a.grad", "extern h; op a(Tensor self) -> Tensor { self: h(grad); }")]
    sources.append(Source("b.grad", "op b(Tensor self) -> Tensor { self: h(grad); }"))
    assert [(d.code.id, d.span and d.span.source.path) for d in compile_sources(sources).diagnostics] == [("GS0402", "b.grad")]
    assert compile_sources(sources, externs=["h"]).diagnostics == ()


def test_nothing_is_compiled_when_a_file_cannot_be_read(files: dict[str, Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.grad"
    broken.write_text("nonsense")
    assert errors(tmp_path / "none.grad", broken, tmp_path / "neither.yaml") == ["GS0101 1:1", "GS0101 1:1"]


def test_every_file_is_looked_at(files: dict[str, Path], tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.grad").write_text(f"op {name}(Tensor self) -> Tensor {{ self: x; }}")
    assert errors(*(tmp_path / f"{n}.grad" for n in "cab")) == ["GS0401 1:37"] * 3


def test_a_program_selects_its_ops() -> None:
    text = "".join([f"op {name}(Tensor self) -> Tensor {{ self: grad; }}" for name in ("f.a", "f.b")]) + "op g() -> Tensor {}"
    program = compile_sources([Source("x.grad", text)]).program
    assert [str(op.name) for op in program.select("f").ops] == ["f.a", "f.b"]
    assert [str(op.name) for op in program.select("f.b").ops] == ["f.b"]
    assert program.select("h").ops == ()
    assert [op.node for op in program.nodes] == ["FBackward0", "FBackward1"]


def test_the_same_twice() -> None:
    torch = find_torch(None)
    first, second = (compile_files([torch.derivatives], torch.native_functions) for _ in range(2))
    assert first.program.ops == second.program.ops
    assert [render_text(d) for d in first.diagnostics] == [render_text(d) for d in second.diagnostics]


# -------------------------------------------------------------------------------------------------------------------- files


def load(path: Path) -> tuple[Source | None, list[str]]:
    diagnostics = Diagnostics()
    return load_source(path, diagnostics), [f"{d.code.id}: {d.message}" for d in diagnostics.all]


def test_a_file(files: dict[str, Path]) -> None:
    source, found = load(files["grad"])
    assert source is not None
    assert (source.path, source.text, found) == (str(files["grad"]), GRAD, [])


def test_a_link_is_followed(files: dict[str, Path], tmp_path: Path) -> None:
    link = tmp_path / "link.grad"
    link.symlink_to(files["grad"])
    source, _ = load(link)
    assert source is not None
    assert source.path == str(link)


def unreadable(tmp_path: Path) -> dict[str, tuple[Path, str]]:
    dangling = tmp_path / "dangling.grad"
    dangling.symlink_to("nowhere")
    circle = tmp_path / "circle.grad"
    circle.symlink_to("circle.grad")
    return {
        "nothing": (tmp_path / "none.grad", "no such file"),
        "a folder": (tmp_path, "is a directory"),
        "a link to nowhere": (dangling, "is a link to nowhere, which does not exist"),
        "a link to itself": (circle, "too many levels"),
        "below a file": (Path(sys.executable) / "x.grad", "not a directory"),
        "a name that is too long": (tmp_path / ("a" * 5_000), "file name too long"),
        "a name with a NUL": (tmp_path / "a\0b", "null"),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "nothing",
        "a folder",
        "a link to nowhere",
        "a link to itself",
        "below a file",
        "a name that is too long",
        "a name with a NUL",
    ],
)
def test_what_cannot_be_read(kind: str, tmp_path: Path) -> None:
    path, why = unreadable(tmp_path)[kind]
    source, (message,) = load(path)
    assert source is None
    assert message.startswith("GS0101: cannot read ")
    assert why in message


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "x.grad"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert load(path)[1] == [f"GS0803: {path} has {MAX_FILE_BYTES + 1:,} bytes; at most {MAX_FILE_BYTES:,} are read"]
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES)
    assert load(path)[0] is not None


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_a_device_without_end() -> None:
    (message,) = load(Path("/dev/zero"))[1]
    assert message.startswith("GS0803")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\r\nb\rc\n", "a\nb\nc\n"),
        (b"\xef\xbb\xbfa", "a"),
        ("é😀".encode(), "é😀"),
        (b"", ""),
        (b"\xef\xbb\xbf", ""),
        (b"\r\r\n\n", "\n\n\n"),
    ],
)
def test_decoding(data: bytes, text: str) -> None:
    diagnostics = Diagnostics()
    source = decode_source("x", data, diagnostics)
    assert source is not None
    assert source.text == text
    assert diagnostics.all == ()


@pytest.mark.parametrize(
    ("data", "offset", "at"),
    [
        (b"\xff", 0, "1:1"),
        (b"ab\n\xe9c", 3, "2:1"),
        (b"# r\xe9 \n", 3, "1:4"),
        ("é".encode() + b"\x80", 2, "1:2"),
        (b"\xed\xa0\x80", 0, "1:1"),
        (b"\xff\xfea\x00", 0, "1:1"),
        (b"a\xc3", 1, "1:2"),
    ],
)
def test_what_is_not_utf_8(data: bytes, offset: int, at: str) -> None:
    diagnostics = Diagnostics()
    assert decode_source("x", data, diagnostics) is None
    (found,) = diagnostics.all
    assert place(found) == f"GS0102 {at}"
    assert f"byte 0x{data[offset]:02X} at offset {offset}" in found.message


# -------------------------------------------------------------------------------------------------------------------- torch

LAYOUTS = {
    "site-packages": ("torchgen/packaged/autograd/derivatives.yaml", "torchgen/packaged/ATen/native/native_functions.yaml"),
    "a checkout": ("tools/autograd/derivatives.yaml", "aten/src/ATen/native/native_functions.yaml"),
    "torchgen itself": ("packaged/autograd/derivatives.yaml", "packaged/ATen/native/native_functions.yaml"),
}


@pytest.mark.parametrize("names", LAYOUTS.values(), ids=LAYOUTS)
def test_where_torch_keeps_its_spec(names: tuple[str, str], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = find_torch(tmp_path)
    assert (found.derivatives, found.native_functions) == (tmp_path / names[0], tmp_path / names[1])


def test_the_installed_torch() -> None:
    found = find_torch(None)
    assert found.derivatives.is_file()
    assert found.native_functions.is_file()


def test_no_torch(tmp_path: Path) -> None:
    with pytest.raises(TorchNotFound, match="neither a site-packages folder"):
        find_torch(tmp_path)
    with pytest.raises(TorchNotFound, match="is not a folder"):
        find_torch(tmp_path / "none")


@pytest.mark.parametrize("where", ["version file", "dist-info"])
def test_a_torch_that_does_not_ship_its_spec(where: str, tmp_path: Path) -> None:
    if where == "dist-info":
        (tmp_path / "torch-2.0.1+cpu.dist-info").mkdir()
    else:
        (tmp_path / "torch").mkdir()
        (tmp_path / "torch/version.py").write_text("__version__ = '2.0.1+cpu'\ndebug = False\n")
    with pytest.raises(TorchNotFound, match=r"torch 2\.0\.1\+cpu in .* does not ship derivatives\.yaml"):
        find_torch(tmp_path)
