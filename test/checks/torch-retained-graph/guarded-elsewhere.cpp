// RUN: %check_torch %s torch-retained-graph %t
//
// A list that a helper fills: one of its callers brings a guard along, and the
// other lacks one, as torch-missing-no-grad says.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

static Tensor embed(Linear &net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> all;
  for (const Tensor &x : xs)
    all.push_back(net->forward(x));
  return torch::cat(all);
}
static Tensor embedAlone(Linear &net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> all;
  for (const Tensor &x : xs)
    all.push_back(net->forward(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in 'all' keeps what its backward() would need (its autograd graph) for every iteration
  return torch::cat(all);
}

int main() {
  Linear net(4, 2);
  const std::vector<Tensor> xs = {torch::rand({8, 4})};
  std::cout << embed(net, xs).argmax(1) << embedAlone(net, xs).argmax(1);
  torch::NoGradGuard no_grad;
  std::cout << embed(net, xs);
}
