
@final
class DistancesBackward0(Node):
    """The backward node of `lab::distances(Tensor x, Tensor y) -> Tensor`.

    Gradients:
        x: ((grad / result).unsqueeze(-1) * (x.unsqueeze(1) - y.unsqueeze(0))).sum(1)
        y: ((grad / result).unsqueeze(-1) * (y.unsqueeze(0) - x.unsqueeze(1))).sum(0)
    """

    @property
    def _saved_x(self) -> Tensor:
        """The input `x` (Tensor).

        Gradients that read it:
            x: ((grad / result).unsqueeze(-1) * (x.unsqueeze(1) - y.unsqueeze(0))).sum(1)
            y: ((grad / result).unsqueeze(-1) * (y.unsqueeze(0) - x.unsqueeze(1))).sum(0)
        """
    @property
    def _raw_saved_x(self) -> SavedTensor:
        """What holds `_saved_x`: `register_hooks` sets how it is packed and unpacked."""

    @property
    def _saved_y(self) -> Tensor:
        """The input `y` (Tensor).

        Gradients that read it:
            x: ((grad / result).unsqueeze(-1) * (x.unsqueeze(1) - y.unsqueeze(0))).sum(1)
            y: ((grad / result).unsqueeze(-1) * (y.unsqueeze(0) - x.unsqueeze(1))).sum(0)
        """
    @property
    def _raw_saved_y(self) -> SavedTensor:
        """What holds `_saved_y`: `register_hooks` sets how it is packed and unpacked."""

    @property
    def _saved_result(self) -> Tensor:
        """The output `result` (Tensor).

        Gradients that read it:
            x: ((grad / result).unsqueeze(-1) * (x.unsqueeze(1) - y.unsqueeze(0))).sum(1)
            y: ((grad / result).unsqueeze(-1) * (y.unsqueeze(0) - x.unsqueeze(1))).sum(0)
        """
    @property
    def _raw_saved_result(self) -> SavedTensor:
        """What holds `_saved_result`: `register_hooks` sets how it is packed and unpacked."""

@final
class ToPolarBackward0(Node):
    """The backward node of `lab::to_polar(Tensor x, Tensor y) -> (Tensor radius, Tensor angle)`.

    Gradients:
        x: (grad_radius.defined() ? grad_radius * x / radius : x_info.zeros()) - (grad_angle.defined() ? grad_angle * y / radius.square() : x_info.zeros())
        y: (grad_radius.defined() ? grad_radius * y / radius : y_info.zeros()) + (grad_angle.defined() ? grad_angle * x / radius.square() : y_info.zeros())
    """

    @property
    def _saved_x(self) -> Tensor:
        """The input `x` (Tensor).

        Gradients that read it:
            x: (grad_radius.defined() ? grad_radius * x / radius : x_info.zeros()) - (grad_angle.defined() ? grad_angle * y / radius.square() : x_info.zeros())
            y: (grad_radius.defined() ? grad_radius * y / radius : y_info.zeros()) + (grad_angle.defined() ? grad_angle * x / radius.square() : y_info.zeros())
        """
    @property
    def _raw_saved_x(self) -> SavedTensor:
        """What holds `_saved_x`: `register_hooks` sets how it is packed and unpacked."""

    @property
    def _saved_x_info(self) -> TensorInfo:
        """Sizes and options of `x` (TensorInfo).

        Gradients that read it:
            x: (grad_radius.defined() ? grad_radius * x / radius : x_info.zeros()) - (grad_angle.defined() ? grad_angle * y / radius.square() : x_info.zeros())
        """

    @property
    def _saved_y(self) -> Tensor:
        """The input `y` (Tensor).

        Gradients that read it:
            x: (grad_radius.defined() ? grad_radius * x / radius : x_info.zeros()) - (grad_angle.defined() ? grad_angle * y / radius.square() : x_info.zeros())
            y: (grad_radius.defined() ? grad_radius * y / radius : y_info.zeros()) + (grad_angle.defined() ? grad_angle * x / radius.square() : y_info.zeros())
        """
    @property
    def _raw_saved_y(self) -> SavedTensor:
        """What holds `_saved_y`: `register_hooks` sets how it is packed and unpacked."""

    @property
    def _saved_y_info(self) -> TensorInfo:
        """Sizes and options of `y` (TensorInfo).

        Gradients that read it:
            y: (grad_radius.defined() ? grad_radius * y / radius : y_info.zeros()) + (grad_angle.defined() ? grad_angle * x / radius.square() : y_info.zeros())
        """

    @property
    def _saved_radius(self) -> Tensor:
        """The output `radius` (Tensor).

        Gradients that read it:
            x: (grad_radius.defined() ? grad_radius * x / radius : x_info.zeros()) - (grad_angle.defined() ? grad_angle * y / radius.square() : x_info.zeros())
            y: (grad_radius.defined() ? grad_radius * y / radius : y_info.zeros()) + (grad_angle.defined() ? grad_angle * x / radius.square() : y_info.zeros())
        """
    @property
    def _raw_saved_radius(self) -> SavedTensor:
        """What holds `_saved_radius`: `register_hooks` sets how it is packed and unpacked."""
