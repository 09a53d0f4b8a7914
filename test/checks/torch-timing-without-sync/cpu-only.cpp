// RUN: %check_torch %s torch-timing-without-sync %t
//
// A whole program that uses the CPU only.

#include <torch/torch.h>
#include <chrono>

int main() {
  torch::nn::Linear net(4, 2);
  const auto start = std::chrono::steady_clock::now();
  auto y = net(torch::rand({8, 4}));
  std::cout << (std::chrono::steady_clock::now() - start).count();
}
