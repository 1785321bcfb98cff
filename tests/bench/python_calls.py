"""`python-calls: ratio (1.1)`: forward and backward of emitted functions against the ones that a person writes, per call.

Small tensors, so that what is measured is what Python does. The hand-written ones can do what the emitted ones can: second order,
`torch.func` and its vmap, gradients of some inputs alone. Their formulas are for real numbers and rows alone, as a person would
write them who needs no more. The figure is the worst of the ratios; each side's time is the best of many rounds that alternate.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from attrs import frozen
from measure import conclude, gradspec_command

BOUND = 1.1
ROUNDS = 600
CALLS = 40

Run = Callable[[], Any]


class Mul(torch.autograd.Function):  # type: ignore[misc]
    """a * b."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a * b

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        a, b = inputs
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        a, b = ctx.saved_tensors
        return (
            grad * b if ctx.needs_input_grad[0] else None,
            grad * a if ctx.needs_input_grad[1] else None,
        )

    @staticmethod
    def jvp(ctx: Any, a_t: Any, b_t: Any) -> torch.Tensor:
        a, b = ctx.saved_tensors
        return a_t * b + a * b_t


class Addmm(torch.autograd.Function):  # type: ignore[misc]
    """beta * c + alpha * (a @ b)."""

    generate_vmap_rule = True

    @staticmethod
    def forward(c: torch.Tensor, a: torch.Tensor, b: torch.Tensor, beta: float, alpha: float) -> torch.Tensor:
        return torch.addmm(c, a, b, beta=beta, alpha=alpha)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, a, b, ctx.beta, ctx.alpha = inputs
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        a, b = ctx.saved_tensors
        scaled = grad if ctx.alpha == 1 else grad * ctx.alpha
        return (
            (grad if ctx.beta == 1 else grad * ctx.beta) if ctx.needs_input_grad[0] else None,
            scaled @ b.t() if ctx.needs_input_grad[1] else None,
            a.t() @ scaled if ctx.needs_input_grad[2] else None,
            None,
            None,
        )

    @staticmethod
    def jvp(ctx: Any, c_t: Any, a_t: Any, b_t: Any, *_: Any) -> torch.Tensor:
        a, b = ctx.saved_tensors
        return ctx.beta * c_t + ctx.alpha * (a_t @ b + a @ b_t)


class LayerNorm(torch.autograd.Function):  # type: ignore[misc]
    """Rows at mean 0 and variance 1, weighted and moved."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor, shape: list[int], weight: torch.Tensor, bias: torch.Tensor, eps: float) -> Any:
        return torch.native_layer_norm(x, shape, weight, bias, eps)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, ctx.shape, weight, bias, _ = inputs
        _, mean, rstd = output
        ctx.mark_non_differentiable(mean, rstd)
        ctx.save_for_backward(x, mean, rstd, weight, bias)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor, *_: Any) -> Any:
        x, mean, rstd, weight, bias = ctx.saved_tensors
        needed = ctx.needs_input_grad
        mask = [needed[0], needed[2], needed[3]]
        grads = torch.ops.aten.native_layer_norm_backward(grad, x, ctx.shape, mean, rstd, weight, bias, mask)
        return grads[0], None, grads[1], grads[2], None


@frozen
class Pair:
    """An emitted function and a hand-written one, called with the same arguments."""

    name: str
    emitted: Run
    written: Run


def emitted_module(folder: str) -> Any:
    """What `gradspec emit --torch -b python` writes, imported."""
    command = gradspec_command("emit", "--torch", "-b", "python", "-O", "skip=true", "-o", folder)
    subprocess.run(command, check=True, capture_output=True)
    (path,) = Path(folder).glob("*.py")
    sys.path.insert(0, folder)
    return import_module(path.stem)


def pairs(module: Any) -> list[Pair]:
    """The pairs that the emitted module has; says which ones it lacks."""

    def leaf(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, requires_grad=True)

    a, b, c = (leaf(16, 16) for _ in range(3))
    weight, bias = leaf(16), leaf(16)
    table: list[tuple[str, str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
        ("mul", "mul_Tensor", Mul.apply, (a, b), (a, b)),
        ("addmm", "addmm", Addmm.apply, (c, a, b), (c, a, b, 1, 1)),
        ("layer_norm", "native_layer_norm", LayerNorm.apply, (a, [16], weight, bias, 1e-5), (a, [16], weight, bias, 1e-5)),
    ]
    found = []
    for name, function, written, ours, theirs in table:
        emitted = getattr(module, function, None)
        if emitted is None:
            print(f"{name}: {function} cannot be lowered to Python, and is not measured")
            continue
        leaves = [t for t in ours if isinstance(t, torch.Tensor)]
        found.append(Pair(name, _there_and_back(emitted, ours, leaves), _there_and_back(written, theirs, leaves)))
    return found


def _there_and_back(function: Callable[..., Any], arguments: tuple[Any, ...], leaves: list[torch.Tensor]) -> Run:
    cotangent = torch.linspace(-1, 1, 256).reshape(16, 16)

    def run() -> Any:
        result = function(*arguments)
        return torch.autograd.grad(result[0] if isinstance(result, tuple) else result, leaves, cotangent)

    return run


def best(runs: tuple[Run, ...]) -> list[float]:
    """The microseconds of a call of each: the best of rounds that alternate."""
    least = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for i, run in enumerate(runs):
            start = time.perf_counter()
            for _ in range(CALLS):
                run()
            least[i] = min(least[i], (time.perf_counter() - start) / CALLS)
    return [s * 1e6 for s in least]


def main() -> None:
    """Measure and conclude."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        found = pairs(emitted_module(folder))
    worst = 0.0
    for pair in found:
        for ours, theirs in zip(pair.emitted(), pair.written(), strict=True):
            torch.testing.assert_close(ours, theirs)
        emitted, written = best((pair.emitted, pair.written))
        worst = max(worst, emitted / written)
        print(f"{pair.name:<12} emitted {emitted:6.1f} us  written by hand {written:6.1f} us  {emitted / written:.3f}")
    if not found:
        raise SystemExit("nothing could be measured")
    conclude("python-calls", worst, BOUND)


if __name__ == "__main__":
    main()
