
@final
class ReduceByBackward0(Node):
    """The backward node of `lab::reduce_by(Tensor self, str mode='mean') -> Tensor`.

    Gradients:
        self: (mode == "mean" ? grad / self_numel : grad).expand_symint(self_sym_sizes)
    """

    @property
    def _saved_mode(self) -> str:
        """The input `mode` (str).

        Gradients that read it:
            self: (mode == "mean" ? grad / self_numel : grad).expand_symint(self_sym_sizes)
        """

    @property
    def _saved_self_numel(self) -> int:
        """`self.numel()` when the op ran (int).

        Gradients that read it:
            self: (mode == "mean" ? grad / self_numel : grad).expand_symint(self_sym_sizes)
        """

    @property
    def _saved_self_sym_sizes(self) -> tuple[int | SymInt, ...]:
        """`self.sym_sizes()` when the op ran (SymInt[]).

        Gradients that read it:
            self: (mode == "mean" ? grad / self_numel : grad).expand_symint(self_sym_sizes)
        """

@final
class DivideBackward0(Node):
    """The backward node of `lab::divide(Tensor a, Tensor b, *, str? rounding_mode=None) -> Tensor`.

    Gradients:
        a: at::div(grad, b.conj(), rounding_mode) * (rounding_mode.has_value() ? 0 : 1)
        b: rounding_mode.has_value() ? b_info.zeros() : -grad * (a / (b * b)).conj()
    """

    @property
    def _saved_a(self) -> Tensor:
        """The input `a` (Tensor).

        Gradients that read it:
            b: rounding_mode.has_value() ? b_info.zeros() : -grad * (a / (b * b)).conj()
        """
    @property
    def _raw_saved_a(self) -> SavedTensor:
        """What holds `_saved_a`: `register_hooks` sets how it is packed and unpacked."""

    @property
    def _saved_b(self) -> Tensor:
        """The input `b` (Tensor).

        Gradients that read it:
            a: at::div(grad, b.conj(), rounding_mode) * (rounding_mode.has_value() ? 0 : 1)
            b: rounding_mode.has_value() ? b_info.zeros() : -grad * (a / (b * b)).conj()
        """
    @property
    def _raw_saved_b(self) -> SavedTensor:
        """What holds `_saved_b`: `register_hooks` sets how it is packed and unpacked."""

    @property
    def _saved_b_info(self) -> TensorInfo:
        """Sizes and options of `b` (TensorInfo).

        Gradients that read it:
            b: rounding_mode.has_value() ? b_info.zeros() : -grad * (a / (b * b)).conj()
        """

    @property
    def _saved_rounding_mode(self) -> str | None:
        """The input `rounding_mode` (str?).

        Gradients that read it:
            a: at::div(grad, b.conj(), rounding_mode) * (rounding_mode.has_value() ? 0 : 1)
            b: rounding_mode.has_value() ? b_info.zeros() : -grad * (a / (b * b)).conj()
        """

@final
class MeasureBackward0(Node):
    """The backward node of `lab::measure(Tensor self) -> Tensor`.

    Gradients:
        self: not_implemented("measure", "say \\"when\\", or \\\\ nothing")
    """
