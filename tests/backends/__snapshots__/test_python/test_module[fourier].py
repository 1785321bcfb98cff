"""Gradients of fourier: emitted by gradspec, not to be edited."""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


def lab_unitary_dft_backward(grads, needs_input_grad, dim):
    """The gradients of `lab::unitary_dft`, of those inputs that need one.

        lab::unitary_dft(Tensor self, int dim=-1) -> Tensor

        self: at::fft_ifft(grad, ::std::nullopt, dim, "ortho")
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = aten.fft_ifft.default(grad, None, dim, "ortho")
    return (grad_self,)


class UnitaryDftBackward0(torch.autograd.Function):
    """`lab::unitary_dft` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, dim):
        return torch.ops.lab.unitary_dft.default(self, dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, dim = inputs
        ctx.set_materialize_grads(False)
        ctx.dim = dim

    @staticmethod
    def backward(ctx, *grads):
        (grad_self,) = lab_unitary_dft_backward(grads, (ctx.needs_input_grad[0],), ctx.dim)
        return grad_self, None

    @staticmethod
    def jvp(ctx, *tangents):
        dim = ctx.dim
        self_t = tangents[0]
        # result: at::fft_fft(self_t, ::std::nullopt, dim, "ortho")
        result_t = None
        if self_t is not None:
            result_t = aten.fft_fft.default(self_t, None, dim, "ortho")
        return result_t


def lab_unitary_dft(self: Tensor, dim: int = -1) -> Tensor:
    """`lab::unitary_dft`, differentiable.

        lab::unitary_dft(Tensor self, int dim=-1) -> Tensor
    """
    return UnitaryDftBackward0.apply(self, dim)


def lab_power_spectrum_backward(grads, needs_input_grad, self):
    """The gradients of `lab::power_spectrum`, of those inputs that need one.

        lab::power_spectrum(Tensor self) -> Tensor

        self: at::fft_ifft(2 * grad * at::fft_fft(self, ::std::nullopt, -1, "ortho"), ::std::nullopt, -1, "ortho")
    """
    grad = grads[0]
    grad_self = None
    if needs_input_grad[0] and grad is not None:
        grad_self = aten.fft_ifft.default(
            2 * grad * aten.fft_fft.default(self, None, -1, "ortho"), None, -1, "ortho"
        )
    return (grad_self,)


class PowerSpectrumBackward0(torch.autograd.Function):
    """`lab::power_spectrum` with its gradients and tangents."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self):
        return torch.ops.lab.power_spectrum.default(self)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (self,) = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(self)
        ctx.save_for_forward(self)

    @staticmethod
    def backward(ctx, *grads):
        (self,) = ctx.saved_tensors
        return lab_power_spectrum_backward(grads, ctx.needs_input_grad, self)

    @staticmethod
    def jvp(ctx, *tangents):
        (self_p,) = ctx.saved_tensors
        self_t = tangents[0]
        # result: 2 * at::real(at::fft_fft(self_p, ::std::nullopt, -1, "ortho").conj() * at::fft_fft(self_t, ::std::nullopt, -1, "ortho"))
        result_t = None
        if self_t is not None:
            result_t = (
                2
                * torch.real(
                    aten.fft_fft.default(self_p, None, -1, "ortho").conj()
                    * aten.fft_fft.default(self_t, None, -1, "ortho")
                )
            )
        return result_t


def lab_power_spectrum(self: Tensor) -> Tensor:
    """`lab::power_spectrum`, differentiable.

        lab::power_spectrum(Tensor self) -> Tensor
    """
    return PowerSpectrumBackward0.apply(self)
