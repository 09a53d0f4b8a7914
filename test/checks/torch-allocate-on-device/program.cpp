// RUN: %check_torch %s torch-allocate-on-device %t
//
// A whole program: what main makes once is no cost.

#include <torch/torch.h>

int main(int argc, char **) {
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  auto data = torch::ones({argc * 1000, 64}).to(device);
  for (int step = 0; step < 100; ++step) {
    auto noise = torch::zeros({step, 64}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::zeros' makes this tensor on the CPU
    // CHECK-FIXES: auto noise = torch::zeros({step, 64}, device);
    auto nothing = torch::empty({0}).to(device);
    auto none = torch::zeros({step, 0}).to(device);
    std::cout << torch::cat({nothing, nothing}).size(0) << torch::cat({none, noise}, 1);
    std::cout << (data.sum() + noise.sum()).item<float>();
  }
}
