// RUN: %check_torch %s torch-device-round-trip %t
//
// A whole program that nothing but the CPU is named in.

#include <torch/torch.h>

torch::Tensor scaled(torch::Tensor x, torch::Device device) {
  return (x.cpu() * 2).to(device);
}

int main() {
  const torch::Device device("cpu");
  return scaled(torch::rand({4, 4}), device).dim() > 3;
}
