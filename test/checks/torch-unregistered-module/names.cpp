// RUN: %check_torch %s torch-unregistered-module %t

#include <torch/torch.h>

using torch::Tensor;
namespace nn = torch::nn;

struct Twice : nn::Module {
  Twice() {
    fc1 = register_module("fc", nn::Linear(4, 4));
    fc2 = register_module("fc", nn::Linear(4, 4));
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: the name 'fc' is registered again in the same module, which throws; give each a name of its own [torch-unregistered-module]
    w = register_parameter("w", torch::zeros({4}));
    v = register_parameter("w", torch::zeros({4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: the name 'w' is registered again
    a = register_buffer("a", torch::zeros({4}));
    b = register_buffer("a", torch::zeros({4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: the name 'a' is registered again
  }
  nn::Linear fc1{nullptr}, fc2{nullptr};
  Tensor w, v, a, b;
};

struct InLoop : nn::Module {
  explicit InLoop(int n) {
    for (int i = 0; i < n; ++i)
      layers.push_back(register_module("layer", nn::Linear(4, 4)));
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: the name 'layer' is registered again
  }
  std::vector<nn::Linear> layers;
};

struct Base : nn::Module {
  Base() { fc = register_module("fc", nn::Linear(4, 4)); }
  nn::Linear fc{nullptr};
};
struct Derived : Base {
  Derived() { head = register_module("fc", nn::Linear(4, 4)); }
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: the name 'fc' is registered again
  nn::Linear head{nullptr};
};

// Right.

struct Kinds : nn::Module {
  Kinds(bool wide) {
    // Modules, parameters and buffers have names of their own.
    fc = register_module("x", nn::Linear(4, 4));
    w = register_parameter("x", torch::zeros({4}));
    b = register_buffer("x", torch::zeros({4}));
    if (wide)
      other = register_module("other", nn::Linear(4, 8));
    else
      other = register_module("other", nn::Linear(4, 4));
    for (int i = 0; i < 3; ++i)
      layers.push_back(
          register_module("layer" + std::to_string(i), nn::Linear(4, 4)));
    fc = replace_module("x", nn::Linear(4, 4));
  }
  nn::Linear fc{nullptr}, other{nullptr};
  Tensor w, b;
  std::vector<nn::Linear> layers;
};

struct Pair : nn::Module {
  Pair() {
    left->register_module("fc", nn::Linear(4, 4));
    right->register_module("fc", nn::Linear(4, 4));
    register_module("left", left);
    register_module("right", right);
  }
  nn::Sequential left, right;
};

struct Either : nn::Module {
  Either() { register_module("fc", nn::Linear(4, 4)); }
  explicit Either(int n) { register_module("fc", nn::Linear(n, 4)); }
};

void many() {
  for (int i = 0; i < 3; ++i) {
    Base base;
    nn::Sequential net;
    net->register_module("extra", nn::Linear(4, 4));
  }
}

// A test wants the exception.
void expected() {
  Base base;
  nn::Sequential net;
  net->register_module("extra", nn::Linear(4, 4));
  try {
    net->register_module("extra", nn::Linear(4, 4));
  } catch (const c10::Error &) {
  }
}
