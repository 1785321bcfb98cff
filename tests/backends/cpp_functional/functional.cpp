// Nodes of shape functional, called as the engine would and through their stateless functions.
#include "recipes.h"

#include <torch/csrc/dynamo/compiled_autograd.h>

namespace {

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

// What apply gives, what the stateless function gives of get_state and of retrieve_saved; the node is gone by then.
std::tuple<variable_list, variable_list, variable_list> compare(
    const std::string& name, const c10::List<bool>& needs, const c10::List<std::optional<Tensor>>& grads, bool saved) {
  auto [node, output] = made(name, edges_for(needs), saved);
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
  define_common(m);
  m.def("compare(str name, bool[] needs, Tensor?[] grads, bool saved) -> (Tensor[], Tensor[], Tensor[])", compare);
  m.def("read_released(str name) -> ()", read_released);
  m.def("same_key(int[] left, int[] right) -> bool", same_key);
  m.def("round_trips() -> Dict(str, bool)", round_trips);
  m.def("read_too_much() -> ()", read_too_much);
}
} // namespace
