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
