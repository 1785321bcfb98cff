
@final
class WeighBackward0(Node):
    """The backward node of `lab::weigh(Tensor self, Tensor? weight=None) -> Tensor`.

    Gradients:
        self: weight.defined() ? grad * weight.conj() : grad
        weight: grad * self.conj()
    """

    @property
    def _saved_self(self) -> Tensor:
        """The input `self` (Tensor).

        Gradients that read it:
            weight: grad * self.conj()
        """
    @property
    def _raw_saved_self(self) -> SavedTensor:
        """What holds `_saved_self`: `register_hooks` sets how it is packed and unpacked."""

    @property
    def _saved_weight(self) -> Tensor | None:
        """The input `weight` (Tensor?).

        Gradients that read it:
            self: weight.defined() ? grad * weight.conj() : grad
        """
    @property
    def _raw_saved_weight(self) -> SavedTensor:
        """What holds `_saved_weight`: `register_hooks` sets how it is packed and unpacked."""

@final
class CapBackward0(Node):
    """The backward node of `lab::cap(Tensor self, Scalar? limit=None) -> Tensor`.

    Gradients:
        self: limit.has_value() ? grad * (self <= *limit) : grad
    """

    @property
    def _saved_limit(self) -> Scalar | None:
        """The input `limit` (Scalar?).

        Gradients that read it:
            self: limit.has_value() ? grad * (self <= *limit) : grad
        """

    @property
    def _saved_self(self) -> Tensor:
        """The input `self` (Tensor).

        Gradients that read it:
            self: limit.has_value() ? grad * (self <= *limit) : grad
        """
    @property
    def _raw_saved_self(self) -> SavedTensor:
        """What holds `_saved_self`: `register_hooks` sets how it is packed and unpacked."""

@final
class MagnitudePowerBackward0(Node):
    """The backward node of `lab::magnitude_power(Tensor self, Scalar? power=None) -> Tensor`.

    Gradients:
        self: !power.has_value() || power->equal<int64_t>(1) ? grad * self.sgn() : power->equal(2) ? 2 * grad * self : grad * self.sgn() * self.abs().pow(power->to<double>() - 1) * power->to<double>()
    """

    @property
    def _saved_power(self) -> Scalar | None:
        """The input `power` (Scalar?).

        Gradients that read it:
            self: !power.has_value() || power->equal<int64_t>(1) ? grad * self.sgn() : power->equal(2) ? 2 * grad * self : grad * self.sgn() * self.abs().pow(power->to<double>() - 1) * power->to<double>()
        """

    @property
    def _saved_self(self) -> Tensor:
        """The input `self` (Tensor).

        Gradients that read it:
            self: !power.has_value() || power->equal<int64_t>(1) ? grad * self.sgn() : power->equal(2) ? 2 * grad * self : grad * self.sgn() * self.abs().pow(power->to<double>() - 1) * power->to<double>()
        """
    @property
    def _raw_saved_self(self) -> SavedTensor:
        """What holds `_saved_self`: `register_hooks` sets how it is packed and unpacked."""

@final
class ScaleBackward0(Node):
    """The backward node of `lab::scale(Tensor self, float? factor=None) -> Tensor`.

    Gradients:
        self: grad * factor.value_or(1.0)
    """

    @property
    def _saved_factor(self) -> float | None:
        """The input `factor` (float?).

        Gradients that read it:
            self: grad * factor.value_or(1.0)
        """
