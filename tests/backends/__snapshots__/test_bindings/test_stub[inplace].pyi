
@final
class LeakyBackward0(Node):
    """The backward node of `lab::leaky_(Tensor(a!) self, float slope=0.01) -> Tensor(a!)`.

    Gradients:
        self: at::where(result > 0, grad, grad * slope)
    """

    @property
    def _saved_slope(self) -> float:
        """The input `slope` (float).

        Gradients that read it:
            self: at::where(result > 0, grad, grad * slope)
        """

    @property
    def _saved_result(self) -> Tensor:
        """The output `result` (Tensor).

        Gradients that read it:
            self: at::where(result > 0, grad, grad * slope)
        """
    @property
    def _raw_saved_result(self) -> SavedTensor:
        """What holds `_saved_result`: `register_hooks` sets how it is packed and unpacked."""

@final
class InvertBackward0(Node):
    """The backward node of `lab::invert_(Tensor(a!) self) -> Tensor(a!)`.

    Gradients:
        self: -grad * (result * result).conj()
    """

    @property
    def _saved_result(self) -> Tensor:
        """The output `result` (Tensor).

        Gradients that read it:
            self: -grad * (result * result).conj()
        """
    @property
    def _raw_saved_result(self) -> SavedTensor:
        """What holds `_saved_result`: `register_hooks` sets how it is packed and unpacked."""

@final
class AccumulateBackward0(Node):
    """The backward node of `lab::accumulate_(Tensor(a!) self, Tensor other, *, float alpha=1.0) -> Tensor(a!)`.

    Gradients:
        other: grad * alpha
        self: grad
    """

    @property
    def _saved_alpha(self) -> float:
        """The input `alpha` (float).

        Gradients that read it:
            other: grad * alpha
        """
