"""What PyTorch 2.13's helper functions and C++ classes declare, spelled as schemas; knows no ATen operator: those have schemas.

A line that is indented goes on with the one before it. `=` marks an argument that may be left out. Where the spec of 2.7 calls a
helper by another declaration, that one stands here too. Facts of
torch/csrc/autograd/FunctionsManual.h, ATen/core/TensorBase.h, c10/core/Scalar.h and c10/core/TensorOptions.h.
"""

# Free functions.
FUNCTIONS = """\
_convolution_jvp(Tensor input_p, Tensor input_t, Tensor weight_p, Tensor weight_t, Tensor bias_p, Tensor bias_t, SymInt[]
    stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool
    deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor
_cudnn_convolution_backward(Tensor self, Tensor grad_output, Tensor weight, SymInt[] padding, SymInt[] output_padding,
    SymInt[] stride, SymInt[] dilation, bool transposed, SymInt groups, bool[2] output_mask) -> (Tensor, Tensor)
_cudnn_ctc_loss_backward(Tensor grad_out, Tensor loss, Tensor raw_grad, bool zero_infinity) -> Tensor
_euclidean_dist_backward(Tensor grad, Tensor x1, Tensor x2, Tensor res) -> (Tensor, Tensor)
_fused_dropout_backward(Tensor grad, Tensor mask, float p1m) -> Tensor
_grouped_mm_mat1_backward(Tensor grad, Tensor mat2, SymInt[] mat1_sizes, SymInt[] mat1_strides, Layout mat1_layout, Tensor?
    offs, Scalar alpha) -> Tensor
_grouped_mm_mat2_backward(Tensor grad, Tensor mat1, SymInt[] sizes, SymInt[] strides, Layout layout, Tensor? offs, Scalar
    alpha) -> Tensor
_miopen_ctc_loss_backward(Tensor grad_out, Tensor loss, Tensor raw_grad, bool zero_infinity) -> Tensor
_nested_from_padded_backward(Tensor grad, Tensor input, bool do_transform_0213) -> Tensor
_nested_split_with_sizes_backward(Tensor[] grads, SymInt[] split_sizes, int dim, Tensor nt_sizes, TensorOptions options) ->
    Tensor
_safe_size(int[] sizes, int[] dim) -> int
_to_copy_backward(Tensor grad, TensorOptions self_options) -> Tensor
_trilinear_backward(Tensor grad_out, Tensor? i1, Tensor? i2, Tensor? i3, int[] expand1, int[] expand2, int[] expand3, int[]
    sumdim, bool[3] grad_mask) -> (Tensor, Tensor, Tensor)
amaxamin_jvp(Tensor x, Tensor dx, Tensor result, int[] dim, bool keepdim) -> Tensor
aminmax_backward(Tensor self, int? dim, bool keepdim, Tensor grad_min, Tensor grad_max, Tensor min, Tensor max) -> Tensor
aminmax_jvp(Tensor self_p, Tensor self_t, Tensor result, int? dim, bool keepdim) -> Tensor
angle_backward(Tensor grad, Tensor self) -> Tensor
any_variable_defined(Tensor[] variables) -> bool
apply_loss_reduction(Tensor unreduced, int reduction) -> Tensor
as_strided_backward(Tensor grad, TensorGeometry input_geometry, SymInt[] sizes, SymInt[] strides, SymInt? storage_offset) ->
    Tensor
as_strided_scatter_backward(Tensor grad, TensorGeometry input_geometry, TensorGeometry src_geometry, SymInt[] sizes, SymInt[]
    strides, SymInt? storage_offset) -> Tensor
atan2_backward(Tensor grad, Tensor self, Tensor other, bool[2] output_mask) -> (Tensor, Tensor)
batch_norm_jvp(Tensor input_p, Tensor input_t, Tensor weight_p, Tensor weight_t, Tensor bias_p, Tensor bias_t, Tensor?
    running_mean, Tensor? running_var, Tensor saved_mean, Tensor saved_invstd, bool train, float eps) -> Tensor
batchnorm_double_backward(Tensor input, Tensor? gamma, Tensor ggI, Tensor ggG, Tensor ggB, Tensor gO, Tensor? running_mean,
    Tensor? running_var, bool training, float eps, Tensor? save_mean, Tensor? save_invstd, bool[3] output_mask) -> (Tensor,
    Tensor, Tensor)
binary_cross_entropy_double_backward(Tensor grad_output, Tensor grad, Tensor input, Tensor target, Tensor? weight, int
    reduction) -> Tensor
binary_cross_entropy_double_backward_grad_output(Tensor grad, Tensor input, Tensor target, Tensor? weight, int reduction) ->
    Tensor
binary_cross_entropy_double_backward_target(Tensor grad, Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int
    reduction) -> Tensor
binary_cross_entropy_target_backward(Tensor grad, Tensor self, Tensor target, Tensor? weight, int reduction) -> Tensor
binary_cross_entropy_with_logits_backward(Tensor grad, Tensor input, Tensor target, Tensor? weight_opt, Tensor?
    pos_weight_opt, int reduction) -> Tensor
binary_cross_entropy_with_logits_target_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, Tensor?
    pos_weight, int reduction) -> Tensor
block_diag_backward(Tensor grad, int[][] sizes, ScalarType[] dtypes) -> Tensor[]
block_diag_jvp(Tensor[] tensors) -> Tensor
cat_jvp(Tensor[] tensors, int dim) -> Tensor
cat_tensors_backward(Tensor grad, SymInt[][] sizes, ScalarType[] dtypes, int dim) -> Tensor[]
cholesky_backward(Tensor grad, bool upper, Tensor L) -> Tensor
cholesky_inverse_backward(Tensor grad, Tensor L, bool upper, Tensor inverse) -> Tensor
cholesky_inverse_jvp(Tensor F, Tensor dF, Tensor X, bool upper) -> Tensor
cholesky_jvp(Tensor input_tangent, Tensor L, bool upper) -> Tensor
cholesky_solve_backward(Tensor grad_x, Tensor self, Tensor input2, Tensor result, bool upper, bool[2] output_mask) -> (Tensor,
    Tensor)
cholesky_solve_jvp(Tensor X, Tensor U, Tensor dU, Tensor dB, bool upper) -> Tensor
chunk_backward_nested(Tensor[] grads, Tensor self, int chunks, int dim) -> Tensor
clamp_backward(Tensor grad, Tensor self, Scalar? min, Scalar? max) -> Tensor
clamp_backward(Tensor grad, Tensor self, Tensor min, Tensor max) -> Tensor
clamp_backward_min_max(Tensor grad, Tensor self, Tensor min, Tensor max, bool[2] arg) -> (Tensor, Tensor)
clamp_jvp(Tensor self_p, Tensor self_t, Tensor min_p, Tensor min_t, Tensor max_p, Tensor max_t) -> Tensor
constant_pad_nd_backward(Tensor grad, SymInt[] pad) -> Tensor
convolution_backward_jvp_grad_bias(Tensor grad_out_t, Tensor grad_bias) -> Tensor
convolution_jvp(Tensor input_p, Tensor input_t, Tensor weight_p, Tensor weight_t, Tensor bias_p, Tensor bias_t, SymInt[]
    stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor
copysign_tensor_self_backward(Tensor grad, Tensor self, Tensor result) -> Tensor
cumprod_jvp(Tensor self_t, Tensor self_p, Tensor result, int dim) -> Tensor
cumsum_backward(Tensor grad, int dim) -> Tensor
deg2rad_backward(Tensor grad) -> Tensor
div_tensor_other_backward(Tensor grad, Tensor self, Tensor other, str? rounding_mode=) -> Tensor
div_tensor_self_backward(Tensor grad, Tensor other, ScalarType self_st, str? rounding_mode=) -> Tensor
div_tensor_self_backward(Tensor grad, Scalar other, ScalarType self_st, str? rounding_mode=) -> Tensor
elu_double_backward(Tensor grad, Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor
    self_or_result) -> Tensor
embedding_dense_double_backward_symint(Tensor grad, Tensor indices, SymInt padding_idx) -> Tensor
error_for_max_pool2d_double_backward() -> Tensor
evenly_distribute_backward(Tensor grad, Tensor input, Tensor value) -> Tensor
evenly_read_jvp(Tensor fw_grad, Tensor input, Tensor value) -> Tensor
fft_backward(Tensor self, Tensor grad, int signal_ndim, bool complex_input, bool complex_output, bool inverse, int[]
    checked_signal_sizes, int normalization, bool onesided, int[] output_sizes) -> Tensor
fft_c2r_backward(Tensor grad, int[] dim, int normalization) -> Tensor
fft_r2c_backward(Tensor grad, int[] dim, int normalization, bool onesided, SymInt last_dim_size) -> Tensor
gather_with_keepdimed_indices(Tensor input, int dim, Tensor indices, bool keepdim) -> Tensor
gelu_double_backward(Tensor ggI, Tensor gO, Tensor input, str approximate) -> Tensor
glu_double_backward(Tensor grad, Tensor grad_output, Tensor input, int dim) -> Tensor
glu_double_backward_grad_output(Tensor grad, Tensor input, int dim) -> Tensor
grid_sampler_2d_double_backward(Tensor ggI, Tensor ggGrid, Tensor grad_output, Tensor input, Tensor grid, int
    interpolation_mode, int padding_mode, bool align_corners, bool[3] output_mask) -> (Tensor, Tensor, Tensor)
grid_sampler_3d_double_backward(Tensor ggI, Tensor ggGrid, Tensor grad_output, Tensor input, Tensor grid, int
    interpolation_mode, int padding_mode, bool align_corners, bool[3] output_mask) -> (Tensor, Tensor, Tensor)
group_norm_invstd_jvp(Tensor input_p, Tensor input_t, Tensor mean_p, Tensor invstd_p, int groups) -> Tensor
group_norm_jvp(Tensor input_p, Tensor input_t, Tensor weight_p, Tensor weight_t, Tensor bias_p, Tensor bias_t, Tensor
    saved_mean, Tensor saved_invstd, int groups) -> Tensor
group_norm_mean_jvp(Tensor input_t, Tensor mean_p, int groups) -> Tensor
handle_r_to_c(ScalarType self_st, Tensor gradient_result) -> Tensor
householder_product_backward(Tensor grad, Tensor result, Tensor input, Tensor tau, bool flip_order=) -> (Tensor, Tensor)
householder_product_jvp(Tensor dV, Tensor dtau, Tensor prod, Tensor V, Tensor tau) -> Tensor
huber_loss_double_backward(Tensor grad, Tensor input, Tensor target, int reduction, float delta) -> Tensor
huber_loss_double_backward_grad_output(Tensor grad, Tensor grad_output, Tensor input, Tensor target, int reduction, float
    delta) -> Tensor
i1_backward(Tensor grad, Tensor self, Tensor result) -> Tensor
i1e_backward(Tensor grad, Tensor self, Tensor result) -> Tensor
index_backward(Tensor zeros_like_self, Tensor?[] indices, Tensor grad) -> Tensor
index_reduce_backward(Tensor grad, Tensor self, int dim, Tensor index, Tensor source, str reduce, bool include_self, Tensor
    result) -> (Tensor, Tensor)
infinitely_differentiable_logit_backward(Tensor grad, Tensor self, float? eps) -> Tensor
infinitely_differentiable_mish_backward(Tensor grad_output, Tensor input) -> Tensor
infinitely_differentiable_native_dropout_backward(Tensor grad, Tensor mask, float scale) -> Tensor
infinitely_differentiable_native_group_norm_backward(Tensor dY, Tensor dmean, Tensor drstd, Tensor X, Tensor mean, Tensor
    rstd, Tensor? gamma, SymInt N, SymInt C, SymInt HxW, int group, float eps, bool[3] grad_input_mask) -> (Tensor, Tensor,
    Tensor)
infinitely_differentiable_native_rms_norm_backward(Tensor dY, Tensor drstd, Tensor input, int[] normalized_shape, Tensor rstd,
    Tensor? weight_opt, bool[2] grad_input_mask) -> (Tensor, Tensor)
infinitely_differentiable_silu_backward(Tensor grad_output, Tensor input) -> Tensor
layer_norm_double_backward(Tensor input, Tensor? gamma, Tensor ggI, Tensor ggG, Tensor ggB, Tensor gO, Tensor save_mean,
    Tensor save_invstd, SymInt[] normalized_shape, bool[3] output_mask) -> (Tensor, Tensor, Tensor)
layer_norm_jvp(Tensor input_p, Tensor input_t, Tensor weight_p, Tensor weight_t, Tensor bias_p, Tensor bias_t, Tensor
    saved_mean, Tensor saved_invstd, SymInt[] normalized_shape) -> Tensor
linalg_det_backward(Tensor grad, Tensor det, Tensor A, Tensor LU, Tensor pivots) -> Tensor
linalg_det_jvp(Tensor dA, Tensor det, Tensor LU, Tensor pivots, bool use_A_T) -> Tensor
linalg_eig_backward(Tensor gL, Tensor gV, Tensor L, Tensor V, bool is_hermitian, bool symeig_eigenvectors=) -> Tensor
linalg_eig_jvp(Tensor dA, Tensor L, Tensor V, bool is_hermitian) -> (Tensor, Tensor)
linalg_lstsq_backward(Tensor gX, Tensor gL, Tensor A, Tensor B, Tensor X, bool[2] grad_input_mask) -> (Tensor, Tensor)
linalg_lstsq_residuals_jvp(Tensor A, Tensor B, Tensor dA, Tensor dB, Tensor X, Tensor L) -> Tensor
linalg_lstsq_solution_jvp(Tensor A, Tensor B, Tensor dA, Tensor dB) -> Tensor
linalg_lu_backward(Tensor L_grad, Tensor U_grad, Tensor P, Tensor L, Tensor U, bool pivot) -> Tensor
linalg_lu_jvp(Tensor dA, Tensor P, Tensor L, Tensor U, bool pivot) -> (Tensor, Tensor)
linalg_lu_solve_LU(Tensor grad, Tensor LU, Tensor pivots, Tensor X, bool left, bool adjoint) -> Tensor
linalg_lu_solve_jvp(Tensor X, Tensor LU, Tensor pivots, Tensor dLU, Tensor dB, bool left, bool adjoint) -> Tensor
linalg_matrix_exp_differential(Tensor self, Tensor grad, bool adjoint) -> Tensor
linalg_qr_backward(Tensor gQ, Tensor gR, Tensor Q, Tensor R, str mode) -> Tensor
linalg_qr_jvp(Tensor dA, Tensor Q, Tensor R, str mode) -> (Tensor, Tensor)
linalg_solve_backward(Tensor gX, Tensor X, Tensor A, Tensor LU, Tensor pivots, bool left, bool B_requires_grad) -> (Tensor,
    Tensor)
linalg_solve_jvp(Tensor dA, Tensor dB, Tensor X, Tensor LU, Tensor pivots, bool left) -> Tensor
linalg_solve_jvp(Tensor dA, Tensor dB, Tensor X, Tensor LU, Tensor pivots, bool left, bool use_A_T) -> Tensor
linalg_solve_triangular_backward(Tensor grad, Tensor A, Tensor X, bool upper, bool left, bool unitriangular, bool[2]
    output_mask) -> (Tensor, Tensor)
linalg_solve_triangular_forward_AD(Tensor A_t, Tensor B_t, Tensor A, Tensor X, bool upper, bool left, bool unitriangular) ->
    Tensor
linalg_svd_jvp(Tensor dA, Tensor U, Tensor S, Tensor Vh, bool full_matrices) -> (Tensor, Tensor, Tensor)
linalg_vector_norm_backward(Tensor grad, Tensor self, Scalar ord, Tensor norm, int[]? opt_dim, bool keepdim) -> Tensor
linalg_vector_norm_jvp(Tensor self_p, Tensor self_t, Scalar scalar_ord, Tensor norm, int[]? opt_dim, bool keepdim) -> Tensor
linear_double_backward(Tensor[] grads, Tensor self, Tensor grad_output, Tensor weight) -> (Tensor, Tensor, Tensor)
log1p_backward(Tensor grad, Tensor self) -> Tensor
log_sigmoid_double_backward(Tensor grad, Tensor input) -> Tensor
logcumsumexp_backward(Tensor grad, Tensor self, Tensor result, int dim) -> Tensor
logcumsumexp_jvp(Tensor self_p, Tensor self_t, int dim) -> Tensor
logsumexp_backward(Tensor grad, Tensor self, Tensor result, int[] dim, bool keepdim) -> Tensor
logsumexp_jvp(Tensor self_p, Tensor self_t, int[] dim, bool keepdim) -> Tensor
lu_factor_ex_backward(Tensor grad, Tensor LU, Tensor pivs, bool pivot) -> Tensor
lu_factor_ex_jvp(Tensor dX, Tensor LU, Tensor pivs, bool pivot) -> Tensor
lu_unpack_backward(Tensor L_grad, Tensor U_grad, SymInt m, SymInt n) -> Tensor
masked_fill_backward(Tensor grad, Tensor mask) -> Tensor
max_pool_double_backward(Tensor grad, Tensor indices, int dim) -> Tensor
maybe_multiply(Tensor t, Scalar s) -> Tensor
mean_backward(Tensor grad, SymInt[] shape, int[]? opt_dim, SymInt numel, bool keepdim) -> Tensor
mkldnn_rnn_layer_differentiable_backward(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, Tensor
    hx, Tensor cx_tmp, Tensor output, Tensor hy, Tensor cy, Tensor? grad_output_r_opt, Tensor? grad_hy_r_opt, Tensor?
    grad_cy_r_opt, bool reverse, int mode, int hidden_size, int num_layers, bool has_biases, bool train, bool bidirectional,
    int[] batch_sizes, bool batch_first, Tensor workspace) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)
mm_mat1_backward(Tensor grad, Tensor mat2, SymInt[] mat1_sizes, SymInt[] mat1_strides, Layout mat1_layout, Scalar alpha) ->
    Tensor
mm_mat1_sparse_backward(Tensor grad, Tensor mat1, Tensor mat2, Scalar alpha) -> Tensor
mm_mat2_backward(Tensor grad, Tensor mat1, SymInt[] sizes, SymInt[] strides, Layout layout, Scalar alpha) -> Tensor
mse_loss_double_backward(Tensor grad, Tensor input, int reduction) -> Tensor
mul_tensor_backward(Tensor grad, Tensor other, ScalarType self_st) -> Tensor
mul_tensor_backward(Tensor grad, Scalar other, ScalarType self_st) -> Tensor
mvlgamma_backward(Tensor grad, Tensor self, int p) -> Tensor
nansum_backward(Tensor grad, Tensor self, int[]? dims, bool keepdim) -> Tensor
native_dropout_double_backward(Tensor ggI, Tensor grad, Tensor mask, float scale) -> Tensor
norm_backward(Tensor grad, Tensor self, Scalar? p, Tensor norm) -> Tensor
norm_backward(Tensor grad, Tensor self, Scalar? p, Tensor norm, int[] dim, bool keepdim) -> Tensor
norm_jvp(Tensor grad, Tensor self, Scalar? p, Tensor norm) -> Tensor
norm_jvp(Tensor self_p, Tensor self_t, Scalar? p, Tensor norm, int[] dim, bool keepdim) -> Tensor
not_implemented(str name, str reason=) -> Tensor
not_implemented_list(str name, str reason=) -> Tensor[]
ormqr_backward(Tensor grad, Tensor result, Tensor self, Tensor tau, Tensor other, bool left, bool transpose, bool[3]
    grad_output_mask) -> (Tensor, Tensor, Tensor)
permute_backwards(Tensor grad, int[] fwd_dims) -> Tensor
pinv_backward(Tensor grad, Tensor pinvA, Tensor A) -> Tensor
pinv_jvp(Tensor A, Tensor pinvA, Tensor dA) -> Tensor
polar_backward(Tensor grad, Tensor result) -> (Tensor, Tensor)
pow_backward(Tensor grad, Tensor self, Scalar exponent) -> Tensor
pow_backward_exponent(Tensor grad, Scalar base, Tensor exponent, Tensor result) -> Tensor
pow_backward_exponent(Tensor grad, Tensor self, Tensor exponent, Tensor result) -> Tensor
pow_backward_self(Tensor grad, Tensor self, Tensor exponent) -> Tensor
prod_backward(Tensor grad, Tensor input, Tensor result) -> Tensor
prod_backward(Tensor grad, Tensor input, Tensor result, int dim, bool keepdim) -> Tensor
prod_safe_zeros_backward(Tensor grad, Tensor inp, int dim) -> Tensor
rad2deg_backward(Tensor grad) -> Tensor
renorm_backward(Tensor grad, Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor
renorm_jvp(Tensor self_p, Tensor self_t, Scalar p, int dim, Scalar maxnorm) -> Tensor
repeat_backward(Tensor grad, SymInt[] repeats, SymInt[] input_shape) -> Tensor
restore_reduced_dims(Tensor output, int[] dims, bool keepdim) -> Tensor
reverse_dim(Tensor t, int dim) -> Tensor
reverse_list(int[] list) -> int[]
reverse_list_symint(SymInt[] list) -> SymInt[]
rms_norm_jvp(Tensor input_p, Tensor input_t, Tensor weight_p, Tensor weight_t, Tensor saved_rstd, int[] normalized_shape) ->
    Tensor
rms_norm_rstd_jvp(Tensor input_p, Tensor input_t, Tensor saved_rstd, int[] normalized_shape) -> Tensor
safe_logsumexp_jvp(Tensor self_p, Tensor self_t, int[] dim, bool keepdim) -> Tensor
scale_grad_by_count(Tensor grad, Tensor mask, int[] dims) -> Tensor
scatter_reduce_backward(Tensor grad, Tensor self, int dim, Tensor index, Tensor src, str reduce, bool include_self, Tensor
    result) -> (Tensor, Tensor)
scatter_reduce_jvp(Tensor self_p, Tensor self_t, int dim, Tensor index, Tensor src_p, Tensor src_t, str reduce, bool
    include_self, Tensor result) -> Tensor
sgn_backward(Tensor x, Tensor gx, Tensor sgn) -> Tensor
sinc_backward(Tensor grad, Tensor self) -> Tensor
slice_backward_wrapper(Tensor grad, SymInt[] input_sizes, int dim, SymInt? start, SymInt? end, SymInt step) -> Tensor
slogdet_backward(Tensor grad_sign, Tensor grad_logabsdet, Tensor A, Tensor signdet, Tensor LU, Tensor pivots) -> Tensor
slogdet_jvp(Tensor LU, Tensor pivots, Tensor dA, Tensor sign, bool use_A_T) -> (Tensor, Tensor)
smooth_l1_loss_double_backward(Tensor grad, Tensor input, Tensor target, int reduction, float beta) -> Tensor
soft_margin_loss_double_backward(Tensor grad, Tensor input, Tensor target, int reduction) -> Tensor
soft_margin_loss_double_backward_grad_output(Tensor grad, Tensor grad_output, Tensor input, Tensor target, int reduction) ->
    Tensor
softmax_double_backward(Tensor grad, Tensor grad_output, int dim, Tensor output) -> Tensor
softplus_double_backward(Tensor grad, Tensor input, Scalar beta, Scalar threshold) -> Tensor
solve_backward_A(Tensor grad, Tensor self, Tensor A, Tensor solution) -> Tensor
solve_backward_self(Tensor grad, Tensor self, Tensor A) -> Tensor
solve_jvp(Tensor X, Tensor A, Tensor dA, Tensor dB) -> Tensor
sparse_mask_backward(Tensor grad, Tensor mask, Layout self_layout) -> Tensor
sparse_sampled_addmm_backward(Tensor grad, Tensor self, Tensor? mat1, Tensor? mat2, Scalar alpha, Scalar beta, bool[3]
    grad_input_mask) -> (Tensor, Tensor, Tensor)
sparse_sparse_matmul_backward(Tensor grad, Tensor mat1, Tensor mat2, int grad_order) -> Tensor
split_backward(Tensor[] grads, SymInt split_size, int dim, SymInt[] sizes, TensorOptions options) -> Tensor
split_with_sizes_backward(Tensor[] grads, SymInt[] split_sizes, int dim, SymInt[] sizes, TensorOptions options) -> Tensor
stack_jvp(Tensor[] tensors, int dim) -> Tensor
stack_tensors_backward(Tensor grad, int dim, ScalarType[] dtypes) -> Tensor[]
std_backward(Tensor result, Tensor grad, Tensor self, int[]? dim, Scalar? correction, bool keepdim) -> Tensor
std_mean_backward(Tensor gstd, Tensor gmean, Tensor self, Tensor std, int[]? dim_opt, Scalar? correction, bool keepdim) ->
    Tensor
strides_or_error(Tensor input, str input_name) -> SymInt[]
sum_backward(Tensor grad, SymInt[] sizes, int[] dims, bool keepdim) -> Tensor
sum_backward(Tensor grad, SymInt[] sizes, int[]? opt_dims, bool keepdim) -> Tensor
svd_backward(Tensor gU, Tensor gS, Tensor gVh, Tensor U, Tensor S, Tensor Vh) -> Tensor
take_backward(Tensor grad, Tensor self, Tensor indices) -> Tensor
toNonOptFwGrad(Tensor? t) -> Tensor
toNonOptPrimal(Tensor? t) -> Tensor
toNonOptTensor(Tensor? t) -> Tensor
to_sparse_backward(Tensor grad, Layout self_layout, SymInt[]? self_blocksize) -> Tensor
triangular_solve_backward(Tensor grad_x, Tensor grad_m, Tensor b, Tensor a, Tensor x, bool upper, bool transpose, bool
    unitriangular, bool[2] output_mask) -> (Tensor, Tensor)
triangular_solve_jvp(Tensor X, Tensor A, Tensor dA, Tensor dB, bool upper, bool transpose, bool unitriangular) -> Tensor
unbind_backward(Tensor[] grads, int dim) -> Tensor
unbind_backward_nested(Tensor[] grads, Tensor nt_sizes, int dim, TensorOptions options) -> Tensor
unbind_backward_nested_jagged(Tensor[] grads, Tensor self, int dim) -> Tensor
unsqueeze_multiple(Tensor t, int[]? opt_dim, int n_dims) -> Tensor
unsqueeze_to(Tensor self, SymInt[] sym_sizes) -> Tensor
unsqueeze_to(Tensor self, int dim, SymInt[] sym_sizes) -> Tensor
unsqueeze_to(Tensor self, int[] dim, SymInt[] sym_sizes) -> Tensor
update_wrapped_number(Tensor input, Tensor output) -> ()
values_backward(Tensor grad, Tensor self) -> Tensor
var_backward(Tensor grad, Tensor self, int[]? dim, Scalar? correction, bool keepdim) -> Tensor
var_jvp(Tensor self_t, Tensor self_p, Tensor result, int[]? dim_opt, Scalar? correction, bool keepdim) -> Tensor
var_mean_backward(Tensor gvar, Tensor gmean, Tensor self, int[]? dim_opt, Scalar? correction, bool keepdim) -> Tensor
warn_backwards(Tensor grad_output) -> Tensor
wrap_opt_if(Tensor t, bool cond) -> Tensor?
to_args_sizes(Tensor[] t) -> int[][]
to_args_sizes_symint(Tensor[] t) -> SymInt[][]
to_args_scalartypes(Tensor[] t) -> ScalarType[]
GradMode::is_enabled() -> bool
isDifferentiableType(ScalarType t) -> bool
isFloatingType(ScalarType t) -> bool
isComplexType(ScalarType t) -> bool
isIntegralType(ScalarType t, bool include_bool=) -> bool
toComplexType(ScalarType t) -> ScalarType
toRealValueType(ScalarType t) -> ScalarType
toAccumulateType(ScalarType t, bool is_cuda) -> ScalarType
isTensorSubclassLike(Tensor t) -> bool
areAnyTensorSubclassLike(Tensor[] t) -> bool
sum_to(Tensor t, int[] shape, bool always_return_non_view=) -> Tensor
sum_to(Tensor t, SymInt[] shape, bool always_return_non_view=) -> Tensor
is_expandable_to(int[] shape, int[] desired) -> bool
is_expandable_to(SymInt[] shape, SymInt[] desired) -> bool
TensorGeometry(Tensor t) -> TensorGeometry
"""

