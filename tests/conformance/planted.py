"""Wrong derivatives, planted one at a time: how many the gradient checker catches."""

from __future__ import annotations

import sys

from attrs import evolve, frozen

from gradspec.diagnostics import Diagnostics
from gradspec.gradcheck.run import check_program
from gradspec.load import find_torch, load_source
from gradspec.pipeline import compile_sources
from gradspec.source import Source

# What must be caught at least.
FLOOR = 24


@frozen
class Plant:
    """A schema with rules of which one is wrong, and what is wrong about it."""

    what: str
    schema: str
    rules: str


UNARY = "(Tensor self) -> Tensor"
ALPHA = "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
BINARY = "(Tensor self, Tensor other) -> Tensor"
PLANTS = [
    Plant("conj left out", f"mul.Tensor{BINARY}", "self: grad * other; other: grad * self.conj();"),
    Plant("conj left out", f"exp{UNARY}", "self: grad * result;"),
    Plant("conj too many", f"sin{UNARY}", "self: grad.conj() * self.cos().conj();"),
    Plant("conj left out", "mm(Tensor self, Tensor mat2) -> Tensor", "self: grad.mm(mat2.t()); mat2: self.t().conj().mm(grad);"),
    Plant(
        "conj left out of the divisor",
        f"div.Tensor{BINARY}",
        "self: grad / other; other: -grad * (self / (other * other)).conj();",
    ),
    Plant(
        "transposed", "mm(Tensor self, Tensor mat2) -> Tensor", "self: mat2.conj().mm(grad.t()); mat2: self.t().conj().mm(grad);"
    ),
    Plant("not transposed", "mv(Tensor self, Tensor vec) -> Tensor", "self: grad.outer(vec.conj()); vec: self.conj().mv(grad);"),
    Plant(
        "sides swapped",
        "bmm(Tensor self, Tensor mat2) -> Tensor",
        "self: grad.bmm(mat2.transpose(1, 2).conj()); mat2: grad.transpose(1, 2).conj().bmm(self).transpose(1, 2);",
    ),
    Plant(
        "factor", "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", "self: grad * self.pow(exponent.toDouble() - 1);"
    ),
    Plant("sign", f"sub.Tensor{ALPHA}", "self: grad; other: maybe_multiply(grad, alpha.conj());"),
    Plant("alpha forgotten", f"add.Tensor{ALPHA}", "self: grad; other: grad;"),
    Plant("half", f"sqrt{UNARY}", "self: grad / result.conj();"),
    Plant("constant", f"log10{UNARY}", "self: grad / self.conj();"),
    Plant(
        "mask turned around",
        "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
        "condition: non_differentiable; self: at::where(condition, 0, grad); other: at::where(condition, grad, 0);",
    ),
    Plant("mask left out", f"relu{UNARY}", "self: grad;"),
    Plant(
        "boundary",
        "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
        "self: at::where(self >= threshold, grad, 0);",
    ),
    Plant("boundary at 0", f"relu{UNARY}", "self: at::where(self >= 0, grad, 0);"),
    Plant(
        "tie goes to one",
        f"maximum{BINARY}",
        "self: at::where(self >= other, grad, 0); other: at::where(self >= other, 0, grad);",
    ),
    Plant("absolute value at 0", f"abs{UNARY}", "self: at::where(self >= 0, grad, -grad);"),
    Plant("second order only", f"exp{UNARY}", "self: grad * result.conj().detach();"),
    Plant("second order only", f"tanh{UNARY}", "self: grad * (1 - result * result).conj().detach();"),
    Plant("tangent only: factor", f"exp{UNARY}", "self: grad * result.conj(); result: 2 * self_t * result;"),
    Plant(
        "tangent only: conj",
        f"mul.Tensor{BINARY}",
        "self: grad * other.conj(); other: grad * self.conj(); result: self_t * other_p.conj() + other_t * self_p;",
    ),
    Plant(
        "tangent only: half of it",
        f"mul.Tensor{BINARY}",
        "self: grad * other.conj(); other: grad * self.conj(); result: self_t * other_p;",
    ),
    Plant(
        "inputs swapped",
        "atan2(Tensor self, Tensor other) -> Tensor",
        "self: grad * -self / (self * self + other * other); other: grad * other / (self * self + other * other);",
    ),
]


# The same rules without the fault, so that a checker which refuses everything is caught.
RIGHT = [
    Plant(
        "right",
        f"mul.Tensor{BINARY}",
        "self: mul_tensor_backward(grad, other, self.scalar_type());"
        " other: mul_tensor_backward(grad, self, other.scalar_type());"
        " result: self_t * other_p + other_t * self_p;",
    ),
    Plant("right", f"exp{UNARY}", "self: grad * result.conj(); result: auto_element_wise;"),
    Plant("right", f"relu{UNARY}", "self: at::where(result > 0, grad, 0);"),
    Plant("right", "mm(Tensor self, Tensor mat2) -> Tensor", "self: grad.mm(mat2.t().conj()); mat2: self.t().conj().mm(grad);"),
]


def faults(plant: Plant, native: Source) -> list[str]:
    """The checks that fail for a plant.

    Raises:
        SystemExit: nothing was checked.
    """
    text = f"op {plant.schema} {{ {plant.rules} }}\n"
    program = compile_sources([Source("planted.grad", text)], native, helpers="prelude").program
    # What is derived of the op, such as its foreach form, is not asked for.
    (report,) = check_program(evolve(program, ops=program.ops[:1]), 0)
    if report.skipped:
        raise SystemExit(f"{plant.schema}: {report.skipped}")
    return [failure.outcome.check for failure in report.failures]


def main() -> None:
    """Check every plant, and the right ones."""
    native = load_source(find_torch(None).native_functions, Diagnostics())
    assert native is not None
    caught = 0
    for plant in PLANTS:
        found = faults(plant, native)
        caught += bool(found)
        print(f"{'caught' if found else 'MISSED'}: {plant.what}, {plant.schema.partition('(')[0]}: {', '.join(found)}")
    alarms = [(p.schema, found) for p in RIGHT if (found := faults(p, native))]
    for schema, found in alarms:
        print(f"false alarm: {schema}: {', '.join(found)}", file=sys.stdout)
    print(f"planted: {caught}/{len(PLANTS)}")
    raise SystemExit(0 if caught >= FLOOR and not alarms else 1)


if __name__ == "__main__":
    main()
