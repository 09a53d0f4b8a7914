// RUN: %check_torch %s torch-missing-no-grad %t
//
// Grad mode is off for the whole program.

#include <torch/torch.h>

int main() {
  torch::GradMode::set_enabled(false);
  torch::nn::Linear net(8, 2);
  net->eval();
  std::cout << net->forward(torch::rand({4, 8})) << '\n';
}
