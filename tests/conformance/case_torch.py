"""Runs what was emitted for a case on tensors, and prints what is wrong, a line each; in the folder of the case.

A process of its own, since the case's ops become ops of torch.

Usage: case_torch.py ID
"""

from __future__ import annotations

import gc
import inspect
import json
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import torch
from click.testing import CliRunner
from torch import Tensor

ATEN = torch.library.Library("aten", "FRAGMENT")


def define(schema: str, function: Callable[..., Any], key: str = "CompositeExplicitAutograd") -> None:
    """Give torch an op that has no gradient of its own; with CompositeImplicitAutograd, that of its parts."""
    ATEN.define(schema)
    ATEN.impl(schema.partition("(")[0], function, key)


def emitted_module() -> Any:
    """What was emitted into `python`."""
    found = spec_from_file_location("derivatives", Path("python/derivatives.py"))
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def leaf(*values: float) -> Tensor:
    """A tensor that wants a gradient."""
    return torch.tensor(values, dtype=torch.float32, requires_grad=True)


def differ(what: str, found: Sequence[Tensor | None], expected: Sequence[Tensor | None]) -> Iterator[str]:
    """A line where gradients are not the expected ones, in shape, type and value."""
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        if (a is None) != (b is None) or (a is not None and b is not None and (a.dtype != b.dtype or not torch.equal(a, b))):
            yield f"{what}: gradient {i} is {a}, not {b}"


# ------------------------------------------------------------------------------------------------------------------ Python


def lists() -> Iterator[str]:
    """B24: a gradient for each tensor of a list, none where none is wanted, and lists of no tensors."""
    asked: list[int] = []

    def backward(grad: Tensor, ts: list[Tensor]) -> list[Tensor]:
        asked.append(len(ts))
        return [2 * t * grad for t in ts]

    define("pb24(Tensor[] ts, Tensor self) -> Tensor", lambda ts, self: sum((t * t for t in ts), self.clone()))
    define("pb24_backward(Tensor grad, Tensor[] ts) -> Tensor[]", backward)
    module = emitted_module()
    pb24 = module.pb24
    one = torch.ones(1)
    for wanted in ((True, True, True, True), (False, True, False, False), (False, False, False, True), (True,), (False, True)):
        ts = [torch.tensor([3.0 + i]).requires_grad_(want) for i, want in enumerate(wanted[:-1])]
        x = torch.tensor([2.0]).requires_grad_(wanted[-1])
        asked.clear()
        y = pb24(ts, x)
        name = f"a list of {len(ts)}, gradients wanted for {wanted}"
        if y.item() != 2 + sum(t.item() ** 2 for t in ts):
            yield f"{name}: the result is {y}"
        if len(y.grad_fn.next_functions) != len(ts) + 1:
            yield f"{name}: the node has {len(y.grad_fn.next_functions)} inputs"
        y.backward(one)
        expected = [2 * t.detach() if want else None for t, want in zip(ts, wanted, strict=False)]
        yield from differ(name, [*(t.grad for t in ts), x.grad], [*expected, one if wanted[-1] else None])
        if asked != ([len(ts)] if any(wanted[:-1]) else []):
            yield f"{name}: the gradient of the list was computed {len(asked)} times"
    returned = module.Pb24Backward0.backward(pb24([leaf(3), leaf(4), leaf(5)], leaf(2)).grad_fn, one)
    if len(returned) != 4:
        yield f"backward returns {len(returned)} gradients, not 3 + 1"
    yield from differ("backward", sorted(returned), [one, 6 * one, 8 * one, 10 * one])


def overloads() -> Iterator[str]:
    """B29: a number and a tensor, each with its overload; which gradients are computed is asked of ctx, whatever hooks unpack."""
    define("py29.Tensor(Tensor self, Tensor other) -> Tensor", torch.mul)
    define("py29.Scalar(Tensor self, Scalar other) -> Tensor", torch.mul)
    module = emitted_module()
    for hooked in (False, True):
        for function, other in ((module.py29_Scalar, 3), (module.py29_Scalar, 2.5), (module.py29_Tensor, torch.tensor([3.0]))):
            x = leaf(2)
            product = _with_hooks(function, x, other) if hooked else function(x, other)
            product.backward()
            name = f"{function.__name__}{' with hooks' if hooked else ''}"
            yield from differ(name, [x.grad], [torch.ones(1) * other])
        for wanted in ((True, True), (True, False), (False, True)):
            x, y = (torch.tensor([v]).requires_grad_(want) for v, want in zip((2.0, 5.0), wanted, strict=True))
            product = _with_hooks(module.py29_Tensor, x, y) if hooked else module.py29_Tensor(x, y)
            product.backward()
            expected = [torch.tensor([v]) if want else None for v, want in zip((5.0, 2.0), wanted, strict=True)]
            yield from differ(f"py29_Tensor, gradients wanted for {wanted}, hooks: {hooked}", [x.grad, y.grad], expected)
    for function, other in ((module.py29_Tensor, 3), (module.py29_Scalar, torch.ones(1, 2))):
        try:
            yield f"{function.__name__} takes {other!r}: {function(leaf(2), other)}"
        except RuntimeError as error:
            if "Expected a value of type" not in str(error):
                yield f"{function.__name__} of {other!r}: {error}"


