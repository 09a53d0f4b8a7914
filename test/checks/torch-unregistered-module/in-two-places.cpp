// RUN: %check_torch %s torch-unregistered-module %t
//
// A module that is in a network twice: parameters() returns its parameters twice.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Conv2d;
using torch::nn::Linear;
using torch::nn::ModuleList;
using torch::nn::ReLU;
using torch::nn::Sequential;

struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t n) { fc = register_module("fc", Linear(n, n)); }
  Tensor forward(Tensor x) { return fc(x); }
  Linear fc{nullptr};
};
TORCH_MODULE(Block);

// The list is registered as well.
struct TowerImpl : torch::nn::Module {
  TowerImpl(int blocks, int64_t n) {
    input = register_module("input", Linear(8, n));
    layers->push_back(input);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'input' is registered a second time: parameters() returns each of its parameters twice, so that every step() of an optimizer moves them twice and save() writes them twice; register it in one place only [torch-unregistered-module]
    for (int i = 0; i < blocks; ++i)
      layers->push_back(register_module("block" + std::to_string(i), Block(n)));
      // CHECK-MESSAGES: :[[@LINE-1]]:7: note: and here
    register_module("layers", layers);
  }
  Tensor forward(Tensor x) { return layers->forward(x); }
  Linear input{nullptr};
  Sequential layers;
};

// It was registered before.
struct HeadsImpl : torch::nn::Module {
  HeadsImpl(int heads) {
    list = register_module("list", ModuleList());
    for (int i = 0; i < heads; ++i) {
      Linear head(8, 2);
      register_module("head" + std::to_string(i), head);
      list->push_back(head);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'head' is registered a second time
    }
  }
  Tensor forward(Tensor x) {
    for (auto &head : *list)
      x = x + head->as<Linear>()->forward(x);
    return x;
  }
  ModuleList list{nullptr};
};

// By what a Sequential is made from.
struct StemImpl : torch::nn::Module {
  StemImpl() {
    conv = register_module("conv", Conv2d(3, 8, 3));
    body = register_module("body", Sequential(conv, ReLU()));
    // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: 'conv' is registered a second time
  }
  Tensor forward(Tensor x) { return body->forward(x) + conv->weight.sum(); }
  Conv2d conv{nullptr};
  Sequential body{nullptr};
};

// One layer in two parts of one network.
struct PartImpl : torch::nn::Module {
  explicit PartImpl(Linear shared) : shared(register_module("shared", shared)) {}
  // CHECK-MESSAGES: :[[@LINE-1]]:45: warning: 'shared' is registered a second time
  Tensor forward(Tensor x) { return shared(x); }
  Linear shared;
};
TORCH_MODULE(Part);
struct TiedImpl : torch::nn::Module {
  TiedImpl() {
    Linear both(8, 8);
    first = register_module("first", Part(both));
    second = register_module("second", Part(both));
  }
  Tensor forward(Tensor x) { return second(first(x)); }
  Part first{nullptr}, second{nullptr};
};

// ----- quiet -----

// Lists in a list.
struct NestedImpl : torch::nn::Module {
  NestedImpl(int n) {
    mlp = register_module("mlp", ModuleList());
    for (int i = 0; i < n; ++i)
      mlp->push_back(Sequential(Linear(8, 32), ReLU(), Linear(32, 8)));
    Sequential head(Linear(8, 8), Linear(8, 4), Linear(4, 2));
    register_module("head", head);
  }
  Tensor forward(Tensor x) {
    for (auto &each : *mlp)
      x = each->as<Sequential>()->forward(x);
    return x;
  }
  ModuleList mlp{nullptr};
};

// The list itself is in no network, or the elements are in nothing else.
struct HolderImpl : torch::nn::Module {
  HolderImpl(int blocks) {
    for (int i = 0; i < blocks; ++i)
      tower->push_back(register_module("block" + std::to_string(i), Block(8)));
    for (int i = 0; i < blocks; ++i)
      rest->push_back(Block(8));
    register_module("rest", rest);
  }
  Tensor forward(Tensor x) { return rest->forward(tower->forward(x)); }
  Sequential tower, rest;
};

// Layers without parameters; others in each step; one that is let go.
struct OthersImpl : torch::nn::Module {
  OthersImpl(int n) {
    ReLU relu = register_module("relu", ReLU());
    body->push_back(relu);
    std::vector<Linear> all;
    for (int i = 0; i < n; ++i)
      all.push_back(register_module("fc" + std::to_string(i), Linear(8, 8)));
    for (int i = 0; i < n; ++i)
      body->push_back(Linear(8, 8));
    register_module("body", body);
  }
  Tensor forward(Tensor x) { return body->forward(x); }
  Sequential body;
};
struct MovedImpl : torch::nn::Module {
  MovedImpl() {
    Linear fc = register_module("fc", Linear(8, 8));
    unregister_module("fc");
    body->push_back(fc);
    register_module("body", body);
  }
  Tensor forward(Tensor x) { return body->forward(x); }
  Sequential body;
};
// Either here or there.
struct EitherImpl : torch::nn::Module {
  EitherImpl(bool inList) {
    Linear fc(8, 8);
    if (inList)
      body->push_back(fc);
    else
      register_module("fc", fc);
    register_module("body", body);
  }
  Tensor forward(Tensor x) { return body->forward(x); }
  Sequential body;
};
// Two networks that share one layer are two trees.
void twoNetworks() {
  Linear shared(8, 8);
  Sequential one(shared, ReLU()), two(shared, ReLU());
  torch::optim::SGD first(one->parameters(), 0.1), second(two->parameters(), 0.1);
}
