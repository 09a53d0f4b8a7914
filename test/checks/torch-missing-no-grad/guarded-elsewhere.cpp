// RUN: %check_torch %s torch-missing-no-grad %t
//
// A helper that one caller runs under a guard leaves that to its callers.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

static Tensor embed(Linear &net, const std::vector<Tensor> &xs) {
  net->eval();
  std::vector<Tensor> all;
  for (const Tensor &x : xs)
    all.push_back(net->forward(x));
  return torch::cat(all);
}

static double nearest(Linear &net, const std::vector<Tensor> &xs) {
  const Tensor codes = embed(net, xs);
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: forward pass of 'net'
  return codes.mm(codes.t()).argmax(1).sum().item<double>();
}

int main() {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    net->train();
    opt.zero_grad();
    net->forward(torch::rand({8, 4})).sum().backward();
    opt.step();
    std::cout << nearest(net, {torch::rand({8, 4})});
  }
  torch::NoGradGuard no_grad;
  std::cout << embed(net, {torch::rand({8, 4})});
}
