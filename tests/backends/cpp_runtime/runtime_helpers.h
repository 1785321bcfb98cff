// What the nodes call: what those of cpp_functional call, and a formula that takes as long as a test wants.
#pragma once

#include "helpers.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace mixing {

// A formula that has begun waits until it may end.
inline std::atomic<bool> has_begun{false};
inline std::atomic<bool> may_end{true};

template <class Condition>
bool wait_until(Condition condition) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

inline Tensor held(const Tensor& grad, const Tensor& other) {
  has_begun = true;
  wait_until([] { return may_end.load(); });
  return grad * other;
}
} // namespace mixing