# Member functions that no schema lists, by the type that has them.
METHODS = """\
Tensor.defined() -> bool
Tensor.dim() -> int
Tensor.ndimension() -> int
Tensor.numel() -> int
Tensor.sym_numel() -> SymInt
Tensor.sizes() -> int[]
Tensor.sym_sizes() -> SymInt[]
Tensor.size(int dim) -> int
Tensor.sym_size(int dim) -> SymInt
Tensor.strides() -> int[]
Tensor.sym_strides() -> SymInt[]
Tensor.stride(int dim) -> int
Tensor.sym_stride(int dim) -> SymInt
Tensor.storage_offset() -> int
Tensor.sym_storage_offset() -> SymInt
Tensor.sym_blocksize() -> SymInt[]?
Tensor.scalar_type() -> ScalarType
Tensor.dtype() -> ScalarType
Tensor.options() -> TensorOptions
Tensor.layout() -> Layout
Tensor.device() -> Device
Tensor.get_device() -> int
Tensor.is_conj() -> bool
Tensor.is_neg() -> bool
Tensor.is_cpu() -> bool
Tensor.is_cuda() -> bool
Tensor.is_xpu() -> bool
Tensor.is_mps() -> bool
Tensor.is_hpu() -> bool
Tensor.is_meta() -> bool
Tensor.is_sparse() -> bool
Tensor.is_sparse_csr() -> bool
Tensor.is_mkldnn() -> bool
Tensor.is_quantized() -> bool
Tensor.is_nested() -> bool
Tensor.is_complex() -> bool
Tensor.is_floating_point() -> bool
Tensor.is_contiguous(MemoryFormat memory_format=) -> bool
Tensor.is_contiguous_or_false(MemoryFormat memory_format=) -> bool
Tensor.is_non_overlapping_and_dense() -> bool
Tensor.is_same(Tensor other) -> bool
Tensor.suggest_memory_format(bool channels_last_strides_exact_match=) -> MemoryFormat
Tensor.element_size() -> int
Tensor.itemsize() -> int
Tensor.requires_grad() -> bool
Tensor.is_leaf() -> bool
Tensor.tensor_data() -> Tensor
Tensor.variable_data() -> Tensor
Scalar.conj() -> Scalar
Scalar.log() -> Scalar
Scalar.toDouble() -> float
Scalar.toFloat() -> float
Scalar.toLong() -> int
Scalar.toInt() -> int
Scalar.toBool() -> bool
Scalar.toSymInt() -> SymInt
Scalar.toComplexDouble() -> complex
Scalar.toComplexFloat() -> complex
Scalar.isComplex() -> bool
Scalar.isFloatingPoint() -> bool
Scalar.isIntegral(bool include_bool) -> bool
Scalar.isBoolean() -> bool
Scalar.isSymbolic() -> bool
Scalar.equal(Scalar other) -> bool
Scalar.type() -> ScalarType
TensorOptions.dtype(ScalarType dtype=) -> TensorOptions
TensorOptions.layout(Layout layout=) -> TensorOptions
TensorOptions.device(Device device=) -> TensorOptions
TensorOptions.memory_format(MemoryFormat memory_format) -> TensorOptions
TensorOptions.requires_grad(bool requires_grad=) -> TensorOptions
TensorInfo.zeros() -> Tensor
TensorGeometry.dim() -> int
TensorGeometry.numel() -> int
TensorGeometry.sizes() -> int[]
TensorGeometry.strides() -> int[]
TensorGeometry.sym_sizes() -> SymInt[]
TensorGeometry.sym_strides() -> SymInt[]
TensorGeometry.sym_size(int dim) -> SymInt
TensorGeometry.storage_offset() -> int
TensorGeometry.sym_storage_offset() -> SymInt
TensorGeometry.is_contiguous() -> bool
Device.is_cpu() -> bool
Device.is_cuda() -> bool
Device.is_xpu() -> bool
Device.is_mps() -> bool
Device.is_meta() -> bool
SymInt.expect_int() -> int
SymInt.guard_int(str file, int line) -> int
"""

