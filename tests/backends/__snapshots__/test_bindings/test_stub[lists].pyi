
@final
class MeanOfBackward0(Node):
    """The backward node of `lab::mean_of(Tensor[] tensors) -> Tensor`.

    Gradients:
        tensors: std::vector<Tensor>(tensors.size(), grad / static_cast<int64_t>(tensors.size()))
    """

    @property
    def _saved_tensors(self) -> tuple[Tensor, ...]:
        """The input `tensors` (Tensor[]).

        Gradients that read it:
            tensors: std::vector<Tensor>(tensors.size(), grad / static_cast<int64_t>(tensors.size()))
        """
    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensorOfList, ...]:
        """What holds `_saved_tensors`: `register_hooks` sets how it is packed and unpacked."""

@final
class JoinFlatBackward0(Node):
    """The backward node of `lab::join_flat(Tensor[] tensors) -> Tensor`.

    Gradients:
        tensors: lab::split_like(grad, tensors_args_sizes, tensors_args_scalartypes)
    """

    @property
    def _saved_tensors_args_scalartypes(self) -> tuple[torch.dtype, ...]:
        """`to_args_scalartypes(tensors)` when the op ran (ScalarType[]).

        Gradients that read it:
            tensors: lab::split_like(grad, tensors_args_sizes, tensors_args_scalartypes)
        """

    @property
    def _saved_tensors_args_sizes(self) -> tuple[tuple[int, ...], ...]:
        """`to_args_sizes(tensors)` when the op ran (int[][]).

        Gradients that read it:
            tensors: lab::split_like(grad, tensors_args_sizes, tensors_args_scalartypes)
        """

@final
class JoinFlatSymbolicBackward0(Node):
    """The backward node of `lab::join_flat_symbolic(Tensor[] tensors) -> Tensor`.

    Gradients:
        tensors: split_like_symint(grad, tensors_args_sizes_symint, tensors_args_scalartypes)
    """

    @property
    def _saved_tensors_args_scalartypes(self) -> tuple[torch.dtype, ...]:
        """`to_args_scalartypes(tensors)` when the op ran (ScalarType[]).

        Gradients that read it:
            tensors: split_like_symint(grad, tensors_args_sizes_symint, tensors_args_scalartypes)
        """

    @property
    def _saved_tensors_args_sizes_symint(self) -> tuple[tuple[int | SymInt, ...], ...]:
        """`to_args_sizes_symint(tensors)` when the op ran (SymInt[][]).

        Gradients that read it:
            tensors: split_like_symint(grad, tensors_args_sizes_symint, tensors_args_scalartypes)
        """

@final
class PickBackward0(Node):
    """The backward node of `lab::pick(Tensor self, Tensor?[] indices) -> Tensor`.

    Gradients:
        self: at::index_put(at::zeros_symint(self_sym_sizes, self_options), indices, grad, true)
    """

    @property
    def _saved_indices(self) -> tuple[Tensor | None, ...]:
        """The input `indices` (Tensor?[]).

        Gradients that read it:
            self: at::index_put(at::zeros_symint(self_sym_sizes, self_options), indices, grad, true)
        """
    @property
    def _raw_saved_indices(self) -> tuple[SavedTensorOfList, ...]:
        """What holds `_saved_indices`: `register_hooks` sets how it is packed and unpacked."""

    @property
    def _saved_self_options(self) -> TensorOptions:
        """`self.options()` when the op ran (TensorOptions).

        Gradients that read it:
            self: at::index_put(at::zeros_symint(self_sym_sizes, self_options), indices, grad, true)
        """

    @property
    def _saved_self_sym_sizes(self) -> tuple[int | SymInt, ...]:
        """`self.sym_sizes()` when the op ran (SymInt[]).

        Gradients that read it:
            self: at::index_put(at::zeros_symint(self_sym_sizes, self_options), indices, grad, true)
        """
