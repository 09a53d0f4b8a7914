// RUN: %check_torch %s torch-unsynchronized-copy %t
//
// A whole program in which nothing is on a device: there is nothing to wait for.

#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::rand({4, 4});
  auto y = torch::mm(x, x);
  std::cout << y.to(torch::kCPU, /*non_blocking=*/true).sum().item<float>() << '\n';
}
