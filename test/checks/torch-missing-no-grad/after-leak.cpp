// RUN: %check_torch %s torch-missing-no-grad %t
//
// A function that switches grad mode off for a while leaves it off on one path.
// Others lack a guard nevertheless: on all other paths their passes are recorded.

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

  int64_t guarded(const Tensor &x) {
    torch::NoGradGuard no_grad;
    return net_->forward(x).argmax().item<int64_t>();
  }

  void learn(const Tensor &x) {
    opt_.zero_grad();
    net_->forward(x).mean().backward();
    opt_.step();
  }

  // Here it is off on purpose.
  void probe(const Tensor &x) {
    torch::GradMode::set_enabled(false);
    if (top(x) > 1e4)
      return;
    std::cout << net_->forward(x);
    torch::GradMode::set_enabled(true);
  }

private:
  double top(const Tensor &x) { return net_->forward(x).max().item<double>(); }

  Linear net_{4, 4};
  torch::optim::Adam opt_;
};

// Off for good, from here on.
static void finish() { torch::GradMode::set_enabled(false); }

int main() {
  auto x = torch::rand({8, 4});
  Agent agent;
  for (int i = 0; i < 10; ++i) {
    agent.act(x);
    agent.guarded(x);
    agent.learn(x);
    agent.probe(x);
  }
  Linear last(4, 4);
  last->eval();
  finish();
  for (int i = 0; i < 10; ++i)
    std::cout << last->forward(x);
}
