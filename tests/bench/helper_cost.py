"""`helper-cost: ratio (1.05)`: emitted nodes that call helpers written in the language, against PyTorch's own nodes, per call.

Both nodes keep the same values and are called from Python with the same gradients, in turn, in one process and one thread.
Measured are the ten helpers that most nodes call, on 10 elements and on a million. Each side's time is the best of its rounds.
The figure is the geometric mean over helpers and sizes, of which the lines above it show each: on 10 elements a good part of a
call is what a node does before and after its formulas, which the lines of nodes that call no helper show.
"""

from __future__ import annotations

import ctypes
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from attrs import frozen
from measure import CHECKOUT, conclude

from gradspec import ir
from gradspec.load import find_torch
from gradspec.pipeline import compile_files

BOUND = 1.05
HELPERS = 10
SMALL, LARGE = 10, 1_000_000
# Rounds and calls of a round, by the number of elements.
ROUNDS = {SMALL: (400, 40), LARGE: (60, 1)}

# Nodes that call no helper show what a node itself costs; they do not count.
NONE = "no helper"

Node = Any


@frozen
class Case:
    """A way to a node that calls a helper: `record` gives what has it as `grad_fn`, for a number of elements."""

    helper: str
    name: str
    record: Callable[[int], torch.Tensor]
    sparse: bool = False


