// RUN: %check_torch %s torch-missing-no-grad %t
//
// A pass that is made once, and asked for nothing but its shape, however large what goes in is.

#include <torch/torch.h>

int main() {
  torch::nn::Sequential net(torch::nn::Linear(8, 64), torch::nn::ReLU(), torch::nn::Linear(64, 2));
  net->eval();
  const auto images = torch::randn({60000, 8});
  auto answers = net->forward(images);
  std::cout << answers.sizes() << answers.dim() << net->forward(images).size(0) << '\n';
}
