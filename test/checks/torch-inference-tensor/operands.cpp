// RUN: %check_torch %s torch-inference-tensor %t
//
// What is computed in inference mode, and saved by an operation for the
// backward() of a loss.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

static Tensor inverseSpread(const Tensor &x) {
  torch::InferenceMode guard;
  auto spread = x.flatten(0, -2).std(0).clamp_min_(1e-3);
  return spread.reciprocal_();
}
static Tensor ofOptions() {
  c10::InferenceMode guard;
  return torch::ones({4});
}
// A view of what was made before, and what is made behind the guard.
static Tensor rows(const Tensor &x) {
  torch::InferenceMode guard;
  return x.flatten(0, -2);
}
static Tensor behind(const Tensor &x) {
  {
    torch::InferenceMode guard;
    std::cout << x.mean();
  }
  return x * 2;
}
static Tensor switched(const Tensor &x) {
  torch::InferenceMode guard;
  torch::InferenceMode none(false);
  return x * 2;
}
static Tensor perhaps(const Tensor &x, bool isFast) {
  torch::InferenceMode guard(isFast);
  return x * 2;
}
static Tensor noGrad(const Tensor &x) {
  torch::NoGradGuard guard;
  return x * 2;
}

void weighted(Linear net, SGD &optimizer, const Tensor &x) {
  const auto weights = inverseSpread(x);
  for (int i = 0; i < 9; ++i) {
    const auto error = net->forward(x) - x;
    optimizer.zero_grad();
    auto loss = (error.square() * weights).mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: this operation throws "Inference tensors cannot be saved for backward", because an operand was made in inference mode; make it outside, or compute with its 'clone()' [torch-inference-tensor]
    loss.backward();
    optimizer.step();
  }
}

void factor(Linear net, const Tensor &x) {
  Tensor scale = ofOptions();
  torch::mul(net->forward(x), scale).sum().backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this operation throws "Inference tensors cannot be saved for backward", because an operand
}

// A view of it is one as well, and so is what it may be itself.
void views(Linear net, const Tensor &x) {
  const auto centres = inverseSpread(x);
  net->forward(x).mm(centres.t()).sum().backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this operation throws "Inference tensors cannot be saved for backward", because an operand
  net->forward(centres.unsqueeze(0)).sum().backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'net' throws "Inference tensors cannot be saved for backward"
  net->forward(x).mm(centres.t().clone()).sum().backward();
  net->forward(x).mm(centres.detach().t()).sum().backward();
}

void right(Linear net, SGD &optimizer, const Tensor &x) {
  const auto copy = inverseSpread(x).clone();
  const auto offset = inverseSpread(x);
  const auto view = rows(x);
  const auto normal = behind(x);
  const auto other = switched(x);
  const auto either = perhaps(x, true);
  const auto plain = noGrad(x);
  auto changed = inverseSpread(x);
  if (x.dim() > 2)
    changed = x * 3;
  for (int i = 0; i < 9; ++i) {
    const auto out = net->forward(x);
    optimizer.zero_grad();
    // A sum keeps nothing.
    auto loss = (out * copy - offset).square().mean();
    loss = loss + (out * view * normal * other).sum();
    loss = loss + (out * either * plain * changed).sum();
    loss.backward();
    optimizer.step();
  }
  // Nothing is recorded.
  torch::NoGradGuard guard;
  std::cout << net->forward(x) * offset;
}