def leaf(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Positive numbers, so that they can be divided by and raised to powers."""
    numbers = torch.rand(*shape) + 0.5
    return numbers.to(dtype).requires_grad_()


def second(output: torch.Tensor, leaf_: torch.Tensor) -> torch.Tensor:
    """The gradient, with its own history."""
    gradient: torch.Tensor = torch.autograd.grad(output, leaf_, torch.rand_like(output).requires_grad_(), create_graph=True)[0]
    return gradient


def pooled(n: int) -> torch.Tensor:
    """The gradient of a max pool."""
    x = leaf(1, 1, n // 5, 5)
    return second(torch.nn.functional.max_pool2d_with_indices(x, (2, 1))[0], x)


def normalized(n: int) -> torch.Tensor:
    """The gradient of a batch norm."""
    x = leaf(n // 2, 2)
    return second(torch.native_batch_norm(x, leaf(2), leaf(2), None, None, True, 0.1, 1e-5)[0], x)


CASES = (
    Case("handle_r_to_c", "real", lambda n: leaf(n) + leaf(n)),
    Case("handle_r_to_c", "complex", lambda n: leaf(n) + leaf(n, dtype=torch.complex64)),
    Case("maybe_multiply", "by 1", lambda n: torch.sub(leaf(n), leaf(n))),
    Case("maybe_multiply", "by 3", lambda n: torch.add(leaf(n), leaf(n), alpha=3)),
    Case("unsqueeze_to", "all", lambda n: leaf(1, n, 1).squeeze()),
    Case("unsqueeze_to", "one", lambda n: leaf(n, 1).squeeze(1)),
    Case("div_tensor_self_backward", "number", lambda n: leaf(n) / 3),
    Case("div_tensor_self_backward", "tensor", lambda n: leaf(n) / leaf(n).detach()),
    Case("max_pool_double_backward", "2d", pooled),
    Case("norm_backward", "2", lambda n: torch.ops.aten.norm.Scalar(leaf(n), 2)),
    Case("norm_backward", "3, rows", lambda n: torch.ops.aten.norm.ScalarOpt_dim(leaf(n // 5, 5), 3, [1])),
    Case("norm_backward", "distance", lambda n: torch.dist(leaf(n), leaf(n) + 1)),
    Case("mul_tensor_backward", "number", lambda n: torch.ops.aten.mul.Scalar(leaf(n), 3)),
    Case("mul_tensor_backward", "tensor", lambda n: leaf(n) * leaf(n)),
    Case("to_sparse_backward", "COO", lambda n: leaf(n).to_sparse(), sparse=True),
    Case("evenly_distribute_backward", "max", lambda n: leaf(n).max()),
    Case("mm_mat2_backward", "rows", lambda n: torch.mm(leaf(n // 5, 5).detach(), leaf(5, 5))),
    Case("mm_mat2_backward", "columns", lambda n: torch.mm(leaf(n // 5, 5).detach(), leaf(5, 5).t())),
    Case("div_tensor_other_backward", "tensor", lambda n: leaf(n).detach() / leaf(n)),
    Case("batchnorm_double_backward", "training", normalized),
    Case("pow_backward_exponent", "tensor", lambda n: torch.pow(leaf(n).detach(), leaf(n))),
    Case(NONE, "sin", lambda n: leaf(n).sin()),
    Case(NONE, "neg", lambda n: leaf(n).neg()),
    Case("pow_backward_exponent", "number", lambda n: torch.pow(2, leaf(n))),
)


def most_used() -> list[str]:
    """The helpers that most nodes call, with those that are called as often as the last of them."""
    found = find_torch(None)
    program = compile_files([found.derivatives], found.native_functions, helpers="prelude").program
    own = {function.name for function in program.functions}
    calls: Counter[str] = Counter()
    for op in program.nodes:
        parts = [part for derivative in op.derivatives for part in ir.walk(derivative.formula)]
        calls.update({part.function for part in parts if isinstance(part, ir.Call)} & own)
    least = calls.most_common(HELPERS)[-1][1]
    return sorted([name for name, count in calls.items() if count >= least], key=lambda name: (-calls[name], name))


def gradients_for(output: torch.Tensor, sparse: bool) -> list[Any]:
    """Gradients of what a node gives, of which all but that of the one output stay undefined."""
    gradient = torch.rand(output.shape).to(output.dtype)
    found: list[Any] = [None] * len(output.grad_fn._input_metadata)
    found[output.output_nr] = gradient.to_sparse() if sparse else gradient
    return found


def best(nodes: tuple[Node, Node], gradients: list[Any], n: int) -> list[float]:
    """The microseconds of a call of each node: the best of rounds that alternate."""
    rounds, calls = ROUNDS[n]
    least = [math.inf, math.inf]
    for _ in range(rounds):
        for i, node in enumerate(nodes):
            start = time.perf_counter()
            for _ in range(calls):
                node(*gradients)
            least[i] = min(least[i], (time.perf_counter() - start) / calls)
    return [seconds * 1e6 for seconds in least]


def compared(case: Case, n: int, make: Callable[[Node], Node]) -> float:
    """The ratio of one case."""
    output = case.record(n)
    theirs = output.grad_fn
    ours = make(theirs)
    gradients = gradients_for(output, case.sparse)
    # As in a backward pass that leaves no history.
    with torch.no_grad():
        return measured(case, n, ours, theirs, gradients)


def measured(case: Case, n: int, ours: Node, theirs: Node, gradients: list[Any]) -> float:
    """The ratio of two nodes, after both were seen to give the same."""
    if n == SMALL and not all(map(alike, as_tuple(ours(*gradients)), as_tuple(theirs(*gradients)))):
        raise SystemExit(f"{case.helper} ({case.name}): the nodes differ, so nothing is measured")
    times = best((ours, theirs), gradients, n)
    ratio = times[0] / times[1]
    title = f"{case.helper} ({case.name})"
    print(f"{title:<40} {n:>7}  ours {times[0]:9.2f} us  torch's {times[1]:9.2f} us  {ratio:.3f}", flush=True)
    return ratio


def alike(a: Any, b: Any) -> bool:
    """Whether two gradients are one, but for rounding in single precision."""
    if a is None or b is None:
        return a is b
    a, b = (gradient.to_dense().to(torch.complex128) for gradient in (a, b))
    return bool((a - b).norm() <= 0.01 * b.norm())


def as_tuple(value: Any) -> tuple[Any, ...]:
    """What a node gives, as a tuple."""
    return value if isinstance(value, tuple) else (value,)


def main() -> None:
    """Measure and conclude."""
    sys.path.insert(0, str(CHECKOUT / "tests" / "conformance"))
    make = import_module("cpp_library").nodes_module().make
    keep_memory()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    wanted = most_used()
    lacking = set(wanted) - {case.helper for case in CASES}
    if lacking:
        raise SystemExit(f"no case reaches {', '.join(sorted(lacking))}")
    ratios: dict[tuple[str, int], list[float]] = defaultdict(list)
    for case in CASES:
        if case.helper in wanted or case.helper == NONE:
            for n in (SMALL, LARGE):
                ratios[case.helper, n].append(compared(case, n, make))
    means = {key: mean(found) for key, found in ratios.items()}
    for helper in (*wanted, NONE):
        print(f"{helper:<28} {means[helper, SMALL]:.3f} small  {means[helper, LARGE]:.3f} large")
    for n, name in ((SMALL, "small"), (LARGE, "large")):
        print(f"{name:<28} {mean([means[helper, n] for helper in wanted]):.3f}")
    conclude("helper-cost", mean([means[helper, n] for helper in wanted for n in (SMALL, LARGE)]), BOUND)


def keep_memory() -> None:
    """Let the allocator keep what is freed: a large tensor that is asked of the kernel costs more than the arithmetic on it."""
    libc = ctypes.CDLL(None)
    mmap_threshold, trim_threshold = -3, -1
    libc.mallopt(mmap_threshold, 1 << 25)
    libc.mallopt(trim_threshold, 1 << 30)


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


if __name__ == "__main__":
    main()
