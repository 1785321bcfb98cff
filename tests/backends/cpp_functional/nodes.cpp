// Nodes of nodes.grad with values in them, called as the engine would and through their stateless functions.
#include "Functions.h"

#include "helpers.h"

#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/dynamo/compiled_autograd.h>
#include <torch/library.h>

#include <functional>
#include <map>
#include <string>

using namespace gradspec::generated;

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

// What stands in for saved values while a compiler looks on: here copies, so that nothing of the node itself is left.
ivalue_list retrieve(Node& node) {
  namespace compiled = torch::dynamo::autograd;
  compiled::AutogradCompilerCall compiler(compiled::SizeInput::STATIC);
  compiled::NodeCall call(0, node.getptr());
  compiled::CompiledNodeArgs args(compiler, call);
  node.compiled_args(args);
  for (const Tensor& tensor : compiler.tensor_args.inputs) {
    compiler.tensor_args.lookup(tensor).proxy_tensor = tensor.detach().clone();
  }
  compiled::TraceState state(std::vector<std::optional<c10::SymInt>>(compiler.all_size_inputs.size()), 0);
  compiled::SwapSavedVariables swap(compiler, state, nullptr, call);
  ivalue_list values = dynamic_cast<Functional&>(node).retrieve_saved(swap);
  swap.debug_asserts();
  return values;
}

variable_list optional_tensors(const c10::List<std::optional<Tensor>>& tensors) {
  variable_list out;
  for (const std::optional<Tensor>& tensor : tensors.vec()) {
    out.push_back(tensor.value_or(Tensor()));
  }
  return out;
}

// What apply gives, what the stateless function gives of get_state and of retrieve_saved; the node is gone by then.
std::tuple<variable_list, variable_list, variable_list> compare(
    const std::string& name, const c10::List<bool>& needs, const c10::List<std::optional<Tensor>>& grads, bool saved) {
  auto sink = c10::make_intrusive<KeepNothingBackward0>();
  edge_list edges;
  for (bool needed : needs.vec()) {
    edges.push_back(needed ? Edge(sink, 0) : Edge());
  }
  auto [node, output] = made(name, edges, saved);
  auto& functional = dynamic_cast<Functional&>(*node);
  auto function = functional.get_functional();
  auto state = functional.get_state();
  auto retrieved = retrieve(*node);
  auto applied = (*node)(optional_tensors(grads));
  output = Tensor();
  node->release_variables();
  node.reset();
  return {applied, function(optional_tensors(grads), state), function(optional_tensors(grads), retrieved)};
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

void read_released(const std::string& name) {
  size_t inputs = 0;
  for (int64_t size : named(name).inputs) {
    inputs += static_cast<size_t>(size);
  }
  auto node = made(name, edge_list(inputs), true).first;
  node->release_variables();
  dynamic_cast<Functional&>(*node).get_state();
}

// Whether compiled autograd takes nodes of these lists for one another.
bool same_key(at::IntArrayRef left, at::IntArrayRef right) {
  namespace compiled = torch::dynamo::autograd;
  compiled::AutogradCompilerCall compiler(compiled::SizeInput::STATIC);
  auto call_of = [](at::IntArrayRef sizes) {
    auto node = c10::make_intrusive<ForeachAxpyBackward0>();
    node->alpha = 1;
    node->self_size_ = static_cast<size_t>(sizes[0]);
    node->other_size_ = static_cast<size_t>(sizes[1]);
    return compiled::NodeCall(0, node);
  };
  compiled::NodeCall calls[] = {call_of(left), call_of(right)};
  compiled::CompiledNodeArgs first(compiler, calls[0]), second(compiler, calls[1]);
  calls[0].node->compiled_args(first);
  calls[1].node->compiled_args(second);
  return first.key() == second.key();
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

// ------------------------------------------------------------------------------------------------------------- SavedState

bool same(const Tensor& a, const Tensor& b) { return a.defined() == b.defined() && (!a.defined() || at::equal(a, b)); }
bool same(const at::Scalar& a, const at::Scalar& b) { return a.type() == b.type() && a.toDouble() == b.toDouble(); }
bool same(const TypeAndSize& a, const TypeAndSize& b) {
  return a.sym_sizes == b.sym_sizes && mixing::number(a.options) == mixing::number(b.options);
}
bool same(const at::TensorGeometry& a, const at::TensorGeometry& b) {
  return a.sym_sizes() == b.sym_sizes() && a.sym_strides() == b.sym_strides() && a.sym_storage_offset() == b.sym_storage_offset();
}
bool same(const at::TensorOptions& a, const at::TensorOptions& b) {
  return a.device_opt() == b.device_opt() && a.dtype_opt() == b.dtype_opt() && a.layout_opt() == b.layout_opt() &&
      a.requires_grad_opt() == b.requires_grad_opt() && a.pinned_memory_opt() == b.pinned_memory_opt() &&
      a.memory_format_opt() == b.memory_format_opt();
}
template <class T>
bool same(const T& a, const T& b) { return a == b; }
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b);
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}
template <class T>
bool same(const c10::List<T>& a, const c10::List<T>& b) { return same(a.vec(), b.vec()); }
template <class T>
bool same(const c10::OptionalArray<T>& a, const c10::OptionalArray<T>& b) { return same(a.list, b.list); }
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const T& x, const T& y) { return same(x, y); });
}

