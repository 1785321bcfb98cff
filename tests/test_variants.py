"""Nodes made of others: copies of views, and ops that repeat another one over lists."""

from __future__ import annotations

import pytest
from compiling import compile_ops, findings

from gradspec.ir import Op
from gradspec.load import find_torch
from gradspec.pipeline import compile_files
from gradspec.printer import print_expr


def compile_with(entries: str, *schemas: str) -> dict[str, Op]:
    """The ops of a derivatives.yaml against these operators."""
    return compile_ops(entries, "".join(f"- func: {s}\n  variants: function, method\n" for s in schemas))


# --------------------------------------------------------------------------------------------------------------------- views

VIEW = "view(Tensor(a) self, SymInt[] size) -> Tensor(a)"
COPY = "view_copy(Tensor self, SymInt[] size) -> Tensor"
VIEW_ENTRY = f"- name: {VIEW}\n  self: grad.reshape_symint(self.sym_sizes())\n  result: auto_linear\n"


def test_a_view_copy_has_the_formulas_of_its_view() -> None:
    ops = compile_with(VIEW_ENTRY, VIEW, COPY)
    view, copy = ops["view"], ops["view_copy"]
    assert (view.node, copy.node) == ("ViewBackward0", "ViewBackward0_copy")
    assert (view.traceable, copy.traceable) == (False, True)
    assert copy.derivatives == view.derivatives
    assert copy.saved == view.saved
    assert copy.jvps == view.jvps
    assert str(copy.schema) == COPY


def test_a_copy_takes_no_number() -> None:
    ops = compile_with(
        VIEW_ENTRY + "- name: view.b(Tensor self) -> Tensor\n  self: grad\n", VIEW, COPY, "view.b(Tensor self) -> Tensor"
    )
    assert ops["view.b"].node == "ViewBackward1"


NO_COPIES = {
    "another overload": "view_copy(Tensor self, int size) -> Tensor",
    "an out form": "view_copy.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
    "other names": "view_copy(Tensor input, SymInt[] size) -> Tensor",
    "another default": "view_copy(Tensor self, SymInt[] size=[]) -> Tensor",
    "more outputs": "view_copy(Tensor self, SymInt[] size) -> (Tensor, Tensor)",
    "another output": "view_copy(Tensor self, SymInt[] size) -> Tensor[]",
    "a named output": "view_copy(Tensor self, SymInt[] size) -> Tensor copied",
    "another op": "views_copy(Tensor self, SymInt[] size) -> Tensor",
}


@pytest.mark.parametrize("schema", NO_COPIES.values(), ids=NO_COPIES)
def test_what_is_no_copy(schema: str) -> None:
    assert list(compile_with(VIEW_ENTRY, VIEW, schema)) == ["view"]


def test_a_view_with_an_out_argument_has_no_copy() -> None:
    view = "view(Tensor(a) self, *, Tensor(b!) out) -> Tensor(a)"
    assert list(compile_with(f"- name: {view}\n  self: grad\n", view, "view_copy(Tensor self) -> Tensor")) == ["view"]


def test_only_views_have_copies() -> None:
    op = "f(Tensor self) -> Tensor"
    assert list(compile_with(f"- name: {op}\n  self: grad\n", op, "f_copy(Tensor self) -> Tensor")) == ["f"]


def test_a_copy_with_an_entry_of_its_own() -> None:
    ops = compile_with(f"{VIEW_ENTRY}- name: {COPY}\n  self: grad\n", VIEW, COPY)
    assert ops["view_copy"].node == "ViewCopyBackward0"


def test_each_dispatch_key_of_a_view_is_copied() -> None:
    entry = f"- name: {VIEW}\n  dispatch:\n    Default:\n      self: grad\n    AutogradNestedTensor:\n      self: grad * 2\n"
    ops = compile_with(entry, VIEW, COPY)
    assert ops["view_copy AutogradNestedTensor"].node == "ViewBackwardAutogradNestedTensor0_copy"


# -------------------------------------------------------------------------------------------------------------------- foreach

MUL = "mul.Tensor(Tensor self, Tensor other) -> Tensor"
MUL_ENTRY = (
    f"- name: {MUL}\n  self: grad * other.conj()\n  other: grad * self.conj()\n  result: other_t * self_p + self_t * other_p\n"
)
MUL_LIST = "_foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]"


def test_a_foreach_op_repeats_another_one() -> None:
    op = compile_with(MUL_ENTRY, MUL, MUL_LIST)["_foreach_mul.List"]
    assert op.node == "ForeachMulBackward0List"
    assert op.foreach
    assert op.traceable
    assert [(d.inputs, print_expr(d.formula)) for d in op.derivatives] == [
        (("other",), "grads[i] * self[i].conj()"),
        (("self",), "grads[i] * other[i].conj()"),
    ]
    assert [(v.name, str(v.type)) for v in op.saved] == [("other", "Tensor[]"), ("self", "Tensor[]")]
    assert [(o.name, str(o.type), o.differentiable) for o in op.outputs] == [("result", "Tensor[]", True)]
    assert [(j.outputs, print_expr(j.formula), j.tangents, j.primals) for j in op.jvps] == [
        (("result",), "other_t * self_p + self_t * other_p", ("self", "other"), ("self", "other")),
    ]


def test_properties_are_asked_of_each_element() -> None:
    entry = (
        f"- name: {MUL}\n  self: handle_r_to_c(self.scalar_type(), grad).expand_symint(other.sym_sizes()) + zeros_like(self)\n"
    )
    op = compile_with(entry, MUL, MUL_LIST)["_foreach_mul.List"]
    expected = "handle_r_to_c(self[i].scalar_type(), grads[i]).expand_symint(other[i].sym_sizes()) + zeros_like(self[i])"
    assert print_expr(op.derivatives[0].formula) == expected
    assert [v.name for v in op.saved] == ["other", "self"]


