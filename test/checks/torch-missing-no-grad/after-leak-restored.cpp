// RUN: %check_torch %s torch-missing-no-grad %t
//
// Besides a function that leaves grad mode off on one path there is one that sets it to what it was before:
// that one is nobody's guard either.

#include <torch/torch.h>

#include <iostream>

using torch::Tensor;
using torch::nn::Linear;

class Agent {
public:
  Agent() : opt_(net_->parameters(), 1e-3) {}

  int64_t act(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    auto q = net_->forward(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: forward pass of 'net_' keeps all intermediate results for a backward() that never comes
    return q.argmax().item<int64_t>();
  }

  void learn(const Tensor &x) {
    opt_.zero_grad();
    net_->forward(x).mean().backward();
    opt_.step();
  }

  void probe(const Tensor &x) {
    torch::GradMode::set_enabled(false);
    if (net_->forward(x).max().item<double>() > 1e4)
      return;
    torch::GradMode::set_enabled(true);
  }

  void show(const Tensor &x) {
    const bool before = torch::GradMode::is_enabled();
    torch::GradMode::set_enabled(false);
    std::cout << net_->forward(x) << top(x);
    torch::GradMode::set_enabled(before);
  }

private:
  double top(const Tensor &x) { return net_->forward(x).max().item<double>(); }

  Linear net_{4, 4};
  torch::optim::Adam opt_;
};

int main() {
  auto x = torch::rand({8, 4});
  Agent agent;
  for (int i = 0; i < 10; ++i) {
    agent.show(x);
    agent.act(x);
    agent.learn(x);
    agent.probe(x);
  }
}
