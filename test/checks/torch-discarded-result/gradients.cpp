// RUN: %check_torch %s torch-discarded-result %t
//
// A gradient is that of all handles to its tensor: optimizers read it.

#include <torch/torch.h>

#include <map>
#include <string>
#include <vector>

using torch::Tensor;

void clip(torch::nn::Linear net, torch::optim::SGD &opt) {
  for (auto &p : net->parameters())
    p.grad().clamp(-1, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'p.grad().clamp(-1, 1)' returns its result and leaves 'p.grad()' as it is, and the result is dropped; keep it in a variable
  for (auto p : net->parameters())
    p.mutable_grad().mul(0.5);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'p.mutable_grad().mul(0.5)' returns its result and leaves 'p.mutable_grad()' as it is
  net->weight.grad().nan_to_num(0.0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'net->weight.grad().nan_to_num(0.0)' returns its result and leaves 'net->weight.grad()' as it is
  opt.step();
}

void descend(std::map<std::string, Tensor> &weights, double lr) {
  for (auto &entry : weights) {
    auto &p = entry.second;
    p.grad().clamp(-1, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'p.grad().clamp(-1, 1)' returns its result and leaves 'p.grad()' as it is
    p.data().sub_(lr * p.grad());
    p.mutable_grad().zero_();
  }
}

struct Fitter {
  std::vector<Tensor> leaves;
  Tensor scale;
  void limit(Tensor given) {
    scale.grad().clamp_min(0);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'scale.grad().clamp_min(0)' returns its result and leaves 'scale.grad()' as it is
    leaves[0].grad().div(2);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'leaves[0].grad().div(2)' returns its result and leaves 'leaves[0].grad()' as it is
    given.grad().to(torch::kCPU);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'given.grad().to(torch::kCPU)' returns the converted tensor and leaves 'given.grad()' as it is
  }
};

// Of a copy of a handle; and of a leaf that is read afterwards.
Tensor adversarial(const Tensor &image, torch::nn::Linear net) {
  auto bias = net->bias;
  bias.grad().clamp(-1, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'bias.grad().clamp(-1, 1)' returns its result
  Tensor x = image.clone().requires_grad_();
  net->forward(x).sum().backward();
  x.grad().sign();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.grad().sign()' returns its result and leaves 'x.grad()' as it is
  return image + 0.1 * x.grad();
}

// ----- quiet -----

Tensor used(torch::nn::Linear net, torch::optim::SGD &opt) {
  Tensor norm;
  for (auto &p : net->parameters()) {
    p.grad().clamp_(-1, 1);
    p.grad().mul_(0.5);
    p.grad().zero_();
    p.mutable_grad() = p.grad().clamp(-1, 1);
    norm = p.grad().norm();
    (void)p.grad().clamp(-1, 1);
    p.grad().defined();
    p.grad().sum().item<float>();
  }
  opt.step();
  return norm;
}

// Nobody can look at it any more.
void own(const Tensor &image, torch::nn::Linear net) {
  auto x = image.clone().requires_grad_();
  net->forward(x).sum().backward();
  x.grad().sign();
}