def test_values_that_are_no_lists_stay_what_they_are() -> None:
    reference = "f(Tensor self, Scalar n, int[] dims) -> Tensor"
    entry = f"- name: {reference}\n  self: at::h(grad, n, dims, result)\n"
    op = compile_with(entry, reference, "_foreach_f(Tensor[] self, Scalar n, int[] dims) -> Tensor[]")["_foreach_f"]
    assert print_expr(op.derivatives[0].formula) == "at::h(grads[i], n, dims, result[i])"
    assert [(v.name, str(v.type)) for v in op.saved] == [("dims", "int[]"), ("n", "Scalar"), ("result", "Tensor[]")]


def test_lists_of_numbers_are_indexed() -> None:
    reference = "f(Tensor self, Scalar n) -> Tensor"
    entry = f"- name: {reference}\n  self: grad * n.conj().toDouble()\n"
    op = compile_with(entry, reference, "_foreach_f.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]")[
        "_foreach_f.ScalarList"
    ]
    assert print_expr(op.derivatives[0].formula) == "grads[i] * scalars[i].conj().toDouble()"


def test_arguments_and_outputs_are_matched_by_position() -> None:
    reference = "f(Tensor input, Tensor weight) -> Tensor out"
    entry = f"- name: {reference}\n  input: grad * weight * out\n  out: input_t * weight\n"
    op = compile_with(entry, reference, "_foreach_f(Tensor[] self, Tensor[] ws) -> Tensor[] all")["_foreach_f"]
    assert print_expr(op.derivatives[0].formula) == "grads[i] * ws[i] * all[i]"
    assert [(o.name, str(o.type)) for o in op.outputs] == [("all", "Tensor[]")]
    assert [(j.outputs, j.tangents) for j in op.jvps] == [(("all",), ("self",))]


ONE = "f(Tensor self) -> Tensor"
NO_FOREACH = {
    "more arguments": (ONE, "self: grad", "_foreach_f(Tensor[] self, int n) -> Tensor[]"),
    "another type": (ONE, "self: grad", "_foreach_f(Tensor?[] self) -> Tensor[]"),
    "no lists": (ONE, "self: grad", "_foreach_f(Tensor self) -> Tensor"),
    "in place": (ONE, "self: grad", "_foreach_f_(Tensor(a!)[] self) -> ()"),
    "an out form": (ONE, "self: grad", "_foreach_f.out(Tensor[] self, *, Tensor(a!)[] out) -> ()"),
    "more outputs": (ONE, "self: grad", "_foreach_f(Tensor[] self) -> (Tensor[], Tensor[])"),
    "a reference with two outputs": (
        "f(Tensor self) -> (Tensor a, Tensor b)",
        "self: grad",
        "_foreach_f(Tensor[] self) -> (Tensor[] a, Tensor[] b)",
    ),
    "a reference with a joint formula": (
        "f(Tensor self, Tensor w) -> Tensor",
        "self, w: at::h(grad)",
        "_foreach_f(Tensor[] self, Tensor[] w) -> Tensor[]",
    ),
    "an op of no reference": (ONE, "self: grad", "_foreach_g(Tensor[] self) -> Tensor[]"),
}


@pytest.mark.parametrize(("reference", "rule", "schema"), NO_FOREACH.values(), ids=NO_FOREACH)
def test_what_repeats_nothing(reference: str, rule: str, schema: str) -> None:
    assert list(compile_with(f"- name: {reference}\n  {rule}\n", reference, schema)) == ["f"]


def test_a_formula_over_an_argument_that_the_lists_lack() -> None:
    reference = "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"
    lists = "_foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]"
    assert list(compile_with(f"- name: {reference}\n  self: grad\n", reference, lists)) == ["add.Scalar", "_foreach_add.Scalar"]
    entry = f"- name: {reference}\n  self: grad * alpha.toDouble()\n"
    assert list(compile_with(entry, reference, lists)) == ["add.Scalar"]
    entry = f"- name: {reference}\n  self: grad\n  result: auto_linear\n"
    assert compile_with(entry, reference, lists)["_foreach_add.Scalar"].jvps == ()


def test_a_foreach_op_with_an_entry_of_its_own() -> None:
    entry = f"{MUL_ENTRY}- name: {MUL_LIST}\n  self: grads[i] * 2\n"
    ops = compile_with(entry, MUL, MUL_LIST)
    assert ops["_foreach_mul.List"].node == "ForeachMulBackward0"


def test_two_nodes_of_one_name() -> None:
    entries = f"- name: {ONE}\n  self: grad\n- name: foreach_f(Tensor self) -> Tensor\n  self: grad\n"
    schemas = f"- func: {ONE}\n- func: foreach_f(Tensor self) -> Tensor\n- func: _foreach_f(Tensor[] self) -> Tensor[]\n"
    assert findings(entries, schemas) == ["GS0706 3:9"]


def test_all_of_torchs() -> None:
    torch = find_torch(None)
    ops = compile_files([torch.derivatives], torch.native_functions).program.ops
    foreach = [op for op in ops if op.schema.is_foreach and op.node is not None and op.node.startswith("Foreach")]
    copies = [op for op in ops if op.node is not None and op.node.endswith("_copy")]
    assert len(foreach) == 72  # ten of them have entries of their own
    assert len({op.node for op in ops if op.node}) == 711
    assert {op.schema.name.base.endswith("_copy") for op in copies} == {True}
