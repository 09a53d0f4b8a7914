// RUN: %check_torch %s torch-redundant-transfer %t
//
// A whole program that nothing but the CPU is named in: it may move one day.

#include <torch/torch.h>

int main() {
  const torch::Device device(torch::kCPU);
  auto x = torch::rand({4, 4}).to(device);
  auto y = (x * 2).to(device).cpu();
  return static_cast<int>(y.to(torch::kCPU).size(0));
}
