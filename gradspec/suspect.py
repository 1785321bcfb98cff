"""What looks like a wrong derivative though it compiles: gradients and tangents unread, products of them, digits dropped.

It reads the tree alone: a function of which nothing is known here may do anything, and is in doubt taken to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import Factory, define

from gradspec import ir
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.types import is_tensor_list
from gradspec.written import Written, written_formulas


def check_suspects(specs: Iterable[s.Spec], ops: Iterable[ir.Op], diagnostics: Diagnostics) -> None:
    """Warn of formulas of right specs that can hardly be meant."""
    for op, formulas in written_formulas(specs, ops):
        _check_gradients_read(op, [w for w in formulas if w.is_vjp], diagnostics)
        _check_tangents_read(op, diagnostics)
        for written in formulas:
            _check_linear(written, diagnostics)
            _check_divisions(written, diagnostics)


# ------------------------------------------------------------------------------------------------------------------ unread


def _check_gradients_read(op: ir.Op, vjps: Sequence[Written], diagnostics: Diagnostics) -> None:
    """Warn of an output whose gradient goes nowhere, though the op is differentiable in it and those of others are read."""
    parts = [e for written in vjps for e in ir.walk(written.expr)]
    read = {e.index for e in parts if isinstance(e, ir.Cotangent)}
    if not read or any(isinstance(e, ir.Cotangents) for e in parts):
        return
    outputs = [o for o in op.outputs if o.differentiable]
    for index, output in enumerate(outputs):
        if index in read:
            continue
        message = f"no formula of `{op.name}` reads the gradient of `{output.name}`, which is differentiable"
        help_ = "a loss over it would be without effect; if that is right, let `output_differentiability` say False for it"
        diagnostics.add("GS0515", message, op.span, help=help_)


def _check_tangents_read(op: ir.Op, diagnostics: Diagnostics) -> None:
    """Warn of an input that has a gradient, and a tangent that no forward formula reads."""
    parts = [e for jvp in op.jvps for e in ir.walk(jvp.formula)]
    if not parts or any(isinstance(e, ir.Input) and is_tensor_list(e.type) for e in parts):
        return
    read = {e.input for e in parts if isinstance(e, ir.Tangent)} | {name for jvp in op.jvps for name in jvp.tangents}
    for info in op.differentiable_inputs:
        if info.name in read or is_tensor_list(info.type) or not read:
            continue
        if all(_is_zero(d.written) for d in op.derivatives if info.name in d.inputs):
            continue
        message = f"no forward formula of `{op.name}` reads `{info.name}_t`, and `{info.name}` has a gradient"
        help_ = f"add the part of the tangent that comes from `{info.name}`"
        diagnostics.add("GS0606", message, op.span, help=help_)


_ZERO = ("zeros_like", "zeros", "Tensor", "not_implemented", "not_implemented_list")


def _is_zero(expr: ir.Expr) -> bool:
    """Whether a formula gives no gradient: zeros, an undefined tensor, or an error."""
    match expr:
        case ir.Call(function) | ir.Construct(ir.TypeRef(function)):
            return function.rpartition("::")[2].removesuffix("_symint") in _ZERO
        case ir.Method(name=name):
            return name.removesuffix("_symint") == "new_zeros"
        case ir.Conditional(_, then, other):
            return _is_zero(then) and _is_zero(other)
        case _:
            return False


# ------------------------------------------------------------------------------------------------------------------ linear

# Methods and functions that are linear in what comes first.
_LINEAR = frozenset(
    """
    conj contiguous clone cumsum diagonal expand expand_as flatten flip gather imag index_select masked_fill mean movedim mT mH
    narrow neg permute real repeat reshape reshape_as roll rot90 select squeeze sum sum_to_size t transpose tril triu unfold
    unsqueeze view view_as
    """.split()
)
_PRODUCTS = frozenset("mul matmul mm bmm mv dot outer ger cross".split())
_CURVED = frozenset(
    "cos cosh erf exp exp2 expm1 lgamma log log10 log1p log2 pow reciprocal rsqrt sigmoid sin sinh sqrt square tan tanh".split()
)


def _check_linear(written: Written, diagnostics: Diagnostics) -> None:
    what = "the gradients of the outputs" if written.is_vjp else "the tangents of the inputs"
    code, whole = ("GS0516", "a gradient") if written.is_vjp else ("GS0607", "a tangent")

    def report(expr: ir.Expr, why: str) -> None:
        message = f"{whole} is a linear function of {what}: {why}"
        diagnostics.add(
            code, message, written.place(expr), help="the values of inputs and outputs are what they are multiplied by"
        )

    _Degrees(report).of(written.expr)


@define
class _Degrees:
    """How a value depends on gradients or tangents: 0 not at all, 1 as a multiple of them, None where that is not known."""

    report: Callable[[ir.Expr, str], None]
    _known: dict[int, int | None] = Factory(dict)

    def of(self, expr: ir.Expr) -> int | None:
        if id(expr) not in self._known:
            self._known[id(expr)] = self._degree(expr)
        return self._known[id(expr)]

    def _degree(self, expr: ir.Expr) -> int | None:
        match expr:
            case ir.Cotangent() | ir.Tangent():
                return 1
            case ir.Input(type=type_):
                # A list of tensors carries its tangents along.
                return None if is_tensor_list(type_) else 0
            case ir.Cotangents():
                return None
            case ir.Number(text):
                return None if text.strip("0.") == "" else 0
            case ir.Binary(op, left, right):
                return self._binary(expr, op, left, right)
            case ir.Unary(operand=operand):
                return self.of(operand)
            case ir.Conditional(test, then, other):
                self.of(test)
                first, second = self.of(then), self.of(other)
                return first if first == second else None
            case ir.Method(receiver, name, args):
                return self._applied(expr, name, (receiver, *args))
            case ir.Call(function, args):
                library, _, name = function.rpartition("::")
                return self._applied(expr, name if library in ("at", "torch") else "", args)
            case _:
                parts = [self.of(c) for c in ir.children(expr)]
                return 0 if all(d == 0 for d in parts) and not isinstance(expr, ir.Construct) else None

    def _binary(self, expr: ir.Expr, op: str, left: ir.Expr, right: ir.Expr) -> int | None:
        a, b = self.of(left), self.of(right)
        match op:
            case "*":
                return self._product(expr, a, b)
            case "/":
                return self._quotient(expr, a, b)
            case "+" | "-":
                return self._sum(expr, a, b)
        return 0 if a == b == 0 else None

    def _product(self, expr: ir.Expr, a: int | None, b: int | None) -> int | None:
        if a == b == 1:
            self.report(expr, "this multiplies two of them")
            return None
        return None if a is None or b is None else a + b

    def _quotient(self, expr: ir.Expr, a: int | None, b: int | None) -> int | None:
        if b == 1:
            self.report(expr, "this divides by one of them")
            return None
        return a if b == 0 else None

    def _sum(self, expr: ir.Expr, a: int | None, b: int | None) -> int | None:
        if {a, b} == {0, 1}:
            self.report(expr, "a term of this sum reads none of them")
            return None
        return a if a == b else None

    def _applied(self, expr: ir.Expr, name: str, args: Sequence[ir.Expr]) -> int | None:
        degrees = [self.of(a) for a in args]
        if not degrees:
            return None
        first, rest = degrees[0], degrees[1:]
        if name in _PRODUCTS and len(rest) == 1:
            return self._product(expr, first, rest[0])
        if name in ("div", "true_divide") and rest:
            return self._quotient(expr, first, rest[0])
        if name in ("add", "sub") and rest:
            return self._sum(expr, first, rest[0])
        if name in _CURVED and first == 1:
            self.report(expr, f"`{name}` is not linear")
            return None
        if any(d != 0 for d in rest):
            return None
        if name in _LINEAR or first == 0 and name in _CURVED:
            return first
        # What is made of no gradient may still be zero.
        return 0 if first == 0 and name.startswith("ones") else None


# ---------------------------------------------------------------------------------------------------------------- divisions


def _check_divisions(written: Written, diagnostics: Diagnostics) -> None:
    for expr in ir.walk(written.expr):
        if not isinstance(expr, ir.Binary) or expr.op != "/":
            continue
        a, b = _whole(expr.left), _whole(expr.right)
        if a is None or not b or a % b == 0:
            continue
        message = f"C++ divides whole numbers without the rest: this is {_quotient(a, b)}"
        diagnostics.add("GS0408", message, written.place(expr), help="write one of them as a fraction: `1.0 / 2`")


def _whole(expr: ir.Expr) -> int | None:
    """The value of a whole number, or of what is computed from whole numbers alone."""
    match expr:
        case ir.Number(text):
            try:
                return int(text.replace("'", ""), 10)
            except ValueError:
                return None
        case ir.Unary("-", operand):
            value = _whole(operand)
            return None if value is None else -value
        case ir.Binary(op, left, right):
            a, b = _whole(left), _whole(right)
            if a is None or b is None:
                return None
            match op:
                case "+":
                    return a + b
                case "-":
                    return a - b
                case "*":
                    return a * b
                case "/":
                    return _quotient(a, b) if b else None
    return None


def _quotient(a: int, b: int) -> int:
    """Rounded to zero, as C++ does."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
