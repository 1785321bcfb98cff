"""Calls of operators that no sample of torch reaches, and whose schema does not say what fits together; knows no derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch

from gradspec.gradcheck.calls import Call, make_call
from gradspec.gradcheck.recorded import DTYPES

# Random numbers of a shape. A recipe gives arguments by position, and last a dict of those by name.
Maker: TypeAlias = Callable[..., torch.Tensor]


def _whole(*numbers: Any) -> torch.Tensor:
    return torch.tensor(numbers)


def _real(t: Maker) -> Maker:
    """For formulas that are written for real numbers, where torch takes another way with complex ones."""
    if t(1).is_complex():
        raise TypeError
    return t


def _distances(t: Maker) -> tuple[Any, ...]:
    points = t(4, 3)
    return t(6), points, 2.0, torch.pdist(points)


def _padded_loss(t: Maker, lengths: Callable[..., Any]) -> tuple[Any, ...]:
    return t(5, 2, 4).log_softmax(2), _whole([1, 2], [3, 1]), lengths(5, 4), lengths(2, 1), 0, False


def _observed(t: Maker) -> tuple[Any, ...]:
    on = torch.ones(1, dtype=torch.long)
    scale, zero = torch.tensor([0.1]), torch.zeros(1, dtype=torch.int32)
    return t(3, 4).float(), on, on, torch.tensor([-1.0]), torch.tensor([1.0]), scale, zero, 0.5, 0, 20, 0


_RECIPES: dict[str, tuple[Callable[[Maker], tuple[Any, ...]], ...]] = {
    "affine_grid_generator": (lambda t: (t(2, 2, 3), [2, 3, 4, 5], True), lambda t: (t(2, 3, 4), [2, 1, 2, 3, 2], False)),
    "conv_tbc": (lambda t: (t(4, 2, 3), t(2, 3, 2), t(2), 1),),
    "_ctc_loss": (lambda t: _padded_loss(t, lambda *n: list(n)),),
    "_ctc_loss.Tensor": (lambda t: _padded_loss(t, _whole),),
    "fake_quantize_per_channel_affine_cachemask": (
        lambda t: (t(3, 4), torch.tensor([0.1, 0.2, 0.3]), torch.zeros(3, dtype=torch.int32), 0, -5, 5),
    ),
    "_fake_quantize_learnable_per_tensor_affine": (
        lambda t: (t(3, 4), t(1).abs() + 0.1, torch.zeros(1, dtype=torch.float64), -5, 5, 1.0),
    ),
    "_fake_quantize_learnable_per_channel_affine": (
        lambda t: (t(3, 4).float(), t(3).abs().float() + 0.1, torch.zeros(3), 0, -5, 5, 1.0),
    ),
    "_fused_moving_avg_obs_fq_helper": (_observed,),
    "_grid_sampler_2d_cpu_fallback": (lambda t: (t(1, 2, 3, 3).float(), t(1, 2, 2, 2).float().tanh(), 0, 0, False),),
    "_unsafe_index.Tensor": (lambda t: (t(4, 3), [_whole(0, 2, 0)]), lambda t: (t(4, 3), [None, _whole(1, 1)])),
    "_unsafe_index_put": (
        lambda t: (t(4, 3), [_whole(0, 2)], t(2, 3), False),
        lambda t: (t(4, 3), [_whole(0, 0)], t(2, 3), True),
    ),
    "_index_put_impl_": (
        lambda t: (t(4, 3), [_whole(0, 2)], t(2, 3), False),
        lambda t: (t(4, 3), [_whole(0, 0)], t(3), True),
    ),
    "unsafe_split_with_sizes": (lambda t: (t(5, 2), [2, 3]), lambda t: (t(2, 5), [1, 0, 4], 1)),
    "_embedding_bag_dense_backward": (
        lambda t: (t(2, 3), _whole(0, 1, 0), _whole(0, 0, 1), _whole(2, 1), _whole(0, 0), 4, False, 0, None),
    ),
    "_masked_softmax": (lambda t: (t(2, 3), torch.tensor([[True, False, False], [False] * 3]), 1, 2),),
    "slow_conv_transpose2d": (lambda t: (t(1, 2, 3, 3), t(2, 3, 2, 2), [2, 2], t(3), [2, 1], [1, 0], [0, 0], [1, 1]),),
    "slow_conv_transpose3d": (lambda t: (t(1, 2, 2, 2, 2), t(2, 1, 2, 2, 2), [2, 2, 2], t(1)),),
    "_slow_conv2d_forward": (lambda t: (t(1, 2, 4, 4), t(3, 2, 2, 2), [2, 2], t(3), [1, 2], [1, 0]),),
    "_slow_conv2d_backward.output_mask": (
        lambda t: (t(1, 3, 5, 2), t(1, 2, 4, 4), t(3, 2, 2, 2), [2, 2], [1, 2], [1, 0], [True, True, True]),
    ),
    "slow_conv3d_forward": (lambda t: (t(1, 2, 3, 3, 3), t(1, 2, 2, 2, 2), [2, 2, 2], t(1), [1, 1, 1], [0, 0, 0]),),
    "slow_conv_dilated2d": (lambda t: (t(1, 2, 5, 5), t(3, 2, 2, 2), [2, 2], t(3), [1, 1], [0, 0], [2, 2]),),
    "slow_conv_dilated3d": (lambda t: (t(1, 1, 3, 3, 3), t(1, 1, 2, 2, 2), [2, 2, 2], t(1), [1] * 3, [0] * 3, [2, 1, 1]),),
    "_convolution": (
        lambda t: (t(1, 2, 4, 4), t(3, 2, 2, 2), t(3), [1, 1], [0, 1], [1, 1], False, [0, 0], 1, False, False, False, False),
    ),
    "mkldnn_convolution": (lambda t: (t(1, 2, 4, 4).float(), t(3, 2, 2, 2).float(), t(3).float(), [0, 0], [1, 1], [1, 1], 1),),
    **{
        f"_upsample_{kind}2d_aa": (
            lambda t: (t(1, 2, 4, 5), [3, 2], False, None, None),
            lambda t: (t(1, 2, 3, 3), [5, 4], True, None, None),
        )
        for kind in ("bilinear", "bicubic", "lanczos")
    },
    **{
        f"_upsample_{kind}2d_aa_backward": (lambda t: (t(1, 2, 3, 2), [3, 2], [1, 2, 4, 5], False, None, None),)
        for kind in ("bilinear", "bicubic", "lanczos")
    },
    **{
        f"{name}3d": (lambda t: (t(1, 1, 2, 2, 3), [3, 2, 4], None, None, None),)
        for name in ("upsample_nearest", "_upsample_nearest_exact")
    },
    **{
        f"{name}3d_backward": (lambda t: (t(1, 1, 3, 2, 4), [3, 2, 4], [1, 1, 2, 2, 3], None, None, None),)
        for name in ("upsample_nearest", "_upsample_nearest_exact")
    },
    **{f"{name}_pad3d_backward": (lambda t: (t(1, 4, 4, 4), t(1, 2, 2, 2), [1] * 6),) for name in ("reflection", "replication")},
    "col2im": (lambda t: (t(1, 4, 4), [3, 3], [2, 2], [1, 1], [0, 0], [1, 1]),),
    "_scaled_dot_product_flash_attention_for_cpu": (
        lambda t: (t(1, 2, 4, 8), t(1, 2, 4, 8), t(1, 2, 4, 8)),
        lambda t: (t(1, 1, 3, 4), t(1, 1, 3, 4), t(1, 1, 3, 4), 0.0, True),
    ),
    "_pack_padded_sequence": (lambda t: (t(3, 2, 2), _whole(3, 2), False),),
    "_native_batch_norm_legit_no_training": (lambda t: (t(4, 3), t(3), t(3), t(3), t(3).abs() + 0.1, 0.1, 1e-3),),
    "_native_batch_norm_legit.no_stats": (
        lambda t: (t(4, 3), t(3), t(3), True, 0.1, 1e-3),
        lambda t: (t(2, 3, 4), None, None, True, 0.1, 1e-3),
    ),
    "_batch_norm_no_update": (lambda t: (t(4, 3), t(3), t(3), t(3), t(3).abs() + 0.1, 0.1, 1e-3),),
    "_fused_rms_norm": (
        lambda t: (_real(t)(2, 3), [3], t(3), 1e-5),
        lambda t: (_real(t)(2, 3, 2), [3, 2], None, 1e-5),
    ),
    "norm.ScalarOpt_dtype": (lambda t: (t(2, 3), 2.0, {"dtype": torch.float64}), lambda t: (t(4), 1.5, {"dtype": torch.float64})),
    "norm.ScalarOpt_dim_dtype": (lambda t: (t(2, 3), 2.0, [1], True, {"dtype": torch.float64}),),
    "_weight_norm_interface": (lambda t: (t(3, 4), t(3, 1), 0), lambda t: (t(3, 4), t(1, 4), 1)),
    "_pdist_forward": (lambda t: (t(4, 3), 2.0), lambda t: (t(4, 3), 1.5)),
    "_pdist_backward": (_distances,),
    "_reshape_alias": (lambda t: (t(2, 3), [3, 2], [2, 1]),),
    "_reshape_alias_copy": (lambda t: (t(2, 3), [3, 2], [2, 1]),),
    # What was sliced must lie in the memory of the whole: a slice of all of it does.
    "slice_inverse": (lambda t: (t(4, 3), t(4, 3), 0, 0, 4, 1),),
    "fake_quantize_per_tensor_affine_cachemask": (lambda t: (t(2, 3), 0.25, 1, -4, 5),),
    "embedding": (
        lambda t: (t(4, 3), _whole([0, 2], [2, 1])),
        lambda t: (t(4, 3), _whole(0, 2, 2), 2),
        lambda t: (t(4, 3), _whole(1, 1, 3), -1, True),
    ),
}


def recipe_calls(name: str, seed: int) -> Iterator[Call]:
    """The calls of one operator that are written down here, in each dtype that they can be made in."""
    for recipe in _RECIPES.get(name, ()):
        for dtype in DTYPES:
            generator = torch.Generator().manual_seed(seed)

            def make(*shape: int, dtype: torch.dtype = dtype, generator: torch.Generator = generator) -> torch.Tensor:
                return torch.randn(shape, dtype=dtype, generator=generator)

            try:
                arguments = recipe(make)
            except (RuntimeError, TypeError):
                continue
            names = arguments[-1] if isinstance(arguments[-1], dict) else {}
            yield make_call(arguments[: len(arguments) - bool(names)], names)
