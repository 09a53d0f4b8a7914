// RUN: %check_torch %s torch-allocation-in-loop %t -- -config="{CheckOptions: {torch-allocation-in-loop.Strict: true}}"
//
// The note leads to the innermost loop around the allocation.

#include <torch/torch.h>

using torch::Tensor;

void inLoop(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto mask = torch::full({128, 64}, 0.5);
    std::cout << (x * mask).sum().item<float>() << '\n';
  }
}
// CHECK-NOTES: :[[@LINE-4]]:17: warning: 'torch::full' makes the same tensor in every iteration; create 'mask' once before the loop
// CHECK-NOTES: :[[@LINE-6]]:3: note: in every iteration of this loop

void inInnerLoop(const std::vector<std::vector<Tensor>> &groups) {
  for (const auto &group : groups) {
    for (const auto &x : group) {
      auto sum = torch::zeros({128, 64});
      sum += x;
      std::cout << sum.max().item<float>() << '\n';
    }
  }
}
// CHECK-NOTES: :[[@LINE-6]]:18: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop and refill it with 'zero_()'
// CHECK-NOTES: :[[@LINE-8]]:5: note: in every iteration of this loop

// The inner loop has ended already.
void behindInnerLoop(const std::vector<Tensor> &xs) {
  int i = 0;
  while (i < 10) {
    for (const auto &x : xs)
      std::cout << x.max().item<float>() << '\n';
    auto mask = torch::full({128, 64}, 0.5);
    std::cout << (xs[i++] * mask).sum().item<float>() << '\n';
  }
}
// CHECK-NOTES: :[[@LINE-4]]:17: warning: 'torch::full' makes the same tensor in every iteration; create 'mask' once before the loop
// CHECK-NOTES: :[[@LINE-8]]:3: note: in every iteration of this loop

static float masked(const Tensor &x) {
  auto mask = torch::ones({128, 64});
  return (x * mask).sum().item<float>();
}
// CHECK-NOTES: :[[@LINE-3]]:15: warning: 'torch::ones' makes the same tensor in every iteration; create 'mask' once before the loop
// CHECK-NOTES: :[[@LINE+4]]:3: note: called in every iteration of this loop

void calls(const std::vector<Tensor> &xs) {
  std::cout << xs.size() << '\n';
  for (const auto &x : xs)
    std::cout << masked(x) << '\n';
}
