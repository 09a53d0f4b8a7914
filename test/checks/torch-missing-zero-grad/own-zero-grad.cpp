// RUN: %check_torch %s torch-missing-zero-grad %t
//
// A zero_grad() of the user's that is seen, and does not do what the name says.

#include <torch/torch.h>
using torch::Tensor;

struct Careless : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  Careless() { layer = register_module("layer", torch::nn::Linear(4, 4)); }
  Tensor forward(Tensor x) { return layer(x); }
  void zero_grad(int) { ++steps; }
  int steps = 0;
};
void train(Careless &net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net.parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    net.zero_grad(i);
    torch::mse_loss(net.forward(x), y).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared
  }
}
