// The functions that specs/*.grad declare with `extern`, as torch 1.8 and C++14 can declare them.
#pragma once

#include <ATen/ATen.h>
#include <ATen/TensorGeometry.h>

#include <array>
#include <tuple>
#include <vector>

namespace gradspec { namespace generated {
using at::IntArrayRef;
using at::Tensor;

std::tuple<Tensor, Tensor, Tensor> affine_backward(
    const Tensor& grad, const Tensor& x, const Tensor& weight, c10::optional<IntArrayRef> bias_sizes, std::array<bool, 3> mask);
std::tuple<Tensor, Tensor, Tensor> attend_backward(
    const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& output,
    const Tensor& log_sums, const Tensor& mask, double dropout, bool causal, double scale, std::array<bool, 3> wanted);
std::tuple<Tensor, Tensor> blend_backward(
    const Tensor& grad, const std::vector<Tensor>& weights, const std::vector<c10::optional<Tensor>>& inputs);
std::tuple<Tensor, Tensor> great_circle_backward(
    const Tensor& grad, const Tensor& a, const Tensor& b, const Tensor& result, double radius, std::array<bool, 2> mask);
Tensor join_defined(const std::vector<Tensor>& grads, IntArrayRef sizes, const at::TensorOptions& options);
Tensor lookup_backward_cuda(const Tensor& grad, const Tensor& rows, int64_t size);
std::tuple<Tensor, Tensor> recurrence_backward(
    const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& output, const Tensor& workspace);
Tensor scatter_into(const at::TensorGeometry& geometry, const Tensor& grad, int64_t step);
std::vector<Tensor> split_like(
    const Tensor& grad, const std::vector<std::vector<int64_t>>& sizes, const std::vector<at::ScalarType>& types);
Tensor to_layout(const Tensor& grad, at::Layout layout, c10::optional<IntArrayRef> blocksize);
}} // namespace gradspec::generated

namespace geo {
at::Tensor rotation_backward(const at::Tensor& grad, const at::Tensor& angle);
} // namespace geo

namespace lab {
std::vector<at::Tensor> split_like(
    const at::Tensor& grad, const std::vector<std::vector<int64_t>>& sizes, const std::vector<at::ScalarType>& types);
} // namespace lab
