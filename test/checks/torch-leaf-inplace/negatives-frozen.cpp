// RUN: %check_torch %s torch-leaf-inplace %t

// detach_() on a leaf switches its gradient off: a target network is frozen so as well.
#include <torch/torch.h>

using torch::nn::Linear;

void blend(Linear net, Linear target) {
  for (auto &p : target->parameters())
    p.detach_();
  auto to = target->parameters(), from = net->parameters();
  for (size_t i = 0; i < to.size(); ++i)
    to[i].mul_(0.99).add_(0.01 * from[i].detach());
}

int main() {
  Linear net(4, 1), target(4, 1);
  for (auto &p : target->parameters())
    p.detach_();
  for (int step = 0; step < 10; ++step) {
    auto to = target->parameters();
    for (auto &weight : to)
      weight.mul_(0.99);
  }

  auto leaf = torch::zeros({4}, torch::requires_grad());
  leaf.detach_();
  leaf.add_(1);

  // The other network is not.
  for (auto &p : net->parameters())
    p.mul_(0.99);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on {{.*}}

  // Nor one that wants gradients again.
  auto again = torch::zeros({4}, torch::requires_grad());
  again.detach_().requires_grad_();
  again.add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on {{.*}}
}
