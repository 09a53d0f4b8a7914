// RUN: %check_torch %s torch-unused-gradients %t
//
// A function that switches grad mode off for a while leaves it off on one path:
// that is a mistake of its own, and no guard of the passes that come later.

#include <torch/torch.h>

#include <iostream>

using torch::Tensor;
using torch::nn::Linear;

class Agent {
public:
  Agent() : opt_(online_->parameters(), 1e-3) {}

  void learn(const Tensor &x) {
    auto aim = target_->forward(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'target_' records a graph, and backward() goes through it
    opt_.zero_grad();
    torch::mse_loss(online_->forward(x), aim).backward();
    opt_.step();
  }

  void probe(const Tensor &x) {
    torch::GradMode::set_enabled(false);
    auto top = online_->forward(x).max().item<double>();
    if (top > 1e4)
      return;
    std::cout << top;
    torch::GradMode::set_enabled(true);
  }

private:
  Linear online_{4, 4}, target_{4, 4};
  torch::optim::Adam opt_;
};

// The parameters are frozen.
class Frozen {
public:
  Frozen() : opt_(online_->parameters(), 1e-3) {
    for (auto &p : target_->parameters())
      p.requires_grad_(false);
  }

  void learn(const Tensor &x) {
    auto aim = target_->forward(x);
    opt_.zero_grad();
    torch::mse_loss(online_->forward(x), aim).backward();
    opt_.step();
  }

  void probe(const Tensor &x) {
    torch::GradMode::set_enabled(false);
    if (online_->forward(x).max().item<double>() > 1e4)
      return;
    torch::GradMode::set_enabled(true);
  }

private:
  Linear online_{4, 4}, target_{4, 4};
  torch::optim::Adam opt_;
};

static void probe(Linear &net, const Tensor &x) {
  torch::GradMode::set_enabled(false);
  if (net->forward(x).max().item<double>() > 1e4)
    return;
  torch::GradMode::set_enabled(true);
}

// Where a flag says so, the pass is under a guard.
static void underFlag(const Tensor &x, bool records) {
  Linear net(4, 4), teacher(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    Tensor aim;
    {
      torch::AutoGradMode mode(records);
      aim = teacher->forward(x);
    }
    opt.zero_grad();
    torch::mse_loss(net->forward(x), aim).backward();
    opt.step();
    probe(net, x);
  }
}

// The function is there to switch it.
static void record(bool records) {
  if (records)
    torch::GradMode::set_enabled(true);
  else
    torch::GradMode::set_enabled(false);
}

static void switched(const Tensor &x, bool teaches) {
  Linear net(4, 4), teacher(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    record(teaches);
    auto aim = teacher->forward(x);
    torch::GradMode::set_enabled(true);
    opt.zero_grad();
    torch::mse_loss(net->forward(x), aim).backward();
    opt.step();
  }
}

int main() {
  auto x = torch::rand({8, 4});
  Agent agent;
  Frozen frozen;
  for (int i = 0; i < 10; ++i) {
    agent.learn(x);
    agent.probe(x);
    frozen.learn(x);
    frozen.probe(x);
  }
  underFlag(x, x.sum().item<float>() > 1);
  switched(x, x.sum().item<float>() > 1);
}
