// RUN: %check_torch %s torch-allocate-on-device %t
//
// A whole program that nothing but the CPU is named in.

#include <torch/torch.h>

torch::Tensor state(int64_t n, torch::Device device) { return torch::zeros({n, 64}).to(device); }

int main() {
  torch::Device device(torch::kCPU);
  for (int64_t n = 1; n < 9; ++n)
    std::cout << state(n, device).sum().item<float>();
}
