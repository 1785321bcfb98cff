"""What a node keeps: whole values where a formula needs them, else what it asks of them."""

from __future__ import annotations

import pytest
from compiling import compile_op

from gradspec.ir import Op
from gradspec.printer import print_expr


def op_with(formula: str, arguments: str = "Tensor self", returns: str = "Tensor", name: str = "f") -> Op:
    """An op whose `self` has this gradient."""
    return compile_op(f"extern h;\nop {name}({arguments}) -> {returns} {{ self: {formula}; }}")


def saved(op: Op) -> list[tuple[str, str, str]]:
    """Name, type and save-time expression of what is kept."""
    return [(v.name, str(v.type), print_expr(v.value)) for v in op.saved]


# What a formula asks of `self`, what is kept, and how the formula then reads.
USES = {
    "the tensor": ("self", ("self", "Tensor", "self"), "self"),
    "its sizes": ("self.sym_sizes()", ("self_sym_sizes", "SymInt[]", "self.sym_sizes()"), "self_sym_sizes"),
    "a size": ("self.sym_size(0)", ("self_sym_argsize_0", "SymInt", "self.sym_size(0)"), "self_sym_argsize_0"),
    "the last size": (
        "self.sym_size(-1)",
        ("self_sym_argsize_minus_1", "SymInt", "self.sym_size(-1)"),
        "self_sym_argsize_minus_1",
    ),
    "its strides": ("self.sym_strides()", ("self_sym_strides", "SymInt[]", "self.sym_strides()"), "self_sym_strides"),
    "its block size": (
        "self.sym_blocksize()",
        ("self_self_sym_blocksize_opt", "SymInt[]?", "self.sym_blocksize()"),
        "self_self_sym_blocksize_opt",
    ),
    "its options": ("self.options()", ("self_options", "TensorOptions", "self.options()"), "self_options"),
    "its number of elements": ("self.numel()", ("self_numel", "int", "self.numel()"), "self_numel"),
    "that, symbolic": ("self.sym_numel()", ("self_sym_numel", "SymInt", "self.sym_numel()"), "self_sym_numel"),
    "its scalar type": ("self.scalar_type()", ("self_scalar_type", "ScalarType", "self.scalar_type()"), "self_scalar_type"),
    "its dimensions": ("self.dim()", ("self_dim", "int", "self.dim()"), "self_dim"),
    "its layout": ("self.layout()", ("self_layout", "Layout", "self.layout()"), "self_layout"),
    "whether it is conjugated": ("self.is_conj()", ("self_conjugate", "bool", "self.is_conj()"), "self_conjugate"),
    "zeros like it": ("zeros_like(self)", ("self_info", "TensorInfo", "self"), "self_info.zeros()"),
    "zeros like it, qualified": ("at::zeros_like(self)", ("self_info", "TensorInfo", "self"), "self_info.zeros()"),
    "its geometry": ("TensorGeometry(self)", ("self_geometry", "TensorGeometry", "TensorGeometry(self)"), "self_geometry"),
}


@pytest.mark.parametrize(("use", "kept", "read"), USES.values(), ids=USES)
def test_a_use(use: str, kept: tuple[str, str, str], read: str) -> None:
    op = op_with(f"h(grad, {use})")
    assert saved(op) == [kept]
    assert print_expr(op.derivatives[0].formula) == f"h(grad, {read})"
    assert print_expr(op.derivatives[0].written) == f"h(grad, {use})"


LIST_USES = {
    "sizes": ("to_args_sizes(self)", ("self_args_sizes", "int[][]")),
    "symbolic sizes": ("to_args_sizes_symint(self)", ("self_args_sizes_symint", "SymInt[][]")),
    "scalar types": ("to_args_scalartypes(self)", ("self_args_scalartypes", "ScalarType[]")),
}


