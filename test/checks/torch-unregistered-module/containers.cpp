// RUN: %check_torch %s torch-unregistered-module %t -still-warns

// register_module() takes one module: a container of the standard library is
// told what to become instead, and gets no fix.
#include <torch/torch.h>

using torch::Tensor;
namespace nn = torch::nn;

struct BlockImpl : nn::Module {
  BlockImpl() : fc(register_module("fc", nn::Linear(4, 4))) {}
  Tensor forward(Tensor x) { return torch::relu(fc(x)); }
  nn::Linear fc;
};
TORCH_MODULE(Block);

struct Tower : nn::Module {
  explicit Tower(int n) {
    for (int i = 0; i < n; ++i)
      // CHECK-FIXES: {{^}}      blocks.push_back(Block());
      blocks.push_back(Block());
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: the modules in 'blocks' are never registered: no optimizer trains them, and to(), train() and save() do not reach them; make 'blocks' a 'torch::nn::ModuleList', or call 'register_module()' for each of them [torch-unregistered-module]
  }
  Tensor forward(Tensor x) {
    for (auto &block : blocks)
      x = block->forward(x);
    return x;
  }
  std::vector<Block> blocks;
};

// Two lines that make some: the member is where they have something in common.
struct Mixed : nn::Module {
  explicit Mixed(int n) {
    layers.emplace_back(nn::Linear(2, 4));
    for (int i = 0; i < n; ++i)
      layers.emplace_back(nn::Linear(4, 4));
  }
  Tensor forward(Tensor x) {
    for (auto &layer : layers)
      x = layer->forward(x);
    return x;
  }
  std::vector<nn::Linear> layers;
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: the modules in 'layers' are never registered
};

// One module, not several.
struct Last : nn::Module {
  Tensor forward(Tensor x) { return fc(x); }
  // CHECK-FIXES: {{^}}  nn::Linear fc{register_module("fc", nn::Linear(4, 4))};
  nn::Linear fc{4, 4};
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: submodule 'fc' is never registered
};

template <int N> struct Drops : nn::Module {
  Drops() {
    for (int i = 0; i < N; ++i)
      drops.push_back(nn::Dropout(0.1 * i));
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: the modules in 'drops' are never registered: eval() does not reach them, so they stay in training mode; make 'drops' a 'torch::nn::ModuleList', or
  }
  Tensor forward(Tensor x) {
    for (auto &drop : drops)
      x = drop(x);
    return x;
  }
  std::vector<nn::Dropout> drops;
};
template struct Drops<3>;

// Registered one by one, or a ModuleList: right.
struct Right : nn::Module {
  Right() {
    for (int i = 0; i < 3; ++i)
      layers.push_back(register_module("fc" + std::to_string(i), nn::Linear(4, 4)));
    list = register_module("list", nn::ModuleList(nn::Linear(4, 4), nn::Linear(4, 4)));
  }
  Tensor forward(Tensor x) {
    for (auto &layer : layers)
      x = layer(x);
    for (auto &each : *list)
      x = each->as<nn::Linear>()->forward(x);
    return x;
  }
  std::vector<nn::Linear> layers;
  nn::ModuleList list{nullptr};
};
