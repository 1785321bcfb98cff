"""Calls of torch's operators, noted while torch's own samples run; knows no spec and no derivative."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from gradspec.gradcheck.calls import Call, make_call

# What is kept of one operator in one dtype: its first calls that differ in more than their numbers.
CALLS = 6
# Samples of one entry of torch's list that are run: the count grows fast, and the reach does not.
_SAMPLES = 8
# More elements than this make differences slow, and show nothing new.
_MOST_ELEMENTS = 3000
# Of larger numbers differences show nothing but how they are rounded.
_LARGEST = 1000

DTYPES = (torch.float64, torch.complex128)


class _Recorder(TorchDispatchMode):  # type: ignore[misc]
    """Notes calls of every operator, until there are enough of one."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[tuple[Any, torch.dtype], dict[str, Call]] = defaultdict(dict)
        self.dtype = torch.float64

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note the call, and let it go on."""
        kept = self.calls[func, self.dtype]
        if len(kept) < CALLS:
            values = tree_flatten((args, kwargs or {}))[0]
            moved = [v for v in values if isinstance(v, torch.Tensor) and (v.is_floating_point() or v.is_complex())]
            small = 0 < sum(v.numel() for v in moved) <= _MOST_ELEMENTS and all(
                not v.numel() or v.abs().max() <= _LARGEST for v in moved if v.layout == torch.strided and not v.is_nested
            )
            if small and all(v.layout == torch.strided and not v.is_nested for v in values if isinstance(v, torch.Tensor)):
                kept.setdefault(_kind(values), make_call(args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def _kind(values: list[Any]) -> str:
    """What calls have in common that differ in their numbers alone."""
    return repr([(v.dtype, tuple(v.shape)) if isinstance(v, torch.Tensor) else v for v in values])


@cache
def _calls_in(index: int, seed: int) -> dict[tuple[Any, torch.dtype], dict[str, Call]]:
    """What the samples of one entry of torch's list call."""
    info = _torchs_list()[index]
    recorder = _Recorder()
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")
        for dtype in DTYPES:
            if dtype in info.supported_dtypes("cpu"):
                recorder.dtype = dtype
                # Not that of torch: it also notes a stack for every kind of device there is.
                torch.default_generator.manual_seed(seed)
                _run_samples(info, dtype, recorder)
    return recorder.calls


@cache
def _torchs_list() -> list[Any]:
    from torch.testing._internal import common_methods_invocations as known

    foreach = (known.foreach_unary_op_db, known.foreach_binary_op_db, known.foreach_pointwise_op_db)
    return [*known.op_db, *(i for db in (*foreach, known.foreach_reduce_op_db, known.foreach_other_op_db) for i in db)]


def _run_samples(info: Any, dtype: torch.dtype, recorder: _Recorder) -> None:
    """Run an entry's samples forward, backward for the operators of gradients, and in place."""
    try:
        samples = list(islice(info.sample_inputs("cpu", dtype, requires_grad=info.supports_autograd), _SAMPLES))
    except Exception:
        return
    for sample in samples:
        values = tree_flatten((sample.input, sample.args, sample.kwargs))[0]
        tensors = [v for v in values if isinstance(v, torch.Tensor)]
        if sum(t.numel() for t in tensors) > _MOST_ELEMENTS:
            continue
        try:
            with recorder:
                results = tree_flatten(info.op(sample.input, *sample.args, **sample.kwargs))[0]
                moved = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
                leaves = [t for t in tensors if t.requires_grad]
                weights = [torch.randn(r.shape, dtype=r.dtype) for r in moved]
                if moved and leaves:
                    torch.autograd.grad(moved, leaves, weights, allow_unused=True)
        except Exception:
            continue
        if info.inplace_variant is not None and isinstance(sample.input, torch.Tensor):
            try:
                with recorder, torch.no_grad():
                    info.inplace_variant(sample.input.clone(), *sample.args, **sample.kwargs)
            except Exception:
                continue


def recorded_calls(base: str, overload: Any, seed: int) -> list[Call]:
    """The calls of one operator: in the samples of its name, else in all samples of torch."""
    names = {base, base.strip("_"), base.removesuffix("_backward"), base.removeprefix("native_")}
    infos = _torchs_list()
    own = [i for i, info in enumerate(infos) if names & _names(info)]
    return _calls_of(overload, own, seed) or _calls_of(overload, range(len(infos)), seed)


def _calls_of(overload: Any, entries: Iterable[int], seed: int) -> list[Call]:
    found: dict[torch.dtype, dict[str, Call]] = {d: {} for d in DTYPES}
    for entry in entries:
        for dtype in DTYPES:
            for kind, call in _calls_in(entry, seed).get((overload, dtype), {}).items():
                if len(found[dtype]) < CALLS:
                    found[dtype].setdefault(kind, call)
    return [c for calls in found.values() for c in calls.values()]


def _names(info: Any) -> set[str]:
    return {info.name, info.name.rpartition(".")[2], info.aten_name, *[a.name for a in info.aliases]}
