"""The helper functions of PyTorch 2.13 that its backward formulas call, as C++ declares them; knows no formula.

FunctionsManual.h includes all of ATen and all of PyTorch's own nodes, which takes the compiler longer than all else that a source
with nodes includes. So the declarations stand here again, for that release alone: facts of torch/csrc/autograd/FunctionsManual.h,
with which `make conformance-helper-declarations` compares them.
"""

from __future__ import annotations

from functools import cache

# The release, the header and the namespace.
TORCH = "2.13"
HEADER = "torch/csrc/autograd/FunctionsManual.h"
NAMESPACE = "torch::autograd::generated::details"

# A line that is indented goes on with the one before it.
_DECLARATIONS = """\
std::tuple<Tensor, Tensor> _cudnn_convolution_backward(const Tensor&, const Tensor&, const Tensor&, SymIntArrayRef,
    SymIntArrayRef, SymIntArrayRef, SymIntArrayRef, bool, SymInt, std::array<bool, 2>)
Tensor _cudnn_ctc_loss_backward(const Tensor&, const Tensor&, const Tensor&, bool)
std::tuple<Tensor, Tensor> _euclidean_dist_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&)
Tensor _fused_dropout_backward(const Tensor&, const Tensor&, double)
Tensor _grouped_mm_mat1_backward(const Tensor&, const Tensor&, SymIntArrayRef, SymIntArrayRef, Layout, std::optional<Tensor>,
    const Scalar&)
Tensor _grouped_mm_mat2_backward(const Tensor&, const Tensor&, SymIntArrayRef, SymIntArrayRef, Layout, std::optional<Tensor>,
    const Scalar&)
Tensor _miopen_ctc_loss_backward(const Tensor&, const Tensor&, const Tensor&, bool)
Tensor _nested_from_padded_backward(const Tensor&, const Tensor&, bool)
Tensor _nested_split_with_sizes_backward(const variable_list&, SymIntArrayRef, int64_t, const Tensor&, const TensorOptions&)
Tensor _to_copy_backward(const Tensor&, const TensorOptions&)
std::tuple<Tensor, Tensor, Tensor> _trilinear_backward(const Tensor&, const std::optional<Tensor>&, const
    std::optional<Tensor>&, const std::optional<Tensor>&, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, std::array<bool,
    3>)
Tensor aminmax_backward(const Tensor&, std::optional<int64_t>, bool, const Tensor&, const Tensor&, const Tensor&, const Tensor&)
Tensor angle_backward(const Tensor&, const Tensor&)
Tensor as_strided_backward(Tensor, const TensorGeometry&, SymIntArrayRef, SymIntArrayRef, const std::optional<SymInt>&)
Tensor as_strided_scatter_backward(const Tensor&, const TensorGeometry&, const TensorGeometry&, SymIntArrayRef, SymIntArrayRef,
    std::optional<SymInt>)
std::tuple<Tensor, Tensor> atan2_backward(const Tensor&, const Tensor&, const Tensor&, std::array<bool, 2>)
std::tuple<Tensor, Tensor, Tensor> batchnorm_double_backward(const Tensor&, const std::optional<Tensor>&, const Tensor&, const
    Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&, const std::optional<Tensor>&, bool, double, const
    std::optional<Tensor>&, const std::optional<Tensor>&, std::array<bool, 3>)
Tensor binary_cross_entropy_double_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const
    std::optional<Tensor>&, int64_t)
Tensor binary_cross_entropy_double_backward_grad_output(const Tensor&, const Tensor&, const Tensor&, const
    std::optional<Tensor>&, int64_t)
Tensor binary_cross_entropy_double_backward_target(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const
    std::optional<Tensor>&, int64_t)
Tensor binary_cross_entropy_target_backward(const Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&, int64_t)
Tensor binary_cross_entropy_with_logits_backward(const Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&,
    const std::optional<Tensor>&, int64_t)
Tensor binary_cross_entropy_with_logits_target_backward(const Tensor&, const Tensor&, const Tensor&, const
    std::optional<Tensor>&, const std::optional<Tensor>&, int64_t)
std::vector<Tensor> block_diag_backward(const Tensor&, const std::vector<std::vector<int64_t>>&, const std::vector<ScalarType>&)
std::vector<Tensor> cat_tensors_backward(const Tensor&, const std::vector<std::vector<SymInt>>&, const std::vector<ScalarType>&,
    int64_t)
Tensor cholesky_backward(const Tensor&, bool, const Tensor&)
Tensor cholesky_inverse_backward(const Tensor&, const Tensor&, bool, const Tensor&)
std::tuple<Tensor, Tensor> cholesky_solve_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool,
    std::array<bool, 2>)
Tensor chunk_backward_nested(const variable_list&, const Tensor&, int64_t, int64_t)
Tensor clamp_backward(const Tensor&, const Tensor&, const std::optional<Scalar>&, const std::optional<Scalar>&)
Tensor clamp_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&)
std::tuple<Tensor, Tensor> clamp_backward_min_max(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const
    std::array<bool, 2>&)
Tensor constant_pad_nd_backward(const Tensor&, SymIntArrayRef)
Tensor copysign_tensor_self_backward(const Tensor&, const Tensor&, const Tensor&)
Tensor cumsum_backward(const Tensor&, int64_t)
Tensor deg2rad_backward(const Tensor&)
Tensor div_tensor_other_backward(const Tensor&, const Tensor&, const Tensor&, const std::optional<std::string_view>& =
    std::nullopt)
template <class T> Tensor div_tensor_self_backward(const Tensor&, T, ScalarType, const std::optional<std::string_view>& =
    std::nullopt)
Tensor elu_double_backward(const Tensor&, const Tensor&, const Scalar&, const Scalar&, const Scalar&, bool, const Tensor&)
Tensor embedding_dense_double_backward_symint(const Tensor&, const Tensor&, const SymInt&)
Tensor error_for_max_pool2d_double_backward()
Tensor evenly_distribute_backward(const Tensor&, const Tensor&, const Tensor&)
Tensor fft_c2r_backward(const Tensor&, IntArrayRef, int64_t)
Tensor fft_r2c_backward(const Tensor&, IntArrayRef, int64_t, bool, const SymInt&)
Tensor gelu_double_backward(const Tensor&, const Tensor&, const Tensor&, std::string_view)
Tensor glu_double_backward(const Tensor&, const Tensor&, const Tensor&, int64_t)
Tensor glu_double_backward_grad_output(const Tensor&, const Tensor&, int64_t)
std::tuple<Tensor, Tensor, Tensor> grid_sampler_2d_double_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
    const Tensor&, int64_t, int64_t, bool, std::array<bool, 3>)
std::tuple<Tensor, Tensor, Tensor> grid_sampler_3d_double_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
    const Tensor&, int64_t, int64_t, bool, std::array<bool, 3>)
Tensor handle_r_to_c(ScalarType, Tensor)
std::tuple<Tensor, Tensor> householder_product_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool =
    false)
Tensor huber_loss_double_backward(const Tensor&, const Tensor&, const Tensor&, int64_t, double)
Tensor huber_loss_double_backward_grad_output(const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t, double)
Tensor i1_backward(const Tensor&, const Tensor&, const Tensor&)
Tensor i1e_backward(const Tensor&, const Tensor&, const Tensor&)
Tensor index_backward(Tensor, const c10::List<std::optional<Tensor>>&, const Tensor&)
std::tuple<Tensor, Tensor> index_reduce_backward(const Tensor&, const Tensor&, int, const Tensor&, const Tensor&,
    std::string_view, bool, const Tensor&)
Tensor infinitely_differentiable_logit_backward(const Tensor&, const Tensor&, std::optional<double>)
Tensor infinitely_differentiable_mish_backward(const Tensor&, const Tensor&)
Tensor infinitely_differentiable_native_dropout_backward(const Tensor&, const Tensor&, double)
std::tuple<Tensor, Tensor, Tensor> infinitely_differentiable_native_group_norm_backward(const Tensor&, const Tensor&, const
    Tensor&, const Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&, SymInt, const SymInt&, SymInt, int64_t,
    double, std::array<bool, 3>)
std::tuple<Tensor, Tensor> infinitely_differentiable_native_rms_norm_backward(const Tensor&, const Tensor&, const Tensor&,
    IntArrayRef, const Tensor&, const std::optional<Tensor>&, std::array<bool, 2>)
Tensor infinitely_differentiable_silu_backward(const Tensor&, const Tensor&)
std::tuple<Tensor, Tensor, Tensor> layer_norm_double_backward(const Tensor&, const std::optional<Tensor>&, const Tensor&, const
    Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, SymIntArrayRef, std::array<bool, 3>)
Tensor linalg_det_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&)
Tensor linalg_eig_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool, bool = true)
std::tuple<Tensor, Tensor> linalg_lstsq_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
    const std::array<bool, 2>&)
Tensor linalg_lu_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool)
Tensor linalg_lu_solve_LU(const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool, bool)
Tensor linalg_matrix_exp_differential(const Tensor&, const Tensor&, bool)
Tensor linalg_qr_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, std::string_view)
std::tuple<Tensor, Tensor> linalg_solve_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
    bool, bool)
std::tuple<Tensor, Tensor> linalg_solve_triangular_backward(const Tensor&, const Tensor&, const Tensor&, bool, bool, bool,
    std::array<bool, 2>)
Tensor linalg_vector_norm_backward(Tensor, const Tensor&, const Scalar&, Tensor, const OptionalIntArrayRef&, bool)
std::tuple<Tensor, Tensor, Tensor> linear_double_backward(const variable_list&, const Tensor&, const Tensor&, const Tensor&)
Tensor log1p_backward(const Tensor&, const Tensor&)
Tensor log_sigmoid_double_backward(const Tensor&, const Tensor&)
Tensor logcumsumexp_backward(Tensor, const Tensor&, const Tensor&, int64_t)
Tensor logsumexp_backward(Tensor, const Tensor&, Tensor, IntArrayRef, bool)
Tensor lu_factor_ex_backward(const Tensor&, const Tensor&, const Tensor&, bool)
Tensor lu_unpack_backward(const Tensor&, const Tensor&, const SymInt&, const SymInt&)
Tensor masked_fill_backward(const Tensor&, const Tensor&)
Tensor max_pool_double_backward(const Tensor&, const Tensor&, int)
Tensor maybe_multiply(const Tensor&, const Scalar&)
Tensor mean_backward(const Tensor&, SymIntArrayRef, OptionalIntArrayRef, SymInt, bool)
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> mkldnn_rnn_layer_differentiable_backward(const Tensor&, const
    Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const
    Tensor&, const std::optional<Tensor>&, const std::optional<Tensor>&, const std::optional<Tensor>&, bool, int64_t, int64_t,
    int64_t, bool, bool, bool, IntArrayRef, bool, const Tensor&)
Tensor mm_mat1_backward(const Tensor&, const Tensor&, SymIntArrayRef, SymIntArrayRef, Layout, const Scalar&)
Tensor mm_mat1_sparse_backward(const Tensor&, const Tensor&, const Tensor&, const Scalar&)
Tensor mm_mat2_backward(const Tensor&, const Tensor&, SymIntArrayRef, SymIntArrayRef, Layout, const Scalar&)
Tensor mse_loss_double_backward(const Tensor&, const Tensor&, int64_t)
template <class T> Tensor mul_tensor_backward(const Tensor&, T, ScalarType)
Tensor mvlgamma_backward(const Tensor&, const Tensor&, int64_t)
Tensor nansum_backward(const Tensor&, const Tensor&, OptionalIntArrayRef, bool)
Tensor native_dropout_double_backward(const Tensor&, const Tensor&, const Tensor&, double)
Tensor norm_backward(const Tensor&, const Tensor&, const std::optional<Scalar>&, const Tensor&)
Tensor norm_backward(Tensor, const Tensor&, const std::optional<Scalar>&, Tensor, IntArrayRef, bool)
Tensor not_implemented(const char*, const char* = "")
std::vector<Tensor> not_implemented_list(const char*, const char* = "")
std::tuple<Tensor, Tensor, Tensor> ormqr_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
    bool, bool, std::array<bool, 3>)
Tensor permute_backwards(const Tensor&, IntArrayRef)
Tensor pinv_backward(const Tensor&, const Tensor&, const Tensor&)
std::tuple<Tensor, Tensor> polar_backward(const Tensor&, const Tensor&)
Tensor pow_backward(Tensor, const Tensor&, const Scalar&)
Tensor pow_backward_exponent(const Tensor&, const Tensor&, const Tensor&, const Tensor&)
Tensor pow_backward_exponent(const Tensor&, const Scalar&, const Tensor&, const Tensor&)
Tensor pow_backward_self(const Tensor&, const Tensor&, const Tensor&)
Tensor prod_backward(const Tensor&, const Tensor&, const Tensor&)
Tensor prod_backward(Tensor, const Tensor&, Tensor, int64_t, bool)
Tensor rad2deg_backward(const Tensor&)
Tensor renorm_backward(const Tensor&, const Tensor&, const Scalar&, int64_t, const Scalar&)
Tensor repeat_backward(Tensor, SymIntArrayRef, SymIntArrayRef)
Tensor restore_reduced_dims(const Tensor&, IntArrayRef, bool)
std::vector<int64_t> reverse_list(IntArrayRef)
std::vector<SymInt> reverse_list_symint(SymIntArrayRef)
Tensor scale_grad_by_count(const Tensor&, const Tensor&, IntArrayRef)
std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor&, const Tensor&, int, const Tensor&, const Tensor&,
    std::string_view, bool, const Tensor&)
Tensor sgn_backward(const Tensor&, const Tensor&, const Tensor&)
Tensor sinc_backward(const Tensor&, const Tensor&)
Tensor slice_backward_wrapper(const Tensor&, const SymIntArrayRef&, int64_t, std::optional<SymInt>, std::optional<SymInt>,
    SymInt)
Tensor slogdet_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&)
Tensor smooth_l1_loss_double_backward(const Tensor&, const Tensor&, const Tensor&, int64_t, double)
Tensor soft_margin_loss_double_backward(const Tensor&, const Tensor&, const Tensor&, int64_t)
Tensor soft_margin_loss_double_backward_grad_output(const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t)
Tensor softmax_double_backward(const Tensor&, const Tensor&, int, const Tensor&)
Tensor softplus_double_backward(const Tensor&, const Tensor&, const Scalar&, const Scalar&)
Tensor sparse_mask_backward(const Tensor&, const Tensor&, Layout)
std::tuple<Tensor, Tensor, Tensor> sparse_sampled_addmm_backward(const Tensor&, const Tensor&, const std::optional<Tensor>&,
    const std::optional<Tensor>&, const Scalar&, const Scalar&, const std::array<bool, 3>&)
Tensor sparse_sparse_matmul_backward(const Tensor&, const Tensor&, const Tensor&, int64_t)
Tensor split_backward(const variable_list&, const SymInt&, int64_t, SymIntArrayRef, const TensorOptions&)
Tensor split_with_sizes_backward(const variable_list&, SymIntArrayRef, int64_t, SymIntArrayRef, const TensorOptions&)
std::vector<Tensor> stack_tensors_backward(const Tensor&, int64_t, const std::vector<ScalarType>&)
Tensor std_backward(const Tensor&, const Tensor&, const Tensor&, OptionalIntArrayRef, const std::optional<Scalar>&, bool)
Tensor std_mean_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, OptionalIntArrayRef, const
    std::optional<Scalar>&, bool)
Tensor sum_backward(const Tensor&, SymIntArrayRef, OptionalIntArrayRef, bool)
Tensor sum_backward(const Tensor&, SymIntArrayRef, IntArrayRef, bool)
Tensor svd_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&)
Tensor take_backward(const Tensor&, const Tensor&, const Tensor&)
Tensor to_sparse_backward(const Tensor&, Layout, const c10::OptionalArrayRef<SymInt>&)
std::tuple<Tensor, Tensor> triangular_solve_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
    bool, bool, bool, std::array<bool, 2>)
Tensor unbind_backward(const variable_list&, int64_t)
Tensor unbind_backward_nested(const variable_list&, const Tensor&, int64_t, const TensorOptions&)
Tensor unbind_backward_nested_jagged(const variable_list&, const Tensor&, int64_t)
Tensor unsqueeze_multiple(const Tensor&, OptionalIntArrayRef, size_t)
Tensor unsqueeze_to(const Tensor&, SymIntArrayRef)
Tensor unsqueeze_to(const Tensor&, int64_t, SymIntArrayRef)
Tensor unsqueeze_to(const Tensor&, IntArrayRef, SymIntArrayRef)
Tensor values_backward(const Tensor&, const Tensor&)
Tensor var_backward(Tensor, const Tensor&, OptionalIntArrayRef, const std::optional<Scalar>&, bool)
Tensor var_mean_backward(const Tensor&, const Tensor&, const Tensor&, OptionalIntArrayRef, const std::optional<Scalar>&, bool)
Tensor warn_backwards(const Tensor&)
"""

# What is declared otherwise: a constant, and a function that is inline.
OTHERS = frozenset({"kCudnnDoubleBackwardMsg", "wrap_opt_if"})


@cache
def declarations() -> tuple[str, ...]:
    """The declarations, without semicolons."""
    return tuple(_DECLARATIONS.replace("\n    ", " ").splitlines())


@cache
def helper_names() -> frozenset[str]:
    """What is declared, by name."""
    return OTHERS | {text.partition("(")[0].rpartition(" ")[2] for text in declarations()}
