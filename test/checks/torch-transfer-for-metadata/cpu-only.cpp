// RUN: %check_torch %s torch-transfer-for-metadata %t
//
// A whole program that nothing but the CPU is named in.

#include <torch/torch.h>

int64_t rows(torch::Tensor x, torch::Device device) {
  return x.cpu().size(0) + x.to(device).numel();
}

int main() {
  const torch::Device device("cpu");
  return rows(torch::rand({4, 4}), device) > 3;
}
