"""PyTorch's helpers that are called and that nobody wrote: functions that raise, so that a library of nodes can be loaded."""

from __future__ import annotations

from attrs import evolve
from compiling import diagnose

from gradspec.ir import Program
from gradspec_cpp import BACKEND
from gradspec_cpp.emit import CppOptions

SPEC = """
op twice(Tensor self, Tensor other) -> Tensor {
  self:  sgn_backward(self, grad, result) + maybe_multiply(grad, 2);
  other: div_tensor_self_backward(grad, self, other.scalar_type());
}
fn maybe_multiply(Tensor t, Scalar s) -> Tensor {
  return t * s;
}
"""


def emitted(*, own_helpers: bool) -> dict[str, str]:
    program, _ = diagnose(SPEC)
    assert isinstance(program, Program)
    return dict(BACKEND.emit(evolve(program, own_helpers=own_helpers), CppOptions()))


def test_what_nobody_wrote_raises_by_its_name() -> None:
    files = emitted(own_helpers=True)
    source, header = files["Helpers.cpp"], files["Helpers.h"]
    assert 'not_implemented("sgn_backward", ' in source
    assert 'not_implemented("maybe_multiply"' not in source
    assert header.count(" sgn_backward(") == 1


def test_every_overload_is_there_with_its_defaults() -> None:
    header = " ".join(emitted(own_helpers=True)["Helpers.h"].split())
    for other in ("const at::Tensor& other", "const at::Scalar& other"):
        assert f"div_tensor_self_backward( const at::Tensor& grad, {other}, at::ScalarType self_st," in header
    assert header.count("rounding_mode = {}") == 2


def test_where_helpers_are_torchs_nothing_stands_for_them() -> None:
    assert "sgn_backward" not in emitted(own_helpers=False).get("Helpers.cpp", "")
