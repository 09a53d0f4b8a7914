// RUN: %check_torch %s torch-inplace-opportunity %t
//
// The mistake in its shapes, and what the fix writes.

#include <torch/torch.h>

using torch::Tensor;
using Tensors = std::vector<Tensor>;

void plain(const Tensors &images) {
  torch::NoGradGuard no_grad;
  for (const Tensor &image : images) {
    auto scaled = image.div(255.0).sub(0.5).mul(2).clamp(-1, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:52: warning: in every iteration this computes from a tensor that nothing needs afterwards, and takes new memory for the result: 3 tensors too many (memory, and time where they are large); compute in place: 'sub_', 'mul_', 'clamp_' [torch-inplace-opportunity]
    // CHECK-FIXES: auto scaled = image.div(255.0).sub_(0.5).mul_(2).clamp_(-1, 1);
    std::cout << scaled.mean();
  }
}

// In functions, lambdas and templates.
Tensor activation(const Tensor &x) {
  auto y = (torch::rand_like(x) + x).sigmoid();
  // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: {{.*}} 1 tensor too many (memory, {{.*}}: 'sigmoid_'
  // CHECK-FIXES: auto y = (torch::rand_like(x) + x).sigmoid_();
  return y;
}
template <class T> void show(const T &x) {
  std::cout << x.exp().neg().sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: {{.*}}: 'neg_'
  // CHECK-FIXES: std::cout << x.exp().neg_().sum();
}
void all(const Tensors &xs) {
  torch::NoGradGuard no_grad;
  const auto softened = [](const Tensor &x) {
    Tensor y = x.sqrt().tanh();
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: {{.*}}: 'tanh_'
    // CHECK-FIXES: Tensor y = x.sqrt().tanh_();
    return y;
  };
  for (const Tensor &x : xs) {
    std::cout << activation(x) << softened(x);
    show(x);
  }
}
