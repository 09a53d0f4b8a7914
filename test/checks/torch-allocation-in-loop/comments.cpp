// RUN: %check_torch %s torch-allocation-in-loop %t

// A comment behind a declaration goes with it, and what is put before a loop
// does not come between it and its NOLINTNEXTLINE.
#include <torch/torch.h>

torch::Tensor masked(const std::vector<torch::Tensor> &in) {
  auto sum = torch::zeros({1});
  // CHECK-FIXES: {{^}}  auto mask = torch::ones({512, 512}).tril();  // causal
  // CHECK-FIXES-NEXT: {{^}}  // NOLINTNEXTLINE(modernize-loop-convert): why
  // CHECK-FIXES-NEXT: {{^}}  for (size_t i = 0; i < in.size(); ++i) {
  // CHECK-FIXES: {{^}}    sum += (in[i] * mask).sum();
  // NOLINTNEXTLINE(modernize-loop-convert): why
  for (size_t i = 0; i < in.size(); ++i) {
    auto mask = torch::ones({512, 512}).tril();  // causal
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration
    sum += (in[i] * mask).sum();
  }
  return sum;
}
