// The helpers that the formulas of B25 and B28 call.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace case_helpers {
using at::Tensor;

inline std::vector<Tensor> gb25l_backward(const Tensor& grad, const std::vector<Tensor>& ts) {
  std::vector<Tensor> grads;
  for (const auto& t : ts) {
    grads.push_back(grad * 2 * t);
  }
  return grads;
}

inline Tensor gb28_backward(const Tensor& grad, int64_t dim, at::IntArrayRef dims, std::optional<int64_t> opt) {
  return grad * dim * static_cast<int64_t>(dims.size()) * opt.value_or(1);
}

inline Tensor gb28n_backward(const Tensor& grad, bool exact, const at::Scalar& number) {
  return exact ? grad * number : grad;
}

} // namespace case_helpers
