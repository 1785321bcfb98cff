"""PyTorch's own samples: ops of op_db with arguments that need gradients, on the CPU; knows nothing of what is tested."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import torch
from attrs import frozen

# The samples of each op that are used, as the count grows fast and the reach does not.
SAMPLES = 3
# Their kernels need many seconds a sample.
_SLOW = frozenset({"grid_sampler_3d", "nn.functional.grid_sample"})


@frozen(eq=False)
class Sample:
    """One call: `run(*tensors)` computes the differentiable results."""

    op: str
    dtype: torch.dtype
    number: int
    tensors: tuple[torch.Tensor, ...]
    run: Callable[..., tuple[torch.Tensor, ...]]

    @property
    def title(self) -> str:
        return f"{self.op}[{str(self.dtype).removeprefix('torch.')} {self.number}]"


def samples(dtypes: tuple[torch.dtype, ...] = (torch.float64, torch.complex128), only: str = "") -> Iterator[Sample]:
    """The samples of all ops that have a gradient in a dtype; an op whose samples cannot be made is passed over."""
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        if info.name in _SLOW or (only and info.name != only):
            continue
        for dtype in dtypes:
            if not info.supports_autograd or dtype not in info.supported_backward_dtypes("cpu"):
                continue
            try:
                torch.manual_seed(0)
                inputs = list(islice(info.sample_inputs("cpu", dtype, requires_grad=True), SAMPLES))
            except Exception:
                continue
            name = f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name
            for number, sample in enumerate(inputs):
                yield _sample(info, sample, name, dtype, number)


def _sample(info: Any, sample: Any, name: str, dtype: torch.dtype, number: int) -> Sample:
    from torch.utils._pytree import tree_flatten, tree_unflatten

    values, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [i for i, v in enumerate(values) if isinstance(v, torch.Tensor) and v.requires_grad]
    tensors = tuple(values[i].detach() for i in places)

    def run(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        mine = list(values)
        for place, tensor in zip(places, given, strict=True):
            mine[place] = tensor
        first, args, kwargs = tree_unflatten(mine, spec)
        torch.manual_seed(1)
        result = info.op(first, *args, **kwargs)
        if sample.output_process_fn_grad is not None:
            result = sample.output_process_fn_grad(result)
        flat = tree_flatten(result)[0]
        return tuple(r for r in flat if isinstance(r, torch.Tensor) and r.requires_grad)

    return Sample(name, dtype, number, tensors, run)


def cotangent(like: torch.Tensor, seed: int) -> torch.Tensor:
    """A random gradient for a result: contiguous, whatever the strides of the result."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(like.shape, dtype=like.dtype, generator=generator)


def same(a: object, b: object, tolerance: float = 1e-9) -> bool:
    """Whether two results agree: both absent, or of one shape and dtype and equal, NaN to NaN."""
    if a is None or b is None:
        return a is b
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return False
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    a, b = (x.to_dense() if x.layout != torch.strided else x for x in (a.detach(), b.detach()))
    close: bool = torch.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    return close
