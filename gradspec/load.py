"""Finds and reads input files; knows nothing of what they hold."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from attrs import frozen

from gradspec.diagnostics import Diagnostics
from gradspec.source import Source, Span

CMAKE_MODULE = "GradspecGenerate.cmake"
MAX_FILE_BYTES = 8 * 1024 * 1024


def load_source(path: Path, diagnostics: Diagnostics) -> Source | None:
    """A text file as a Source; None where it cannot be read, with the reason in `diagnostics`."""
    nowhere = Span(Source(str(path), ""), 0, 0)
    try:
        # A pipe or a device may give more than its size says, and without end.
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        size = max(path.stat().st_size, len(data))
    except (OSError, ValueError) as error:
        diagnostics.add("GS0101", f"cannot read {path}: {_why_unreadable(path, error)}", nowhere)
        return None
    if size > MAX_FILE_BYTES:
        message = f"{path} has {size:,} bytes; at most {MAX_FILE_BYTES:,} are read"
        diagnostics.add("GS0803", message, nowhere, help="split the spec into several files")
        return None
    return decode_source(str(path), data, diagnostics)


def _why_unreadable(path: Path, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError) and path.is_symlink():
        return f"is a link to {path.readlink()}, which does not exist"
    return (getattr(error, "strerror", None) or str(error)).lower()


def decode_source(path: str, data: bytes, diagnostics: Diagnostics) -> Source | None:
    """UTF-8 bytes as a Source, without byte order mark and with `\\n` line ends."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        source = Source(path, data[: error.start].decode("utf-8", "replace"))
        end = len(source.text)
        diagnostics.add(
            "GS0102",
            f"{path} is not UTF-8: byte 0x{data[error.start]:02X} at offset {error.start}",
            Span(source, end, end),
            help="save the file as UTF-8",
        )
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Source(path, text)


@frozen
class TorchFiles:
    """The spec of one PyTorch: its two YAML files."""

    derivatives: Path
    native_functions: Path


class TorchNotFound(Exception):
    """No PyTorch, or one that does not ship its spec."""


# Where the pair stands below a site-packages folder and below a PyTorch checkout.
_LAYOUTS = (
    ("torchgen/packaged/autograd/derivatives.yaml", "torchgen/packaged/ATen/native/native_functions.yaml"),
    ("tools/autograd/derivatives.yaml", "aten/src/ATen/native/native_functions.yaml"),
    ("packaged/autograd/derivatives.yaml", "packaged/ATen/native/native_functions.yaml"),
)


def find_torch(folder: Path | None) -> TorchFiles:
    """The spec of the installed torch (which is not imported), or that below a site-packages folder or a PyTorch checkout.

    Raises:
        TorchNotFound: there is none; the message says what was looked for.
    """
    if folder is None:
        spec = find_spec("torchgen")
        if spec is None or not spec.submodule_search_locations:
            raise TorchNotFound(f"no torch is installed for {sys.executable}; give its folder: --torch DIR")
        folder = Path(next(iter(spec.submodule_search_locations))).parent
    if not folder.is_dir():
        raise TorchNotFound(f"{folder} is not a folder")
    for derivatives, native in _LAYOUTS:
        files = TorchFiles(folder / derivatives, folder / native)
        if files.derivatives.is_file() and files.native_functions.is_file():
            return files
    version = _torch_version(folder)
    if version:
        message = f"torch {version} in {folder} does not ship derivatives.yaml (wheels do from 2.1 on)"
    else:
        message = f"neither a site-packages folder with torchgen nor a PyTorch checkout: {folder}"
    raise TorchNotFound(f"{message}; pass the files: derivatives.yaml --schemas native_functions.yaml")


def _torch_version(folder: Path) -> str:
    """The version of the torch in a site-packages folder, as its own file or pip's names it; empty where there is none."""
    try:
        lines = (folder / "torch/version.py").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    said = [line.partition("=")[2].strip(" '\"") for line in lines if line.startswith("__version__ ")]
    installed = [p.name.removeprefix("torch-").removesuffix(".dist-info") for p in sorted(folder.glob("torch-*.dist-info"))]
    return next(iter([*said, *installed]), "")


def cmake_folder() -> Path:
    """The folder of the CMake module: installed beside this module, else next to the package in a checkout.

    Raises:
        FileNotFoundError: neither is there, so the installation is broken.
    """
    here = Path(__file__).resolve().parent
    for folder in (here / "cmake", here.parent / "cmake"):
        if (folder / CMAKE_MODULE).is_file():
            return folder
    raise FileNotFoundError(f"gradspec's {CMAKE_MODULE} is missing beside {here}")
