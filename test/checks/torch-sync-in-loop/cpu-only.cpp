// RUN: %check_torch %s torch-sync-in-loop %t
//
// A whole program that uses the CPU only.

#include <torch/torch.h>

int main() {
  torch::nn::Linear net(4, 2);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int i = 0; i < 1000; ++i) {
    optimizer.zero_grad();
    auto loss = net(torch::rand({8, 4})).sum();
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << '\n';
  }
}
