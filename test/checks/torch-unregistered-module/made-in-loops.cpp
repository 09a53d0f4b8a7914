// RUN: %check_torch %s torch-unregistered-module %t
//
// Each iteration makes a module of its own, which registers its parts in its
// constructor. A module from before the loop that registers in it throws.

#include <torch/torch.h>

using namespace torch::nn;

struct BlockImpl : Cloneable<BlockImpl> {
  explicit BlockImpl(int n) : n(n) { init(); }
  // Of a copy, whose children clone() has taken away before.
  void reset() override { init(); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }

protected:
  void init() { fc = register_module("fc", Linear(n, n)); }
  int n;
  Linear fc{nullptr};
};
TORCH_MODULE(Block);

struct Net : Cloneable<Net> {
  Net() { create(); }
  void reset() override { create(); }
  void create() {
    for (int s = 0; s < 3; ++s) {
      std::vector<AnyModule> stack;
      for (int b = 0; b < 3; ++b)
        stack.push_back(AnyModule(
            register_module("block" + std::to_string(3 * s + b), Block(8))));
      stacks.push_back(stack);
    }
  }
  std::vector<std::vector<AnyModule>> stacks;
};

// Whoever calls it may call it again.
struct Growing : Module {
  Growing() { add(); }
  void more() { add(); }
  void add() {
    register_module("fc", Linear(8, 8));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the name 'fc' is registered again in the same module
  }
};

struct Wrong : Module {
  Wrong() {
    for (int b = 0; b < 3; ++b)
      blocks.push_back(register_module("block", Block(8)));
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: the name 'block' is registered again in the same module
  }
  std::vector<Block> blocks;
};
