// Prints the gradient of 3 * x, which is 3.
#include "Functions.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include <iostream>

int main() {
  auto node = c10::make_intrusive<example::nodes::MulBackward0>();
  node->set_next_edges({torch::autograd::Edge(c10::make_intrusive<example::nodes::GeluBackward0>(), 0), {}});
  node->other_ = torch::autograd::SavedVariable(at::full({1}, 3.0), false);
  auto gradients = (*node)({at::ones({1})});
  std::cout << gradients[0].item<double>() << "\n";
  return gradients[1].defined() ? 1 : 0;
}
