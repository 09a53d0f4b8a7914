// RUN: %check_torch %s torch-grad-mode-not-restored %t
//
// A way out between the two calls of one block, whoever has asked for the block.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

static double spread(Linear &net, const Tensors &xs) {
  torch::GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: grad mode is switched off here and not on again on every path: it is still off when the next training pass runs
  if (xs.size() < 8)
    return -1;
  const double result = net->forward(xs[0]).std().item<double>();
  torch::GradMode::set_enabled(true);
  return result;
}
static double mean(Linear &net, const Tensors &xs) {
  torch::GradMode::set_enabled(false);
  const double result = xs.empty() ? 0 : net->forward(xs[0]).mean().item<double>();
  torch::GradMode::set_enabled(true);
  return result;
}
// It is switched off for all that comes after it.
static void onlyEvaluate(Linear &net, const Tensors &xs) {
  torch::GradMode::set_enabled(false);
  for (const Tensor &x : xs)
    std::cout << net->forward(x);
}

int main(int argc, char **argv) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  Tensors xs;
  const bool calibrates = argc > 1, evaluates = argc > 2;
  if (calibrates)
    std::cout << mean(net, xs) << "\n";
  if (calibrates)
    std::cout << spread(net, xs);
  if (evaluates)
    onlyEvaluate(net, xs);
  for (int step = 0; step < 100; ++step)
    if (step >= 10) {
      opt.zero_grad();
      net->forward(torch::rand({8, 4})).sum().backward();
      opt.step();
    }
}
