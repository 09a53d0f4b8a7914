// RUN: %check_torch %s torch-grad-mode-not-restored %t
//
// Guards behind the place that switches grad mode off restore what they have
// found there: off.

#include <torch/torch.h>

using torch::Tensor;

struct Net : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  Net() { fc = register_module("fc", torch::nn::Linear(8, 8)); }
  Tensor forward(Tensor x) {
    if (is_training()) {
      torch::NoGradGuard whitening;
      x = x / x.norm();
    }
    return fc(x);
  }
};

void inForward(const std::vector<Tensor> &xs) {
  Net net;
  torch::optim::SGD opt(net.parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      opt.zero_grad();
      net.forward(x).sum().backward();
      opt.step();
    }
    auto *guard = new torch::NoGradGuard();
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: the guard 'guard' outlives the scope it is made in, and grad mode is still off when the next training pass runs
    std::cout << net.forward(xs[0]).sum();
  }
}

static Tensor normalised(const Tensor &x) {
  torch::NoGradGuard guard;
  return x / x.norm();
}

void inHelper(Net &net, torch::optim::Optimizer &opt,
              const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      opt.zero_grad();
      net.forward(normalised(x)).sum().backward();
      opt.step();
    }
    torch::GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: grad mode is switched off here,
    // and is still off when the next training pass runs
    std::cout << net.forward(xs[0]).sum();
  }
}

// The guard begins before grad mode is switched off, and its end restores what
// was before that.
void around(Net &net, torch::optim::Optimizer &opt,
            const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      opt.zero_grad();
      net.forward(x).sum().backward();
      opt.step();
    }
    torch::AutoGradMode outer(true);
    torch::GradMode::set_enabled(false);
    std::cout << net.forward(xs[0]).sum();
  }
}
