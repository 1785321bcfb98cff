// Nodes of shape packed: what they hand to a compiler, and what their twins give.
#include "recipes.h"

namespace {

variable_list applied(const std::string& name, const c10::List<bool>& needs, const c10::List<std::optional<Tensor>>& grads) {
  auto [node, output] = made(name, edges_for(needs), true);
  return (*node)(optional_tensors(grads));
}

// The packed arguments of one node: how many there are, and the first.
std::tuple<int64_t, c10::List<bool>> packed(const c10::List<bool>& needs) {
  auto node = made("TwoListsBackward0", edges_for(needs), true).first;
  auto args = static_cast<TwoListsBackward0&>(*node).get_packed_args();
  return {static_cast<int64_t>(args.size()), args.front().toBoolList()};
}

TORCH_LIBRARY(gradspec_packed, m) {
  define_common(m);
  m.def("applied(str name, bool[] needs, Tensor?[] grads) -> Tensor[]", applied);
  m.def("packed(bool[] needs) -> (int, bool[])", packed);
}
} // namespace
