// RUN: %check_torch %s torch-allocate-on-device %t -- -config="{CheckOptions: {torch-allocate-on-device.Strict: true}}"
//
// With Strict the check also speaks of what nothing in the file repeats, and of what
// stands beside passes. See also unrepeated.cpp and passes.cpp.

#include <torch/torch.h>

torch::Tensor grid(int64_t n, torch::Device device) {
  auto result = torch::zeros({n, n}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::zeros' makes this tensor on the CPU
  // CHECK-FIXES: auto result = torch::zeros({n, n}, device);
  return result;
}

// It is made once.
torch::Tensor table(int64_t n) {
  static const torch::Tensor Result = torch::zeros({n, n}).to(torch::kCUDA);
  return Result;
}

// Beside the passes of a network.
void use(const torch::Tensor &x);
void answers(torch::nn::Linear net, const std::vector<torch::Tensor> &xs, torch::Device device) {
  torch::NoGradGuard no_grad;
  for (const auto &x : xs) {
    auto h = torch::zeros({x.size(0), 64}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'torch::zeros' makes this tensor on the CPU
    // CHECK-FIXES: auto h = torch::zeros({x.size(0), 64}, device);
    use(net->forward(x + h));
  }
}
