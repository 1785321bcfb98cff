// Nodes of nodes.grad with values in them, in whatever shape: NODES is the namespace that they were emitted in.
#pragma once

#include "Functions.h"

#include "helpers.h"

#include <torch/csrc/autograd/functions/utils.h>
#include <torch/library.h>

#include <functional>
#include <map>
#include <string>

using namespace NODES;

namespace {

using torch::autograd::Edge;
using torch::autograd::edge_list;
using NodePtr = c10::intrusive_ptr<Node>;

// What a node is made of: tensors to save, all different, and its output, of which it is the history.
struct Values {
  std::vector<Tensor> tensors;
  Tensor output;
};

SavedVariable keep(const Tensor& tensor) { return SavedVariable(tensor, false); }

std::vector<SavedVariable> keep(std::initializer_list<Tensor> tensors) {
  std::vector<SavedVariable> kept;
  for (const Tensor& tensor : tensors) {
    kept.push_back(keep(tensor));
  }
  return kept;
}

struct Recipe {
  std::vector<int64_t> inputs;
  int64_t outputs;
  std::function<NodePtr()> make;
  std::function<void(Node&, const Values&)> save;
};

// `inputs`: how many tensors each differentiable input is.
template <class N>
std::pair<std::string, Recipe> recipe(std::vector<int64_t> inputs, void (*save)(N&, const Values&), int64_t outputs = 1) {
  auto make = [] { return NodePtr(c10::make_intrusive<N>()); };
  auto typed = [save](Node& node, const Values& values) { save(static_cast<N&>(node), values); };
  return {N().name(), Recipe{inputs, outputs, make, typed}};
}

const std::map<std::string, Recipe>& recipes() {
  static const std::map<std::string, Recipe> all = {
      recipe<KeepIntBackward0>({1}, [](auto& node, auto&) { node.n = -3; }),
      recipe<KeepIntOptBackward0>({1}, [](auto& node, auto&) { node.n = 4; }),
      recipe<KeepIntsBackward0>({1}, [](auto& node, auto&) { node.n = {1, -2, 3}; }),
      recipe<KeepIntsOptBackward0>({1}, [](auto& node, auto&) { node.n.list = {5, 6}; }),
      recipe<KeepIntListsBackward0>({2}, [](auto& node, auto&) {
        node.tensors_args_sizes = {{2, 3}, {}, {4}};
        node.tensors_size_ = 2;
      }),
      recipe<KeepSymintBackward0>({1}, [](auto& node, auto&) { node.n = 7; }),
      recipe<KeepSymintOptBackward0>({1}, [](auto& node, auto&) { node.n = c10::SymInt(-8); }),
      recipe<KeepSymintsBackward0>({1}, [](auto& node, auto&) { node.self_sym_sizes = {2, 3}; }),
      recipe<KeepSymintsOptBackward0>({1}, [](auto& node, auto&) { node.n.list = {9, 1}; }),
      recipe<KeepSymintListsBackward0>({2}, [](auto& node, auto&) {
        node.tensors_args_sizes_symint = {{5, 2}, {1}};
        node.tensors_size_ = 2;
      }),
      recipe<KeepFloatBackward0>({1}, [](auto& node, auto&) { node.x = 0.375; }),
      recipe<KeepFloatOptBackward0>({1}, [](auto& node, auto&) { node.x = -0.5; }),
      recipe<KeepFloatsBackward0>({1}, [](auto& node, auto&) { node.x = {0.5, 1.25}; }),
      recipe<KeepFloatsOptBackward0>({1}, [](auto& node, auto&) { node.x.list = {2.5}; }),
      recipe<KeepBoolBackward0>({1}, [](auto& node, auto&) { node.b = true; }),
      recipe<KeepBoolOptBackward0>({1}, [](auto& node, auto&) { node.b = false; }),
      recipe<KeepScalarBackward0>({1}, [](auto& node, auto&) { node.s = 2.75; }),
      recipe<KeepScalarOptBackward0>({1}, [](auto& node, auto&) { node.s = at::Scalar(3); }),
      recipe<KeepScalarsBackward0>({1}, [](auto& node, auto&) { node.s = {at::Scalar(1), at::Scalar(0.5), at::Scalar(true)}; }),
      recipe<KeepScalarOutputBackward0>({1}, [](auto& node, auto& values) { node.second_ = keep(values.tensors[0]); }),
      recipe<KeepStrBackward0>({1}, [](auto& node, auto&) { node.s = "some \"text\""; }),
      recipe<KeepStrOptBackward0>({1}, [](auto& node, auto&) { node.s = "other"; }),
      recipe<KeepScalarTypeBackward0>({1}, [](auto& node, auto&) { node.t = at::kHalf; }),
      recipe<KeepScalarTypeOptBackward0>({1}, [](auto& node, auto&) { node.t = at::kComplexDouble; }),
      recipe<KeepScalarTypesBackward0>({2}, [](auto& node, auto&) {
        node.tensors_args_scalartypes = {at::kFloat, at::kLong};
        node.tensors_size_ = 2;
      }),
      recipe<KeepLayoutBackward0>({1}, [](auto& node, auto&) { node.self_layout = at::kSparse; }),
      recipe<KeepDeviceBackward0>({1}, [](auto& node, auto&) { node.d = at::Device(at::kCUDA, 3); }),
      recipe<KeepMemoryFormatBackward0>({1}, [](auto& node, auto&) { node.m = at::MemoryFormat::ChannelsLast; }),
      recipe<KeepMemoryFormatOptBackward0>({1}, [](auto& node, auto&) { node.m = at::MemoryFormat::Preserve; }),
      recipe<KeepOptionsBackward0>({1}, [](auto& node, auto& values) { node.self_options = values.tensors[0].options(); }),
      recipe<KeepInfoBackward0>({1}, [](auto& node, auto& values) { node.self_info = values.tensors[0]; }),
      recipe<KeepGeometryBackward0>({1}, [](auto& node, auto& values) {
        node.self_geometry = at::TensorGeometry(values.tensors[0].t().slice(0, 1));
      }),
      recipe<KeepOptionalTensorsBackward0>({1}, [](auto& node, auto& values) {
        node.indices_ = keep({values.tensors[0], Tensor(), values.tensors[1]});
      }),
      recipe<KeepOptionalTensorBackward0>({1, 1}, [](auto& node, auto& values) { node.self_ = keep(values.tensors[0]); }),
      recipe<KeepOutputListBackward0>({2}, [](auto& node, auto& values) {
        node.result_.emplace_back(values.output, true);
        node.result_.push_back(keep(values.tensors[0]));
        node.self_size_ = 2;
      }, 2),
      recipe<KeepNothingBackward0>({1}, [](auto&, auto&) {}),
      recipe<MultiplyBackward0>({1, 1}, [](auto& node, auto& values) {
        node.a_ = keep(values.tensors[0]);
        node.b_ = keep(values.tensors[1]);
      }),
      recipe<ExponentialBackward0>({1}, [](auto& node, auto& values) { node.result_ = SavedVariable(values.output, true); }),
      recipe<SigmoidBackward0>({1}, [](auto& node, auto& values) { node.result_ = SavedVariable(values.output, true); }),
      recipe<StackBackward0>({2}, [](auto& node, auto&) {
        node.dim = 0;
        node.tensors_size_ = 2;
      }),
      recipe<MaximumPairBackward0>({1, 1}, [](auto& node, auto& values) {
        node.a_ = keep(values.tensors[0]);
        node.b_ = keep(values.tensors[1]);
      }, 2),
      recipe<ProductBackward0>({1, 1, 1}, [](auto& node, auto& values) {
        node.a_ = keep(values.tensors[0]);
        node.b_ = keep(values.tensors[1]);
        node.c_ = keep(values.tensors[2]);
      }),
      recipe<TwoListsBackward0>({2, 1, 1}, [](auto& node, auto& values) {
        node.a_ = keep({values.tensors[0], values.tensors[1]});
        node.b_ = keep(values.tensors[2]);
        node.c_ = keep({values.tensors[3]});
        node.a_size_ = 2;
        node.c_size_ = 1;
      }),
      recipe<RecomputeBackward0>({1}, [](auto& node, auto& values) { node.self_ = keep(values.tensors[0]); }),
      recipe<ForeachMultiplyBackward0>({2, 2}, [](auto& node, auto& values) {
        node.self_ = keep({values.tensors[0], values.tensors[1]});
        node.other_ = keep({values.tensors[2], values.tensors[3]});
        node.self_size_ = node.other_size_ = 2;
      }, 2),
      recipe<ForeachScaleBackward0>({2}, [](auto& node, auto&) {
        node.factors = {at::Scalar(2), at::Scalar(-0.5)};
        node.self_size_ = 2;
      }, 2),
      recipe<ForeachAxpyBackward0>({2, 2}, [](auto& node, auto&) {
        node.alpha = 2.5;
        node.self_size_ = node.other_size_ = 2;
      }, 2),
      recipe<ViewOfBackward0>({1}, [](auto& node, auto&) { node.self_sym_sizes = {3, 2}; }),
  };
  return all;
}

const Recipe& named(const std::string& name) {
  auto found = recipes().find(name);
  TORCH_CHECK(found != recipes().end(), "no recipe for ", name);
  return found->second;
}

// A node with its values, and its first output. `saved`: whether to save anything; what is optional is absent otherwise.
std::pair<NodePtr, Tensor> made(const std::string& name, edge_list edges, bool saved) {
  const Recipe& recipe = named(name);
  NodePtr node = recipe.make();
  node->set_next_edges(std::move(edges));
  Values values;
  for (int i = 0; i < 4; ++i) {
    values.tensors.push_back(at::arange(1, 7, at::kDouble).reshape({2, 3}).add(i * 0.5).sin());
  }
  values.output = at::arange(6, at::kDouble).reshape({2, 3}).cos();
  torch::autograd::set_history(values.output, node);
  if (saved) {
    recipe.save(*node, values);
  }
  return {node, values.output};
}

// The edges of a node of which some inputs want a gradient.
edge_list edges_for(const c10::List<bool>& needs) {
  auto sink = c10::make_intrusive<KeepNothingBackward0>();
  edge_list edges;
  for (bool needed : needs.vec()) {
    edges.push_back(needed ? Edge(sink, 0) : Edge());
  }
  return edges;
}

variable_list optional_tensors(const c10::List<std::optional<Tensor>>& tensors) {
  variable_list out;
  for (const std::optional<Tensor>& tensor : tensors.vec()) {
    out.push_back(tensor.value_or(Tensor()));
  }
  return out;
}

// Outputs with a history, for the engine to go through.
std::vector<Tensor> record(const std::string& name, at::TensorList inputs) {
  auto [node, output] = made(name, torch::autograd::collect_next_edges(inputs), true);
  std::vector<Tensor> outputs = {output};
  for (int64_t i = 1; i < named(name).outputs; ++i) {
    outputs.push_back(at::zeros({2, 3}, at::kDouble));
    torch::autograd::set_history(outputs.back(), node);
  }
  return outputs;
}

std::vector<int64_t> inputs(const std::string& name) { return named(name).inputs; }
int64_t outputs(const std::string& name) { return named(name).outputs; }

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, _] : recipes()) {
    all.push_back(name);
  }
  return all;
}

// What the ops are that every shape has.
void define_common(torch::Library& m) {
  m.def("names() -> str[]", names);
  m.def("inputs(str name) -> int[]", inputs);
  m.def("outputs(str name) -> int", outputs);
  m.def("record(str name, Tensor[] inputs) -> Tensor[]", record);
}
} // namespace
