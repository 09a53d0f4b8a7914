// RUN: %check_torch %s torch-inplace-opportunity %t -still-warns
//
// Operators and functions have no name that could be changed: no fix.

#include <torch/torch.h>

void operators(const std::vector<torch::Tensor> &xs) {
  torch::NoGradGuard no_grad;
  for (const auto &x : xs) {
    auto y = x.sqrt() * 2 + 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: {{.*}} 2 tensors too many (memory, {{.*}}: 'mul_', 'add_'
    auto z = torch::relu(x.exp());
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: {{.*}} 1 tensor too many (memory, {{.*}}: 'relu_'
    std::cout << y << z;
  }
}