def _with_hooks(function: Callable[..., Tensor], *arguments: Any) -> Tensor:
    """The call with all that it keeps unpacked as a fresh tensor without history."""
    with torch.autograd.graph.saved_tensors_hooks(lambda kept: kept.clone(), lambda packed: packed.detach().clone()):
        return function(*arguments)


def broadcast() -> Iterator[str]:
    """B32: gradients in the shape and type of their inputs."""
    define("nu32(Tensor self, Tensor other) -> Tensor", torch.mul)
    nu32 = emitted_module().nu32
    shapes = (((2, 3), (3,)), ((3, 1), (1, 4)), ((), (2, 3)), ((2, 1, 3), (4, 1)), ((2, 3), (2, 3)), ((0, 3), (1, 3)))
    types = ((torch.float32, torch.float32), (torch.float32, torch.float64), (torch.float64, torch.bfloat16))
    for shape, other_shape in shapes:
        for type_, other_type in types:
            x = torch.ones(shape, dtype=type_, requires_grad=True)
            y = torch.ones(other_shape, dtype=other_type, requires_grad=True)
            result = nu32(x, y)
            # Of ones, a gradient is how often its element was used.
            counts = [torch.ones_like(t) * (result.numel() // max(t.numel(), 1)) for t in (x, y)]
            result.backward(torch.ones_like(result))
            name = f"{shape} of {type_} times {other_shape} of {other_type}"
            yield from differ(name, [x.grad, y.grad], counts)
            pulled = torch.func.vjp(nu32, x.detach(), y.detach())[1](torch.ones_like(result))
            yield from differ(f"{name}, by torch.func.vjp", pulled, counts)


def saved_output() -> Iterator[str]:
    """B16: a node that keeps its output goes with the output."""
    define("sb16(Tensor self) -> Tensor", torch.exp)
    gc.disable()
    x = leaf(0, 1)
    y = emitted_module().sb16(x)
    node = weakref.ref(y.grad_fn)
    if not any(kept is y or torch.equal(kept, y) for kept in y.grad_fn.saved_tensors):
        yield f"of {y} the node keeps {y.grad_fn.saved_tensors}"
    y.sum().backward()
    yield from differ("exp", [x.grad], [y.detach()])
    del y
    if node() is not None:
        yield "the node keeps its own output, so that only the cycle collector frees them"


def undefined() -> Iterator[str]:
    """B21: an output that nothing came back from adds nothing."""
    define("cb21(Tensor self) -> (Tensor a, Tensor b)", lambda self: (self * 2, self * 3))
    cb21 = emitted_module().cb21
    for used, expected in (((0,), 2.0), ((1,), 3.0), ((0, 1), 5.0)):
        x = leaf(1, 1)
        outputs = cb21(x)
        try:
            torch.autograd.backward([outputs[i] for i in used], [torch.ones(2) for _ in used])
        except TypeError as error:
            yield f"with a gradient for {used} alone: {error}"
            continue
        yield from differ(f"with a gradient for {used} alone", [x.grad], [torch.full((2,), expected)])


def precedence() -> Iterator[str]:
    """F19: Python computes what the formula says."""
    define("foo(Tensor self, Tensor other) -> Tensor", torch.add)
    for shape in ((), (1,), (1, 1)):
        x, y = (torch.full(shape, v, dtype=torch.float64, requires_grad=True) for v in (2.0, 3.0))
        grad = torch.full(shape, 10.0, dtype=torch.float64)
        emitted_module().foo(x, y).backward(grad)
        expected = torch.full(shape, 10 - (2.0 - 3) - (2.0 / (3 * 2)), dtype=torch.float64)
        yield from differ(f"of shape {shape}", [x.grad, y.grad], [expected, grad])


def whole_numbers() -> Iterator[str]:
    """F20: a half of whole numbers is nothing, and a remainder is one."""
    define("foo(Tensor self, Tensor other) -> Tensor", torch.add)
    x, y = leaf(2), leaf(3)
    emitted_module().foo(x, y).backward(torch.tensor([10.0]))
    yield from differ("1 / 2 and 7 % 4", [x.grad, y.grad], [torch.tensor([0.0]), torch.tensor([30.0])])


def keywords() -> Iterator[str]:
    """N02: parameters that Python can have, in their order."""
    # torch itself has no argument called None; Python calls the op by position.
    define("kp(Tensor self, Tensor from, Tensor lambda, bool none) -> Tensor", lambda a, b, c, _: a + b + c)
    kp = emitted_module().kp
    if list(inspect.signature(kp).parameters) != ["self", "from_", "lambda_", "None_"]:
        yield f"the parameters are {inspect.signature(kp)}"
    x, y, z = leaf(2), leaf(3), leaf(5)
    kp(x, from_=y, lambda_=z, None_=True).backward()
    yield from differ("kp", [x.grad, y.grad, z.grad], [y.detach(), z.detach(), y.detach()])


# ---------------------------------------------------------------------------------------------------------------- checker


def special_points() -> Iterator[str]:
    """B34: the quotient is caught at zeros and nowhere else among the reals; the product of the others passes."""

    def backward(grad: Tensor, self: Tensor) -> Tensor:
        """Of each element, the product of all others."""
        flat = self.reshape(-1)
        others = torch.where(torch.eye(flat.numel(), dtype=torch.bool), torch.ones_like(flat), flat).prod(1)
        return grad * others.conj().reshape(self.shape)

    define("nu34(Tensor self) -> Tensor", lambda self: self.prod(), "CompositeImplicitAutograd")
    define("nu34_backward(Tensor grad, Tensor self) -> Tensor", backward, "CompositeImplicitAutograd")
    failures = _checked(1)
    wrong = _gradient(2, 0, 3)
    if not wrong.isnan().any():
        yield f"the quotient's gradient at a zero is {wrong}, so that there is nothing to find"
    special = [f for f in failures if f["check"] == "torch at special points"]
    if [f["error"] for f in special] not in ([None], [1e308]):
        yield f"at special points the checker finds {special}, and no NaN"
    # Of complex numbers the formula lacks a conjugate.
    if others := [f for f in failures if f not in special and "complex" not in f["input"]]:
        yield f"of real numbers the checker says {others}"
    spec, operators = Path("derivatives.yaml"), Path("native_functions.yaml")
    operators.write_text(operators.read_text() + "- func: nu34_backward(Tensor grad, Tensor self) -> Tensor\n")
    spec.write_text(spec.read_text().replace("grad * result / self", "nu34_backward(grad, self)"))
    if failures := _checked(0):
        yield f"of the right formula the checker says {failures}"
    yield from differ("the right formula", [_gradient(2, 0, 3)], [torch.tensor([0.0, 6.0, 0.0])])


def _gradient(*values: float) -> Tensor:
    """The gradient that the emitted function gives."""
    _gradspec(0, "emit", "-b", "python", "-o", "python")
    x = leaf(*values)
    emitted_module().nu34(x).backward()
    return x.grad


def _checked(exit_code: int) -> list[dict[str, Any]]:
    """What the checker finds wrong with the only op of the spec.

    Raises:
        SystemExit: it ends otherwise, or checked nothing.
    """
    (report,) = json.loads(_gradspec(exit_code, "gradcheck", "--format", "json"))["ops"]
    if not report["calls"]:
        raise SystemExit(f"gradcheck checked nothing: {report['skipped']}")
    failures: list[dict[str, Any]] = report["failures"]
    return failures


def _gradspec(exit_code: int, command: str, *more: str) -> str:
    """A command in this process, whose torch has the op."""
    from gradspec.cli import cli

    done = CliRunner().invoke(cli, [command, "derivatives.yaml", "--schemas", "native_functions.yaml", *more])
    if done.exit_code != exit_code:
        raise SystemExit(f"{command} ends with {done.exit_code}, not {exit_code}: {done.output[-600:]} {done.exception!r}")
    return done.stdout


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "B16": saved_output, "B21": undefined, "B24": lists, "B29": overloads, "B32": broadcast, "B34": special_points,
    "F19": precedence, "F20": whole_numbers, "N02": keywords,
}  # fmt: skip


if __name__ == "__main__":
    for problem in CHECKS[sys.argv[1]]():
        print(" ".join(problem.split()))
