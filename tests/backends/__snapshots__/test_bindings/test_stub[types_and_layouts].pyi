
@final
class CastToBackward0(Node):
    """The backward node of `lab::cast_to(Tensor self, ScalarType dtype) -> Tensor`.

    Gradients:
        self: grad.to(self_scalar_type)
    """

    @property
    def _saved_self_scalar_type(self) -> torch.dtype:
        """`self.scalar_type()` when the op ran (ScalarType).

        Gradients that read it:
            self: grad.to(self_scalar_type)
        """

@final
class SquareInBackward0(Node):
    """The backward node of `lab::square_in(Tensor self, ScalarType wide) -> Tensor`.

    Gradients:
        self: (2 * grad.to(wide) * self.to(wide)).to(self_scalar_type)
    """

    @property
    def _saved_self(self) -> Tensor:
        """The input `self` (Tensor).

        Gradients that read it:
            self: (2 * grad.to(wide) * self.to(wide)).to(self_scalar_type)
        """
    @property
    def _raw_saved_self(self) -> SavedTensor:
        """What holds `_saved_self`: `register_hooks` sets how it is packed and unpacked."""

    @property
    def _saved_self_scalar_type(self) -> torch.dtype:
        """`self.scalar_type()` when the op ran (ScalarType).

        Gradients that read it:
            self: (2 * grad.to(wide) * self.to(wide)).to(self_scalar_type)
        """

    @property
    def _saved_wide(self) -> torch.dtype:
        """The input `wide` (ScalarType).

        Gradients that read it:
            self: (2 * grad.to(wide) * self.to(wide)).to(self_scalar_type)
        """

@final
class DensifyBackward0(Node):
    """The backward node of `lab::densify(Tensor self) -> Tensor`.

    Gradients:
        self: self_layout == at::kStrided ? grad : to_layout(grad, self_layout, self_self_sym_blocksize_opt)
    """

    @property
    def _saved_self_layout(self) -> torch.layout:
        """`self.layout()` when the op ran (Layout).

        Gradients that read it:
            self: self_layout == at::kStrided ? grad : to_layout(grad, self_layout, self_self_sym_blocksize_opt)
        """

    @property
    def _saved_self_self_sym_blocksize_opt(self) -> tuple[int | SymInt, ...] | None:
        """`self.sym_blocksize()` when the op ran (SymInt[]?).

        Gradients that read it:
            self: self_layout == at::kStrided ? grad : to_layout(grad, self_layout, self_self_sym_blocksize_opt)
        """

@final
class SettledBackward0(Node):
    """The backward node of `lab::settled(Tensor self) -> Tensor`.

    Gradients:
        self: self_conjugate ? at::conj_physical(grad).conj() : grad
    """

    @property
    def _saved_self_conjugate(self) -> bool:
        """`self.is_conj()` when the op ran (bool).

        Gradients that read it:
            self: self_conjugate ? at::conj_physical(grad).conj() : grad
        """

@final
class StridedSampleBackward0(Node):
    """The backward node of `lab::strided_sample(Tensor self, int step) -> Tensor`.

    Gradients:
        self: scatter_into(self_geometry, grad, step)
    """

    @property
    def _saved_self_geometry(self) -> TensorGeometry:
        """`TensorGeometry(self)` when the op ran (TensorGeometry).

        Gradients that read it:
            self: scatter_into(self_geometry, grad, step)
        """

    @property
    def _saved_step(self) -> int:
        """The input `step` (int).

        Gradients that read it:
            self: scatter_into(self_geometry, grad, step)
        """
