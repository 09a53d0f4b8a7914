// RUN: %check_torch %s torch-zero-grad-in-place %t
//
// Gradients that are parts of one buffer have to stay there.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

Tensor joined(Linear net) {
  int64_t total = 0, at = 0;
  for (const auto &p : net->parameters())
    total += p.numel();
  Tensor all = torch::zeros({total});
  for (auto &p : net->parameters()) {
    p.mutable_grad() = all.narrow(0, at, p.numel()).view_as(p);
    at += p.numel();
  }
  return all;
}

void training(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  Tensor all = joined(net);
  for (const Tensor &x : xs) {
    for (auto &p : net->parameters())
      p.mutable_grad().zero_();
    net->forward(x).sum().backward();
    opt.step();
  }
}
void training(Linear net, SGD &opt, const Tensor &x) {
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad(false);
    net->forward(x).sum().backward();
    opt.step();
  }
}
