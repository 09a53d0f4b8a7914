// RUN: %check_torch %s torch-stale-graph %t
//
// A network whose layers are in a Sequential that register_module() is given
// and returns, made there or by a function; a lambda makes the step.

#include <torch/torch.h>

namespace nn = torch::nn;
using torch::Tensor;

static nn::Sequential stack(int64_t in, int64_t out) {
  return nn::Sequential(nn::Linear(in, 8), nn::ReLU(), nn::Linear(8, out));
}

struct ScorerImpl : nn::Module {
  explicit ScorerImpl(int64_t in) { net = register_module("net", stack(in, 1)); }
  Tensor forward(const Tensor &x) { return net->forward(x).mean(1); }
  nn::Sequential net{nullptr};
};
TORCH_MODULE(Scorer);

struct CriticImpl : nn::Module {
  explicit CriticImpl(int64_t in)
      : net(register_module("net", nn::Sequential(nn::Linear(in, 8), nn::Tanh(), nn::Linear(8, 1)))) {}
  Tensor forward(const Tensor &x) { return net->forward(x); }
  nn::Sequential net;
};
TORCH_MODULE(Critic);

// The first layer alone keeps no weights for an input without a gradient.
struct ShallowImpl : nn::Module {
  ShallowImpl() { net = register_module("net", nn::Sequential(nn::Linear(4, 1), nn::ReLU())); }
  Tensor forward(const Tensor &x) { return net->forward(x); }
  nn::Sequential net{nullptr};
};
TORCH_MODULE(Shallow);

static void bothLosses(nn::Linear &gen, Scorer &scorer, const Tensor &x, bool first) {
  torch::optim::SGD g_opt(gen->parameters(), 0.1);
  torch::optim::Adam s_opt(scorer->parameters(), 1e-3);
  for (int i = 0; i < 9; ++i) {
    auto made = gen->forward(x);
    auto loss = -scorer->forward(made).mean();
    auto update = [&] {
      s_opt.zero_grad();
      scorer->forward(made.detach()).mean().backward();
      s_opt.step();
    };
    g_opt.zero_grad();
    if (first) {
      update();
      loss.backward();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: this backward() needs the weights that the forward pass had, and they have changed since: it throws; call it before the weights change, or run the forward pass again [torch-stale-graph]
      g_opt.step();
    } else {
      loss.backward();
      g_opt.step();
      update();
    }
  }
}

static void inOrder(Critic &critic, const Tensor &x) {
  torch::optim::Adam opt(critic->parameters(), 1e-3);
  for (int i = 0; i < 9; ++i) {
    auto before = critic->forward(x).mean();
    opt.zero_grad();
    critic->forward(x * 2).mean().backward();
    opt.step();
    before.backward();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this backward() needs the weights that the forward pass had
    auto after = critic->forward(x).mean();
    after.backward();
  }
}

// The step is another network's.
static void apart(Critic &critic, Scorer &scorer, const Tensor &x) {
  torch::optim::Adam opt(scorer->parameters(), 1e-3);
  for (int i = 0; i < 9; ++i) {
    auto loss = critic->forward(x).mean();
    opt.zero_grad();
    scorer->forward(x).mean().backward();
    opt.step();
    loss.backward();
  }
}

static void shallow(Shallow &net, const Tensor &x) {
  torch::optim::Adam opt(net->parameters(), 1e-3);
  for (int i = 0; i < 9; ++i) {
    auto loss = net->forward(x).mean();
    opt.zero_grad();
    net->forward(x * 2).mean().backward();
    opt.step();
    loss.backward();
  }
}

int main() {
  auto x = torch::rand({8, 4});
  nn::Linear gen(4, 4);
  Scorer scorer(4);
  Critic critic(4);
  Shallow net;
  bothLosses(gen, scorer, x, x.sum().item<float>() > 1);
  inOrder(critic, x);
  apart(critic, scorer, x);
  shallow(net, x);
}