# Constants, by their last name; a `k` name of c10 that is not here is unknown.
CONSTANTS = {
    "nullopt": "nullopt",
    "M_PI": "float", "M_PI_2": "float", "M_PI_4": "float", "M_1_PI": "float", "M_2_PI": "float", "M_2_SQRTPI": "float",
    "M_E": "float", "M_LN2": "float", "M_LN10": "float", "M_LOG2E": "float", "M_LOG10E": "float", "M_SQRT2": "float",
    "M_SQRT1_2": "float", "INFINITY": "float", "NAN": "float",
    "kCudnnDoubleBackwardMsg": "str",
    "Reduction::None": "int", "Reduction::Mean": "int", "Reduction::Sum": "int",
    "MemoryFormat::Contiguous": "MemoryFormat", "MemoryFormat::Preserve": "MemoryFormat",
    "MemoryFormat::ChannelsLast": "MemoryFormat", "MemoryFormat::ChannelsLast3d": "MemoryFormat",
    "kStrided": "Layout", "kSparse": "Layout", "kSparseCsr": "Layout", "kSparseCsc": "Layout", "kSparseBsr": "Layout",
    "kSparseBsc": "Layout", "kMkldnn": "Layout", "kJagged": "Layout",
    "kCPU": "Device", "kCUDA": "Device", "kMPS": "Device", "kXPU": "Device", "kMeta": "Device",
    "kBool": "ScalarType", "kByte": "ScalarType", "kChar": "ScalarType", "kShort": "ScalarType", "kInt": "ScalarType",
    "kLong": "ScalarType", "kHalf": "ScalarType", "kFloat": "ScalarType", "kDouble": "ScalarType", "kBFloat16": "ScalarType",
    "kComplexHalf": "ScalarType", "kComplexFloat": "ScalarType", "kComplexDouble": "ScalarType",
}  # fmt: skip
