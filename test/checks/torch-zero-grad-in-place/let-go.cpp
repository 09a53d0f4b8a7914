// RUN: %check_torch %s torch-zero-grad-in-place %t -still-warns
//
// Elsewhere in the file gradients are let go by an assignment: nothing there
// needs them to stay.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void byAssignment(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    for (auto &p : net->parameters())
      p.mutable_grad() = torch::Tensor();
    net->forward(x).sum().backward();
    opt.step();
  }
}
void byBraces(Linear net) {
  for (auto &p : net->parameters())
    p.mutable_grad() = torch::Tensor{};
}
void training(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: zero_grad(false) of 'opt' fills the gradients with zeros
    net->forward(x).sum().backward();
    opt.step();
  }
}
