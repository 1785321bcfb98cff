
@final
class ForeachAxpyBackward0(Node):
    """The backward node of `lab::_foreach_axpy(Tensor[] self, Tensor[] other, Scalar alpha) -> Tensor[]`.

    Gradients, for element i:
        other: grads[i] * alpha.conj()
        self: grads[i]
    """

    @property
    def _saved_alpha(self) -> Scalar:
        """The input `alpha` (Scalar).

        Gradients that read it, for element i:
            other: grads[i] * alpha.conj()
        """

@final
class ForeachScaleBackward0(Node):
    """The backward node of `lab::_foreach_scale.ScalarList(Tensor[] self, Scalar[] factors) -> Tensor[]`.

    Gradients, for element i:
        self: grads[i] * factors[i].conj()
    """

    @property
    def _saved_factors(self) -> tuple[Scalar, ...]:
        """The input `factors` (Scalar[]).

        Gradients that read it, for element i:
            self: grads[i] * factors[i].conj()
        """

@final
class ForeachGrowBackward0(Node):
    """The backward node of `lab::_foreach_grow(Tensor[] self) -> Tensor[]`.

    Gradients, for element i:
        self: grads[i] * result[i].conj()
    """

    @property
    def _saved_result(self) -> tuple[Tensor, ...]:
        """The output `result` (Tensor[]).

        Gradients that read it, for element i:
            self: grads[i] * result[i].conj()
        """
    @property
    def _raw_saved_result(self) -> tuple[SavedTensorOfList, ...]:
        """What holds `_saved_result`: `register_hooks` sets how it is packed and unpacked."""
