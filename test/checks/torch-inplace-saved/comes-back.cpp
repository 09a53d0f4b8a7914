// RUN: %check_torch %s torch-inplace-saved %t
//
// A backward() in a loop that would come back to a part of its graph (a leaf
// that was moved once, before it) never gets there: it throws the first time.

#include <torch/torch.h>

using torch::Tensor;

struct Physics {
  Tensor rate, source;
};

static Tensor step(const Tensor &u, const Physics &p) {
  auto decay = torch::exp(-p.rate);
  auto next = u * decay;
  decay.add_(1.0).mul_(0.5);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'decay' is changed in place, but the backward() that needs it as it was throws "one of the variables needed for gradient computation has been modified by an inplace operation"; use the operation that returns a new tensor, or change a clone() [torch-inplace-saved]
  return next + decay * p.source;
}
static void fit(const Tensor &rate, const Tensor &source, torch::Device device, const Tensor &start) {
  Physics p{rate.to(device), source.to(device)};
  for (int i = 0; i < 9; ++i) {
    auto u = start;
    for (int t = 0; t < 5; ++t)
      u = step(u, p);
    u.square().mean().backward();
  }
}

// The middle is overwritten, through a view.
struct BorderImpl : torch::nn::Module {
  Tensor strength, profile = torch::rand({16});
  explicit BorderImpl(torch::Device device) {
    strength = register_parameter("strength", torch::full({1}, 0.4, torch::requires_grad()).to(device));
  }
  Tensor damp() {
    auto result = torch::exp(-(strength * profile));
    result.narrow(0, 4, 8).fill_(1.0);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'result' is changed in place, but the backward() that needs it as it was throws
    return result;
  }
  Tensor linear() {
    auto result = 1 - strength * profile;
    result.narrow(0, 4, 8).fill_(1.0);
    return result;
  }
};
TORCH_MODULE(Border);
static void train(torch::Device device, const Tensor &x) {
  Border border(device);
  for (int i = 0; i < 9; ++i)
    (x * border->damp()).sum().backward();
}
static void trainLinear(torch::Device device, const Tensor &x) {
  Border border(device);
  for (int i = 0; i < 9; ++i)
    (x * border->linear()).sum().backward();
}

// Written after the backward() that needs it. That the next one comes back to
// a graph that is freed is another mistake.
static void afterwards(const Tensor &w, torch::Device device) {
  auto there = w.to(device);
  auto scale = torch::exp(there);
  for (int i = 0; i < 9; ++i) {
    auto out = scale * 2;
    out.sum().backward();
    scale.add_(1);
  }
}
static void carried(const Tensor &w, const Tensor &x) {
  auto state = torch::zeros({4});
  for (int i = 0; i < 9; ++i) {
    auto out = torch::sigmoid(w * x + state);
    out.sum().backward();
    out.mul_(0.5);
    state = out;
  }
}

int main() {
  auto leaf = [] { return torch::randn({16}, torch::requires_grad()); };
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  fit(leaf(), leaf(), device, torch::rand({16}));
  train(device, torch::rand({16}));
  trainLinear(device, torch::rand({16}));
  afterwards(leaf(), device);
  carried(leaf(), torch::rand({16}));
}