// Each value by itself and all in one state: which came back as it was.
template <class T>
bool comes_back(std::initializer_list<T> values) {
  SavedState all;
  for (const T& value : values) {
    all.enqueue(value);
  }
  SavedState copy(all.stack);
  return std::all_of(values.begin(), values.end(), [&](const T& value) {
    return same(value, copy.dequeue<T>());
  });
}

c10::Dict<std::string, bool> round_trips() {
  c10::Dict<std::string, bool> results;
#define ROUND_TRIP(T, ...) results.insert(#T, comes_back<T>({__VA_ARGS__}))
  using at::Device, at::Layout, at::MemoryFormat, at::Scalar, at::ScalarType, at::TensorOptions, c10::SymInt;
  using std::optional, std::string, std::vector;
  Tensor tensor = at::arange(6, at::kDouble).reshape({2, 3});
  ROUND_TRIP(Tensor, tensor, Tensor());
  ROUND_TRIP(vector<Tensor>, {}, {tensor, Tensor()});
  ROUND_TRIP(c10::List<optional<Tensor>>, c10::List<optional<Tensor>>({std::nullopt, tensor}), c10::List<optional<Tensor>>());
  ROUND_TRIP(size_t, 0, 3);
  ROUND_TRIP(int64_t, 0, -5);
  ROUND_TRIP(optional<int64_t>, -5, std::nullopt);
  ROUND_TRIP(vector<int64_t>, {}, {1, -2});
  ROUND_TRIP(c10::OptionalArray<int64_t>, {}, {vector<int64_t>{1, -2}}, {vector<int64_t>{}});
  ROUND_TRIP(vector<vector<int64_t>>, {}, {{1}, {}, {2, 3}});
  ROUND_TRIP(SymInt, SymInt(0), SymInt(-5));
  ROUND_TRIP(optional<SymInt>, SymInt(4), std::nullopt);
  ROUND_TRIP(vector<SymInt>, {}, {SymInt(1), SymInt(-2)});
  ROUND_TRIP(c10::OptionalArray<SymInt>, {}, {vector<SymInt>{1, -2}});
  ROUND_TRIP(vector<vector<SymInt>>, {}, {{SymInt(1)}, {}, {SymInt(2), SymInt(3)}});
  ROUND_TRIP(double, 0.0, -1.5);
  ROUND_TRIP(optional<double>, 2.5, std::nullopt);
  ROUND_TRIP(vector<double>, {}, {1.5, -2.5});
  ROUND_TRIP(c10::OptionalArray<double>, {}, {vector<double>{1.5, -2.5}});
  ROUND_TRIP(bool, true, false);
  ROUND_TRIP(optional<bool>, true, false, std::nullopt);
  ROUND_TRIP(Scalar, Scalar(1), Scalar(1.0), Scalar(true));
  ROUND_TRIP(optional<Scalar>, Scalar(1), std::nullopt);
  ROUND_TRIP(vector<Scalar>, {}, {Scalar(1), Scalar(-2.5), Scalar(false)});
  ROUND_TRIP(string, "", "text");
  ROUND_TRIP(optional<string>, "text", "", std::nullopt);
  ROUND_TRIP(ScalarType, at::kFloat, at::kComplexDouble);
  ROUND_TRIP(optional<ScalarType>, at::kHalf, std::nullopt);
  ROUND_TRIP(vector<ScalarType>, {}, {at::kLong, at::kBool});
  ROUND_TRIP(Layout, at::kStrided, at::kSparse);
  ROUND_TRIP(optional<Layout>, at::kSparseCsr, std::nullopt);
  ROUND_TRIP(Device, Device(at::kCPU), Device(at::kCUDA, 3));
  ROUND_TRIP(MemoryFormat, MemoryFormat::Contiguous, MemoryFormat::ChannelsLast);
  ROUND_TRIP(optional<MemoryFormat>, MemoryFormat::Preserve, std::nullopt);
  ROUND_TRIP(TensorOptions, TensorOptions(), TensorOptions().dtype(at::kHalf).requires_grad(true), tensor.options());
  ROUND_TRIP(TypeAndSize, TypeAndSize(tensor));
  ROUND_TRIP(at::TensorGeometry, at::TensorGeometry(tensor.t().slice(0, 1)));
#undef ROUND_TRIP
  return results;
}

void read_too_much() {
  SavedState state;
  state.enqueue(true);
  state.dequeue<bool>();
  state.dequeue<bool>();
}

TORCH_LIBRARY(gradspec_functional, m) {
  m.def("names() -> str[]", names);
  m.def("inputs(str name) -> int[]", inputs);
  m.def("outputs(str name) -> int", outputs);
  m.def("compare(str name, bool[] needs, Tensor?[] grads, bool saved) -> (Tensor[], Tensor[], Tensor[])", compare);
  m.def("record(str name, Tensor[] inputs) -> Tensor[]", record);
  m.def("read_released(str name) -> ()", read_released);
  m.def("same_key(int[] left, int[] right) -> bool", same_key);
  m.def("round_trips() -> Dict(str, bool)", round_trips);
  m.def("read_too_much() -> ()", read_too_much);
}
} // namespace
