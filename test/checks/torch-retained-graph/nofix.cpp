// RUN: %check_torch -still-warns %s torch-retained-graph %t -- -config="{CheckOptions: {torch-retained-graph.Strict: true}}"
//
// Findings without a fix: inside a macro, and where a place is overwritten. The
// first function shows that --fix did run.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void plain(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> losses;
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph) for every iteration
    // CHECK-FIXES: losses.push_back(loss.detach());
  }
}

// The expansion is shared by all uses of the macro.
#define KEEP(container, value) (container).push_back((value) * 2)

void inMacro(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> losses;
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    KEEP(losses, loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:{{[0-9]+}}: warning: tensor {{.*}}keeps what its backward() would need (its autograd graph) for every iteration
    // CHECK-FIXES-NOT: detach()
  }
}

void overwritten(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  Tensor last;
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    last = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'last' keeps what one more backward() would need (its autograd graph) until it is overwritten
  }
  std::cout << last.item<float>() << '\n';
}

// A node cannot be detached.
void nodes(Linear net, Tensor x, Tensor y) {
  std::vector<std::shared_ptr<torch::autograd::Node>> kept;
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    kept.push_back(loss.grad_fn());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}}'kept' keeps what its backward() would need (its autograd graph) for every iteration
  }
}
// CHECK-FIXES: int last;
int last;
