// RUN: %check_torch %s torch-unregistered-module %t -still-warns
// Tensors that get their value in the class itself.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
namespace nn = torch::nn;

struct Scaled : nn::Module {
  Scaled() : fc(register_module("fc", nn::Linear(4, 4))) {}
  Tensor forward(Tensor x) { return fc(x) * gain + shift; }
  nn::Linear fc;
  Tensor gain = torch::ones({4}, torch::requires_grad());
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: parameter 'gain' is never
  // registered
  Tensor shift{torch::zeros({4}).requires_grad_()};
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: parameter 'shift' is never
  // registered
};

template <int N> struct PositionsImpl : nn::Module {
  Tensor forward(Tensor x) { return x + table.slice(0, 0, x.size(0)); }
  Tensor table = torch::randn({N, 8}).mul_(0.02).requires_grad_();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: parameter 'table' is never
  // registered
};
Tensor positions(const Tensor &x) {
  PositionsImpl<64> module;
  return module.forward(x);
}

// Used through a holder, by a helper of forward().
struct BiasedImpl : nn::Module {
  BiasedImpl() = default;
  explicit BiasedImpl(double init) { bias.detach().fill_(init); }
  Tensor forward(Tensor x) { return add(x); }
  Tensor add(const Tensor &x) { return x + bias; }
  Tensor bias = torch::zeros({4}, torch::TensorOptions().requires_grad(true));
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: parameter 'bias' is never
  // registered
};
TORCH_MODULE(Biased);
Tensor biased(const Tensor &x) {
  Biased module(0.5);
  return module->forward(x);
}

// Right: no gradient, registered there, registered by a constructor, replaced
// by one, or never used in forward().
struct Quiet : nn::Module {
  Quiet() {
    register_parameter("later", later);
    replaced = register_parameter("replaced", torch::ones({4}));
  }
  Tensor forward(Tensor x) {
    return x * constant + here * later * replaced * maybe;
  }
  Tensor constant = torch::arange(4, torch::kFloat);
  Tensor here = register_parameter("here", torch::ones({4}));
  Tensor later = torch::ones({4}, torch::requires_grad());
  Tensor replaced = torch::zeros({4}, torch::requires_grad());
  Tensor unused = torch::zeros({4}, torch::requires_grad());
  Tensor maybe = torch::zeros({4}).requires_grad_(false);
};

// Made where the object is made, by what the constructor calls: reset() of a
// Cloneable, a method of its own.
struct ShiftedImpl : nn::Cloneable<ShiftedImpl> {
  ShiftedImpl() { reset(); }
  void reset() override {
    fc = register_module("fc", nn::Linear(4, 4));
    origin = register_buffer("origin", torch::zeros({4}));
    offset = torch::zeros({4}, torch::requires_grad());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: parameter 'offset' is never registered: parameters(), to() and save() do not reach it; register it: 'register_parameter("offset", ...)'
    slope = register_parameter("slope", torch::ones({4}));
  }
  Tensor forward(Tensor x) { return fc(x - origin) * slope + offset; }
  nn::Linear fc{nullptr};
  Tensor origin, offset, slope;
};
TORCH_MODULE(Shifted);

struct Prepared : nn::Module {
  explicit Prepared(int64_t n) { prepare(n); }
  void prepare(int64_t n) {
    scale = torch::ones({n}).requires_grad_();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: parameter 'scale' is never registered
    scale.detach().fill_(0.5);
  }
  Tensor forward(Tensor x) { return x * scale; }
  Tensor scale;
};

// Right: what is made anew later on is the state of a search, not a part of the
// module; what needs no gradient.
struct Searching : nn::Module {
  Searching() {
    fc = register_module("fc", nn::Linear(4, 4));
    restart();
    mark();
  }
  void restart() { at = torch::zeros({4}, torch::requires_grad()); }
  void mark() { mask = torch::ones({4}); }
  Tensor forward(Tensor x) { return fc(x * mask) + at; }
  nn::Linear fc{nullptr};
  Tensor at, mask;
};
Tensor search(Searching &net, const Tensor &x) {
  net.restart();
  return net.forward(x);
}
