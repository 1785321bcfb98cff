// What nodes.grad calls.
#pragma once

#include <ATen/ATen.h>
#include <ATen/TensorGeometry.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace mixing {
using at::Tensor;

// A number for every value; other values give other numbers.
inline double number(double x) { return 1.5 + x; }
inline double number(int64_t n) { return number(static_cast<double>(n) / 8); }
inline double number(bool b) { return b ? 2.25 : 0.75; }
inline double number(const c10::SymInt& n) { return number(n.guard_int(__FILE__, __LINE__)); }
inline double number(const at::Scalar& s) { return s.isIntegral(true) ? 7 * number(s.toDouble()) : number(s.toDouble()); }
inline double number(at::ScalarType t) { return number(static_cast<int64_t>(t)); }
inline double number(at::Layout l) { return number(static_cast<int64_t>(l)); }
inline double number(at::MemoryFormat m) { return number(static_cast<int64_t>(m)); }
inline double number(at::Device d) { return number(static_cast<int64_t>(d.type()) * 64 + d.index()); }
inline double number(std::string_view text) {
  double sum = 0.125;
  for (char c : text) {
    sum = 0.5 * sum + static_cast<double>(c) / 64;
  }
  return sum;
}
inline double number(const std::string& text) { return number(std::string_view(text)); }

inline double number(const at::TensorOptions& options) {
  return number(options.device()) + 3 * number(at::typeMetaToScalarType(options.dtype())) + 5 * number(options.requires_grad());
}

template <class T>
double number(const std::optional<T>& value);
template <class T>
double number(at::ArrayRef<T> values);
template <class T>
double number(const std::vector<T>& values) { return number(at::ArrayRef<T>(values)); }
template <class T>
double number(const c10::OptionalArray<T>& values) { return number(values.list); }

template <class T>
double number(const std::optional<T>& value) { return value ? 3 * number(*value) : 0.3125; }

template <class T>
double number(at::ArrayRef<T> values) {
  double sum = 0.25;
  for (const T& value : values) {
    sum = 0.75 * sum + number(value);
  }
  return sum;
}

inline double number(const at::TensorGeometry& geometry) {
  return number(geometry.sym_sizes()) + 3 * number(geometry.sym_strides()) + 5 * number(geometry.sym_storage_offset());
}

template <class T>
Tensor mix(const Tensor& grad, const T& value) { return grad * number(value); }

inline Tensor mix(const Tensor& grad, const c10::List<std::optional<Tensor>>& tensors) {
  Tensor product = grad;
  for (const std::optional<Tensor>& tensor : tensors.vec()) {
    product = tensor ? product * *tensor : product * 0.5;
  }
  return product;
}

inline std::vector<Tensor> crosswise(const std::vector<Tensor>& grads, const std::vector<Tensor>& results) {
  std::vector<Tensor> products(grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    const Tensor& other = results[grads.size() - 1 - i];
    products[i] = grads[i].defined() ? grads[i] * other : other;
  }
  return products;
}

inline std::tuple<Tensor, Tensor, Tensor> product_backward(
    const Tensor& grad, const Tensor& a, const Tensor& b, const Tensor& c, std::array<bool, 3> mask) {
  if (!grad.defined()) {
    return {};
  }
  return {mask[0] ? grad * b * c : Tensor(), mask[1] ? grad * a * c : Tensor(), mask[2] ? grad * a * b : Tensor()};
}
} // namespace mixing