@pytest.mark.parametrize(("use", "kept"), LIST_USES.values(), ids=LIST_USES)
def test_a_use_of_a_list(use: str, kept: tuple[str, str]) -> None:
    op = op_with(f"h(grad, {use})", "Tensor[] self")
    assert saved(op) == [(*kept, use)]
    assert print_expr(op.derivatives[0].formula) == f"h(grad, {kept[0]})"


def test_sizes_of_an_optional_tensor() -> None:
    op = op_with("h(grad, w->sym_sizes())", "Tensor self, Tensor? w")
    assert saved(op) == [("w_sym_sizes_opt", "SymInt[]?", "w->sym_sizes()")]


def test_a_size_at_a_dimension_that_is_an_argument() -> None:
    op = op_with("h(grad, self.sym_size(dim))", "Tensor self, int dim")
    assert saved(op) == [("self_sym_argsize_dim", "SymInt", "self.sym_size(dim)")]


@pytest.mark.parametrize(
    ("use", "names"),
    [
        ("self.sym_size(0 + 1)", ["self"]),
        ("self.sym_size(self.dim())", ["self", "self_dim"]),
        ("self.stride(0)", ["self"]),
        ("zeros_like(self, 1)", ["self"]),
        ("zeros_like(self * 2)", ["self"]),
        ("self.neg().sym_sizes()", ["self"]),
        ("(self).sym_sizes()", ["self_sym_sizes"]),
        ("self.sym_sizes() [0]", ["self_sym_sizes"]),
        ("self * self.sym_numel()", ["self", "self_sym_numel"]),
        ("to_args_sizes(self)", ["self"]),
    ],
)
def test_other_uses_keep_the_tensor(use: str, names: list[str]) -> None:
    assert [v.name for v in op_with(f"h(grad, {use})").saved] == names


@pytest.mark.parametrize(
    "formula", ['not_implemented("f: self")', "grad /* self */", "grad // self\n", "h(grad, self_sym::self)"]
)
def test_a_name_that_is_not_read_is_not_kept(formula: str) -> None:
    assert compile_op(f"extern h, self_sym::self; op f(Tensor self) -> Tensor {{ self: {formula}; }}").saved == ()


def test_outputs() -> None:
    op = op_with("h(grad_a, a, b.sym_sizes(), a.dim())", returns="(Tensor a, Tensor b)")
    assert [(v.name, v.origin) for v in op.saved] == [("a", "output"), ("a_dim", "output"), ("b_sym_sizes", "output")]


def test_inputs_come_before_outputs_each_by_name() -> None:
    op = op_with("h(grad, result, z, self, a.dim(), a)", "Tensor z, Tensor self, Tensor a")
    assert [v.name for v in op.saved] == ["a", "a_dim", "self", "z", "result"]


def test_each_value_is_kept_once() -> None:
    op = compile_op("op f(Tensor self, Tensor other) -> Tensor { self: grad * other * other; other: grad * self * other; }")
    assert [v.name for v in op.saved] == ["other", "self"]


def test_lengths_of_lists_are_forgotten() -> None:
    op = op_with("h(grad, k, s)", "Tensor self, int[2] k, SymInt[1]? s")
    assert [str(v.type) for v in op.saved] == ["int[]", "SymInt[]?"]


def test_forward_formulas_keep_nothing() -> None:
    op = compile_op("op f(Tensor self, int n) -> Tensor { self: grad; result: self_t * n; }")
    assert op.saved == ()


def test_what_an_in_place_op_overwrites() -> None:
    op = op_with("h(grad, self, other, self.dim())", "Tensor(a!) self, Tensor other", "Tensor(a!)", "f_")
    assert [(v.name, v.overwritten) for v in op.saved] == [("other", False), ("self", True), ("self_dim", False)]


def test_arguments_that_an_op_only_writes_to() -> None:
    op = op_with("h(grad, out)", "Tensor self, *, Tensor(a!) out", "Tensor(a!)")
    assert [(v.name, v.overwritten) for v in op.saved] == [("out", False)]
