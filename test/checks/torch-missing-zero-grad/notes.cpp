// RUN: %check_torch %s torch-missing-zero-grad %t
//
// The notes lead to the backward() and to the loop.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void plain(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
  }
}
// CHECK-NOTES: :[[@LINE-3]]:5: warning: gradients of 'opt' are not cleared between iterations: every step() applies the sum of the gradients so far; call 'opt.zero_grad()' after this step()
// CHECK-NOTES: :[[@LINE-5]]:5: note: gradients are added here
// CHECK-NOTES: :[[@LINE-8]]:3: note: in every iteration of this loop

// The innermost loop that holds both, not the epochs.
void nested(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const auto &x : xs) {
      torch::mse_loss(net->forward(x), y).backward();
      opt.step();
    }
  }
}
// CHECK-NOTES: :[[@LINE-4]]:7: warning: gradients of 'opt' are not cleared between iterations
// CHECK-NOTES: :[[@LINE-6]]:7: note: gradients are added here
// CHECK-NOTES: :[[@LINE-8]]:5: note: in every iteration of this loop

// The step() and the backward() are in a helper, the loop in its caller.
static void trainStep(Linear net, torch::optim::Optimizer &o, Tensor x,
                      Tensor y) {
  torch::mse_loss(net->forward(x), y).backward();
  o.step();
}
// CHECK-NOTES: :[[@LINE-2]]:3: warning: gradients of 'o' are not cleared between iterations
// CHECK-NOTES: :[[@LINE-4]]:3: note: gradients are added here
// CHECK-NOTES: :[[@LINE+4]]:3: note: {{(called )?}}in every iteration of this loop

void caller(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  while (x.size(0) > 0)
    trainStep(net, opt, x, y);
}
