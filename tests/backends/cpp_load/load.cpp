// Ops that record the emitted nodes, as an operator's autograd kernel does, so that the tests can send gradients through them.
#include "Functions.h"

#include <ATen/ATen.h>

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/library.h>

using namespace gradspec::generated;

namespace {

// Saves, runs the op below autograd, and makes the node the history of what came out. `more` saves outputs.
template <class N, class Save, class Run, class More>
auto record(const std::vector<Tensor>& inputs, Save save, Run run, More more) {
  auto node = c10::make_intrusive<N>();
  node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  save(*node);
  auto result = [&] {
    at::AutoDispatchBelowAutograd below;
    return run();
  }();
  torch::autograd::set_history(result, node);
  more(*node, result);
  return result;
}

template <class N, class Save, class Run>
auto record(const std::vector<Tensor>& inputs, Save save, Run run) {
  return record<N>(inputs, save, run, [](auto&, auto&) {});
}

SavedVariable keep(const Tensor& tensor) {
  return SavedVariable(tensor, false);
}

std::vector<SavedVariable> keep(at::TensorList tensors) {
  std::vector<SavedVariable> kept;
  for (const Tensor& tensor : tensors) {
    kept.push_back(keep(tensor));
  }
  return kept;
}

Tensor record_mul(const Tensor& a, const Tensor& b) {
  auto save = [&](auto& node) {
    node.self_ = keep(a);
    node.other_ = keep(b);
  };
  return record<MulBackward0>({a, b}, save, [&] { return at::mul(a, b); });
}

Tensor record_exp(const Tensor& a) {
  auto keep_output = [](auto& node, const Tensor& result) { node.result_ = SavedVariable(result, true); };
  return record<ExpBackward0>({a}, [](auto&) {}, [&] { return at::exp(a); }, keep_output);
}

Tensor record_sign(const Tensor& a) {
  return record<SignBackward0>({a}, [&](auto& node) { node.self_info = a; }, [&] { return at::sign(a); });
}

Tensor record_stack(at::TensorList tensors, int64_t dim) {
  auto save = [&](auto& node) {
    node.dim = dim;
    node.tensors_size_ = tensors.size();
  };
  return record<StackBackward0>(tensors.vec(), save, [&] { return at::stack(tensors, dim); });
}

std::vector<Tensor> record_foreach_mul(at::TensorList a, at::TensorList b) {
  auto inputs = a.vec();
  inputs.insert(inputs.end(), b.begin(), b.end());
  auto save = [&](auto& node) {
    node.self_ = keep(a);
    node.other_ = keep(b);
    node.self_size_ = a.size();
    node.other_size_ = b.size();
  };
  return record<ForeachMulBackward0>(inputs, save, [&] { return at::_foreach_mul(a, b); });
}

std::vector<Tensor> record_foreach_scale(at::TensorList a, at::ArrayRef<double> factors) {
  std::vector<at::Scalar> scalars(factors.begin(), factors.end());
  auto save = [&](auto& node) {
    node.scalars = scalars;
    node.self_size_ = a.size();
  };
  return record<ForeachMulBackward1>(a.vec(), save, [&] { return at::_foreach_mul(a, scalars); });
}

Tensor record_gelu(const Tensor& a, std::string_view approximate) {
  auto save = [&](auto& node) {
    node.self_ = keep(a);
    node.approximate = std::string(approximate);
  };
  return record<GeluBackward0>({a}, save, [&] { return at::gelu(a, approximate); });
}

Tensor record_div(const Tensor& a, const Tensor& b, std::optional<std::string_view> mode) {
  auto save = [&](auto& node) {
    node.other_ = keep(b);
    node.rounding_mode = mode;
  };
  return record<DivBackward0>({a, b}, save, [&] { return at::div(a, b, mode); });
}

Tensor record_prelu(const Tensor& a, const Tensor& weight) {
  auto save = [&](auto& node) {
    node.self_ = keep(a);
    node.weight_ = keep(weight);
  };
  return record<PreluKernelBackward0>({a, weight}, save, [&] { return at::_prelu_kernel(a, weight); });
}

Tensor record_index(const Tensor& a, const Tensor& rows) {
  auto save = [&](auto& node) {
    node.self_sym_sizes = a.sym_sizes().vec();
    node.self_options = a.options();
    node.indices_.push_back(keep(rows));
  };
  return record<IndexBackward0>({a}, save, [&] { return at::index(a, {rows}); });
}

} // namespace

TORCH_LIBRARY(gradspec_load, m) {
  m.def("mul(Tensor a, Tensor b) -> Tensor", record_mul);
  m.def("exp(Tensor a) -> Tensor", record_exp);
  m.def("sign(Tensor a) -> Tensor", record_sign);
  m.def("stack(Tensor[] tensors, int dim) -> Tensor", record_stack);
  m.def("foreach_mul(Tensor[] a, Tensor[] b) -> Tensor[]", record_foreach_mul);
  m.def("foreach_scale(Tensor[] a, float[] factors) -> Tensor[]", record_foreach_scale);
  m.def("gelu(Tensor a, str approximate) -> Tensor", record_gelu);
  m.def("div(Tensor a, Tensor b, str? mode) -> Tensor", record_div);
  m.def("prelu(Tensor a, Tensor weight) -> Tensor", record_prelu);
  m.def("index(Tensor a, Tensor rows) -> Tensor", record_index);
}
