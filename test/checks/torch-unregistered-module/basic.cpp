// RUN: %check_torch %s torch-unregistered-module %t -still-warns

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
namespace nn = torch::nn;

struct Assigned : nn::Module {
  Assigned() {
    fc1 = register_module("fc1", nn::Linear(4, 4));
    fc2 = nn::Linear(4, 2);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: submodule 'fc2' is never registered: parameters(), to(), train() and save() do not reach it; register it: 'register_module("fc2", ...)' [torch-unregistered-module]
  }
  Tensor forward(Tensor x) { return fc2->forward(torch::relu(fc1(x))); }
  nn::Linear fc1{nullptr}, fc2{nullptr};
};
// CHECK-FIXES-LABEL: struct Assigned
// CHECK-FIXES: {{^    fc2 = register_module\("fc2", nn::Linear\(4, 2\)\);$}}

struct Initialized : nn::Module {
  Initialized(int64_t n) : fc(n, 4), conv(nn::Conv2dOptions(1, 2, 3)) {}
  Tensor forward(Tensor x) { return fc(conv(x)); }
  nn::Linear fc;
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: submodule 'fc' is never registered
  nn::Conv2d conv;
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: submodule 'conv' is never registered
};
// CHECK-FIXES-LABEL: struct Initialized
// CHECK-FIXES: fc(register_module("fc", nn::Linear(n, 4))), conv(register_module("conv", nn::Conv2d(nn::Conv2dOptions(1, 2, 3))))

struct InClass : nn::Module {
  Tensor forward(Tensor x) { return norm(encode(x)); }
  Tensor encode(const Tensor &x) { return torch::relu(fc->forward(x)); }
  nn::Linear fc{4, 4};
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: submodule 'fc' is never registered
  nn::BatchNorm1d norm = nn::BatchNorm1d(4);
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: submodule 'norm' is never registered
};
// CHECK-FIXES-LABEL: struct InClass
// CHECK-FIXES: nn::Linear fc{register_module("fc", nn::Linear(4, 4))};
// CHECK-FIXES: nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(4));

struct DroppingImpl : nn::Module {
  DroppingImpl() { fc = register_module("fc", nn::Linear(4, 4)); }
  Tensor forward(Tensor x) { return dropout(fc(x)); }
  nn::Linear fc{nullptr};
  nn::Dropout dropout{0.5};
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: submodule 'dropout' is never registered: eval() does not reach it, so it stays in training mode; register it: 'register_module("dropout", ...)'
};
TORCH_MODULE(Dropping);

struct Outer : nn::Module {
  Outer() : inner(Dropping()) {}
  Tensor forward(Tensor x) { return inner->forward(x); }
  Dropping inner;
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: submodule 'inner' is never registered
};

struct Pointers : nn::Module {
  Pointers() : fc(std::make_shared<nn::LinearImpl>(4, 4)) {}
  Tensor forward(Tensor x) { return fc->forward(x); }
  std::shared_ptr<nn::LinearImpl> fc;
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: submodule 'fc' is never registered
};

struct Containers : nn::Module {
  explicit Containers(int n) {
    for (int i = 0; i < n; ++i)
      layers.push_back(nn::Linear(4, 4));
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: the modules in 'layers' are never registered
    stack->push_back(nn::Linear(4, 4));
    stack->push_back(nn::ReLU());
  }
  Tensor forward(Tensor x) {
    for (auto &layer : layers)
      x = torch::relu(layer(x));
    return stack->forward(x);
  }
  std::vector<nn::Linear> layers;
  nn::Sequential stack = nn::Sequential();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: submodule 'stack' is never registered
};

struct Weight : nn::Module {
  Weight() { w = torch::randn({4, 4}, torch::requires_grad()); }
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: parameter 'w' is never registered: parameters(), to() and save() do not reach it; register it: 'register_parameter("w", ...)'
  Tensor forward(Tensor x) { return x.matmul(w); }
  Tensor w;
};
// CHECK-FIXES-LABEL: struct Weight
// CHECK-FIXES: w = register_parameter("w", torch::randn({4, 4}, torch::requires_grad()));

template <int N> struct Template : nn::Module {
  Template() : fc(N, 4) {}
  Tensor forward(Tensor x) { return fc(x); }
  nn::Linear fc;
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: submodule 'fc' is never registered
};
template struct Template<4>;
