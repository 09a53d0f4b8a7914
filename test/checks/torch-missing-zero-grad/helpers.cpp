// RUN: %check_torch %s torch-missing-zero-grad %t
//
// The step, the backward() or both are in helper functions; the optimizer is
// passed by reference, by pointer or by smart pointer.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
using Optimizer = torch::optim::Optimizer;

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(8, 2)); }
  Tensor forward(Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

// The whole step is in the helper and the loop in the caller.
static float trainStep(Net &net, Optimizer &optimizer, const Tensor &x,
                       const Tensor &y) {
  auto loss = torch::mse_loss(net->forward(x), y);
  loss.backward();
  optimizer.step();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients of 'optimizer' are not cleared between iterations
  return loss.item<float>();
}

void callsTrainStep(Net net, Tensor x, Tensor y) {
  torch::optim::SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i)
    trainStep(net, sgd, x, y);
}

// Only the backward() is elsewhere, two calls deep.
static void backpropagate(Tensor loss) { loss.backward(); }
static void measureAndBackpropagate(Net net, Tensor x, Tensor y) {
  backpropagate(torch::mse_loss(net->forward(x), y));
}

void backwardInHelper(Net net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    measureAndBackpropagate(net, x, y);
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

// Only the step is elsewhere, by pointer.
static void update(Optimizer *o) {
  if (o)
    o->step();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'o' are not cleared between iterations: every step() applies the sum of the gradients so far; call 'o->zero_grad()' after this step()
}

void stepInHelper(Net net, Tensor x, Tensor y) {
  torch::optim::Adam adam(net->parameters(), 1e-3);
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    update(&adam);
  }
}

void sharedPointer(std::shared_ptr<Optimizer> opt, Net net, Tensor x,
                   Tensor y) {
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt->step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

void uniquePointer(Net net, Tensor x, Tensor y) {
  std::unique_ptr<Optimizer> opt =
      std::make_unique<torch::optim::SGD>(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    (*opt).step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

// The name promises what the body does not do: gradients stay as they are.
static void zeroGradients(Optimizer &o) {
  for (auto &group : o.param_groups())
    for (auto &p : group.params())
      std::cout << p.grad().norm() << '\n';
}

void misleadingHelper(Net net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
    zeroGradients(opt);
  }
}

static std::pair<Net, std::unique_ptr<Optimizer>> makeBoth() {
  Net net;
  auto opt = std::make_unique<torch::optim::SGD>(net->parameters(), 0.1);
  return {net, std::move(opt)};
}

void structuredBinding(Tensor x, Tensor y) {
  auto [net, opt] = makeBoth();
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt->step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}
