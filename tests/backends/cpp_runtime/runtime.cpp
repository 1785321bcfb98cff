// Nodes of the default shape, called by the engine, by hand, and by several threads at once.
#include "recipes.h"
#include "runtime_helpers.h"

#include <thread>

namespace {

// A node by hand, as often as there are lists of gradients.
variable_list call(const std::string& name, const c10::List<bool>& needs, const c10::List<std::optional<Tensor>>& grads) {
  auto [node, output] = made(name, edges_for(needs), true);
  return (*node)(optional_tensors(grads));
}

void call_released(const std::string& name, const c10::List<bool>& needs, const c10::List<std::optional<Tensor>>& grads) {
  auto [node, output] = made(name, edges_for(needs), true);
  node->release_variables();
  (*node)(optional_tensors(grads));
}

// Of the tensors that a node keeps, how many are there while it does, and after it has released them. Its own output is not counted.
std::tuple<int64_t, int64_t> kept_and_released(const std::string& name) {
  NodePtr node = named(name).make();
  std::vector<c10::weak_intrusive_ptr<at::TensorImpl>> watched;
  {
    Values values;
    for (int i = 0; i < 4; ++i) {
      values.tensors.push_back(at::ones({2, 3}, at::kDouble));
      watched.emplace_back(values.tensors.back().getIntrusivePtr());
    }
    values.output = at::ones({2, 3}, at::kDouble);
    torch::autograd::set_history(values.output, node);
    named(name).save(*node, values);
  }
  auto alive = [&] { return std::count_if(watched.begin(), watched.end(), [](const auto& tensor) { return !tensor.expired(); }); };
  int64_t before = alive();
  node->release_variables();
  return {before, alive()};
}

// Whether a release by another thread waits while a formula is evaluated; and that evaluation's gradient.
std::tuple<bool, Tensor> release_meanwhile(const Tensor& grad, const Tensor& other) {
  mixing::has_begun = mixing::may_end = false;
  auto node = c10::make_intrusive<HoldBackward0>();
  node->set_next_edges({Edge(c10::make_intrusive<KeepNothingBackward0>(), 0)});
  node->other_ = keep(other);
  std::atomic<bool> released{false};
  variable_list gradients;
  std::thread evaluates([&] { gradients = (*node)({grad}); });
  TORCH_CHECK(mixing::wait_until([] { return mixing::has_begun.load(); }), "the formula was not evaluated");
  std::thread releases([&] {
    node->release_variables();
    released = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  bool waited = !released;
  mixing::may_end = true;
  evaluates.join();
  releases.join();
  TORCH_CHECK(released, "nothing was released");
  return {waited, gradients[0]};
}

// Threads that evaluate a node while another one releases it: how many evaluations were right, refused, and anything else.
std::tuple<int64_t, int64_t, int64_t> race(const std::string& name, int64_t threads, int64_t rounds) {
  std::atomic<int64_t> right{0}, refused{0}, wrong{0};
  const Recipe& recipe = named(name);
  size_t inputs = 0;
  for (int64_t size : recipe.inputs) {
    inputs += static_cast<size_t>(size);
  }
  variable_list grads(static_cast<size_t>(recipe.outputs), at::full({2, 3}, 0.5, at::kDouble));
  auto sink = c10::make_intrusive<KeepNothingBackward0>();
  for (int64_t round = 0; round < rounds; ++round) {
    auto [node, output] = made(name, edge_list(inputs, Edge(sink, 0)), true);
    variable_list expected = (*node)(variable_list(grads));
    std::atomic<int64_t> waiting{threads + 1};
    std::vector<std::thread> running;
    auto together = [&] {
      --waiting;
      while (waiting > 0) {
        std::this_thread::yield();
      }
    };
    for (int64_t i = 0; i < threads; ++i) {
      running.emplace_back([&, node = node] {
        together();
        for (int j = 0; j < 20; ++j) {
          try {
            variable_list found = (*node)(variable_list(grads));
            bool same = found.size() == expected.size() &&
                std::equal(found.begin(), found.end(), expected.begin(), [](auto& a, auto& b) { return at::equal(a, b); });
            ++(same ? right : wrong);
          } catch (const c10::Error& error) {
            ++(error.msg().find("backward through the graph a second time") != std::string::npos ? refused : wrong);
          }
        }
      });
    }
    running.emplace_back([&, node = node] {
      together();
      node->release_variables();
    });
    for (std::thread& thread : running) {
      thread.join();
    }
  }
  return {right, refused, wrong};
}

TORCH_LIBRARY(gradspec_runtime, m) {
  define_common(m);
  m.def("call(str name, bool[] needs, Tensor?[] grads) -> Tensor[]", call);
  m.def("call_released(str name, bool[] needs, Tensor?[] grads) -> ()", call_released);
  m.def("kept_and_released(str name) -> (int, int)", kept_and_released);
  m.def("release_meanwhile(Tensor grad, Tensor other) -> (bool, Tensor)", release_meanwhile);
  m.def("race(str name, int threads, int rounds) -> (int, int, int)", race);
}
} // namespace
