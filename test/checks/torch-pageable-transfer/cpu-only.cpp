// RUN: %check_torch %s torch-pageable-transfer %t
//
// A whole program that nothing but the CPU is named in.

#include <torch/torch.h>

int main() {
  const torch::Device device("cpu");
  for (int i = 0; i < 10; ++i)
    torch::rand({4, 4}).to(device, true);
}
