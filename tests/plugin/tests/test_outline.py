"""What the backend writes, kept in a file to be read."""

from __future__ import annotations

import pytest
from gradspec_outline import BACKEND
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from gradspec.diagnostics import SpecError
from gradspec.ir import Program
from gradspec.pipeline import compile_sources
from gradspec.source import Source

SPEC = """
op mul.Tensor(Tensor self, Tensor other) -> Tensor {
  self:   grad * other.conj();
  other:  grad * self.conj();
  result: other_t * self_p + self_t * other_p;
}

op lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor {
  self, end: std::make_tuple(grad_input_mask[0] ? grad * (1 - weight.toDouble()) : Tensor(),
                             grad_input_mask[1] ? grad * weight : Tensor());
}

op sign(Tensor self) -> Tensor {
  self: zeros_like(grad);
}
"""


class MarkdownFile(SingleFileSnapshotExtension):
    """Snapshots that are the file itself, so that they can be read as one."""

    _write_mode = WriteMode.TEXT
    file_extension = "md"


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_sources([Source("spec.grad", SPEC)]).program


def test_page(program: Program, snapshot: SnapshotAssertion) -> None:
    (page,) = BACKEND.emit(program, BACKEND.Options()).values()
    assert page == snapshot(extension_class=MarkdownFile)


def test_options(program: Program) -> None:
    files = BACKEND.emit(program, BACKEND.Options(title="Ops", tangents=False))
    assert "# Ops\n" in files["outline.md"]
    assert "tangent" not in files["outline.md"]


def test_what_it_cannot_show() -> None:
    spec = 'op f(Tensor self) -> Tensor { self: not_implemented("of `f`"); }\nop g(Tensor self) -> Tensor { self: grad; }\n'
    with pytest.raises(SpecError) as caught:
        BACKEND.emit(compile_sources([Source("x.grad", spec)]).program, BACKEND.Options())
    assert [(d.code.id, d.span.line if d.span else None) for d in caught.value.diagnostics] == [("GS0705", 1)]
