// RUN: %check_torch %s torch-reassigned-member %t
// RUN: sed 's|// [+] ||' %s > %t-asked.cpp
// RUN: %torch_tidy --checks=-*,torch-reassigned-member %t-asked.cpp -- %torch_flags | FileCheck %s --check-prefix=ASKED
//
// A program of fixed filters: nothing moves or saves them, so that it does not
// matter which tensors are registered.

#include <torch/torch.h>

struct Slope {
  explicit Slope(const torch::Tensor &kernel) : along(torch::nn::Conv1dOptions(1, 1, 3).bias(false)) {
    along->weight = kernel.reshape({1, 1, 3});
    // + along->to(torch::kDouble);
  }
  torch::Tensor of(const torch::Tensor &field) { return along(field); }
  torch::nn::Conv1d along;
};

int main() {
  torch::NoGradGuard no_grad;
  Slope slope(torch::tensor({-1.0F, 0.0F, 1.0F}));
  torch::save(slope.of(torch::rand({1, 1, 64})), "slope.pt");
}
// ASKED: :[[@LINE-12]]:5: warning: assigning to 'along->weight' replaces the registered parameter{{.*}} [torch-reassigned-member]
