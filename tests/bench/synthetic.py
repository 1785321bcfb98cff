"""Synthetic specs for the benches: YAML pairs of any size; knows no backend and measures nothing.

The formulas are made to look like real ones: products, a helper call, a property, a conditional, several inputs.
"""

from __future__ import annotations

from pathlib import Path

# One op of each kind, in turn: (schema, rules). `{n}` is the op's number.
KINDS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "syn{n}_mul(Tensor self, Tensor other) -> Tensor",
        (("self", "grad * other.conj()"), ("other", "grad * self.conj()"), ("result", "other_t * self_p + self_t * other_p")),
    ),
    ("syn{n}_exp(Tensor self) -> Tensor", (("self", "grad * result.conj()"), ("result", "auto_element_wise"))),
    (
        "syn{n}_sum(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
        (("self", "sum_backward(grad, self.sym_sizes(), dim, keepdim)"), ("result", "auto_linear")),
    ),
    (
        "syn{n}_lin(Tensor input, Tensor weight, Tensor? bias=None, *, float eps=1e-05) -> Tensor",
        (
            ("input, weight", "std::make_tuple(grad_input_mask[0] ? grad.mm(weight) : Tensor(), grad.t().mm(input))"),
            ("bias", "grad.sum(0) * eps"),
        ),
    ),
    (
        "syn{n}_pick(Tensor self, Scalar threshold, int k) -> (Tensor values, Tensor indices)",
        (
            ("output_differentiability", "[True, False]"),
            ("self", "k > 0 ? at::where(self > threshold, grad, at::scalar_tensor(0., grad.options())) : grad / self.numel()"),
        ),
    ),
)


def write_many(folder: Path, count: int) -> tuple[Path, Path, Path]:
    """Write a pair of `count` entries, and its tags; the paths in the order derivatives, native functions, tags."""
    entries: list[str] = []
    functions: list[str] = []
    for n in range(count):
        schema, rules = KINDS[n % len(KINDS)]
        schema = schema.format(n=n)
        functions.append(f"- func: {schema}\n  variants: function\n")
        entries.append(f"- name: {schema}\n" + "".join(f"  {key}: {_quoted(key, value)}\n" for key, value in rules))
    return _write(folder, entries, functions)


def write_wide(folder: Path, inputs: int, outputs: int) -> tuple[Path, Path, Path]:
    """Write a pair of one entry with many inputs, each with its formula, and many outputs."""
    names = [f"in{i}" for i in range(inputs)]
    arguments = ", ".join(f"Tensor {name}" for name in names)
    returns = ", ".join(f"Tensor out{i}" for i in range(outputs))
    schema = f"syn_wide({arguments}) -> ({returns})"
    rules = []
    for i, name in enumerate(names):
        near, far = names[(i + 1) % inputs], names[(i + 7) % inputs]
        first, second = i % outputs, (i + 1) % outputs
        rules.append(f"  {name}: grads[{first}] * {near} + grads[{second}] * {far}.sym_size(0)\n")
    return _write(folder, [f"- name: {schema}\n" + "".join(rules)], [f"- func: {schema}\n  variants: function\n"])


def _quoted(key: str, value: str) -> str:
    return value if key == "output_differentiability" or ": " not in value else f'"{value}"'


def _write(folder: Path, entries: list[str], functions: list[str]) -> tuple[Path, Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    derivatives, native, tags = folder / "derivatives.yaml", folder / "native_functions.yaml", folder / "tags.yaml"
    derivatives.write_text("".join(entries), encoding="utf-8")
    native.write_text("".join(functions), encoding="utf-8")
    tags.write_text("- tag: core\n  desc: one\n", encoding="utf-8")
    return derivatives, native, tags
