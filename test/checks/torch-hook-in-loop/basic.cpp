// RUN: %check_torch %s torch-hook-in-loop %t
//
// FIXME(new-check): the mistake in its shapes, with what is said and fixed, and
// what looks like it and is right.

#include <torch/torch.h>

using torch::Tensor;

void wrong(const std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}  auto ones = torch::ones({8, 8});
  // CHECK-FIXES-NEXT: {{^}}  for (const Tensor &x : xs) {
  // CHECK-FIXES-NOT: auto ones
  for (const Tensor &x : xs) {
    auto ones = torch::ones({8, 8});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'ones' is made in every iteration [torch-hook-in-loop]
    std::cout << (x + ones).sum();
  }
}

void right(const std::vector<Tensor> &xs) {
  auto before = torch::ones({8, 8});
  for (const Tensor &x : xs)
    std::cout << (x + before).sum();
}
