// RUN: %check_torch %s torch-unregistered-module %t -still-warns
//
// Modules that a function of the file makes: nothing but its caller has them.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
namespace nn = torch::nn;

nn::Linear small(int64_t in, int64_t out) {
  nn::Linear made(nn::LinearOptions(in, out).bias(false));
  nn::init::xavier_uniform_(made->weight);
  made->weight.detach().mul_(0.1);
  return made;
}
nn::Linear square(int64_t n) { return small(n, n); }
nn::Sequential stack(int64_t n) {
  auto layers = nn::Sequential();
  for (int64_t i = 0; i < n; ++i) {
    layers->push_back(square(4));
    layers->push_back(nn::ReLU());
  }
  return layers;
}
std::shared_ptr<nn::LinearImpl> shared(int64_t n) {
  auto made = std::make_shared<nn::LinearImpl>(n, n);
  torch::NoGradGuard guard;
  made->bias.zero_();
  return std::move(made);
}
nn::Sequential activation() { return nn::Sequential(nn::Tanh(), nn::ReLU()); }

struct Net : nn::Module {
  explicit Net(int64_t n) : head(small(n, 4)) {
    skip = square(n);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: submodule 'skip' is never registered: parameters(), to(), train() and save() do not reach it; register it: 'register_module("skip", ...)'
    body = stack(3);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: submodule 'body' is never registered
    gate = shared(n);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: submodule 'gate' is never registered
    last = activation();
    tail = register_module("tail", square(n));
    for (int i = 0; i < 3; ++i)
      blocks.push_back(square(n));
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: the modules in 'blocks' are never registered
    for (int i = 0; i < 3; ++i)
      kept.push_back(register_module("kept" + std::to_string(i), square(n)));
  }
  Tensor forward(Tensor x) {
    x = gate->forward(body->forward(x)) + skip(x);
    for (auto &block : blocks)
      x = block(x);
    for (auto &each : kept)
      x = each(x);
    return head(last->forward(tail(x)));
  }
  nn::Linear head;
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: submodule 'head' is never registered
  nn::Linear skip{nullptr}, tail{nullptr};
  nn::Sequential body{nullptr}, last{nullptr};
  std::shared_ptr<nn::LinearImpl> gate;
  std::vector<nn::Linear> blocks, kept;
};
// CHECK-FIXES-LABEL: struct Net
// CHECK-FIXES: head(register_module("head", small(n, 4)))
// CHECK-FIXES: skip = register_module("skip", square(n));

// Right: others have it, or see to how it is trained and what is in it.
nn::Linear common() {
  static nn::Linear one(4, 4);
  return one;
}
nn::Linear given(nn::Linear from) { return from; }
nn::Linear kept(std::vector<nn::Linear> &all) {
  nn::Linear made(4, 4);
  all.push_back(made);
  return made;
}
nn::Linear registered(nn::Module &owner) {
  nn::Linear made(4, 4);
  owner.register_module("made", made);
  return made;
}
nn::Linear loaded(const std::string &path) {
  nn::Linear made(4, 4);
  torch::load(made, path);
  return made;
}
nn::Linear frozen() {
  nn::Linear made(4, 4);
  made->weight.requires_grad_(false);
  return made;
}
nn::Linear teacher() {
  nn::Linear made(4, 4);
  made->eval();
  return made;
}
nn::Linear either(bool fresh, nn::Linear other) {
  if (fresh)
    return nn::Linear(4, 4);
  return other;
}
nn::Linear declared();

struct Quiet : nn::Module {
  Quiet(std::vector<nn::Linear> &all, nn::Linear from, bool fresh)
      : a(common()), b(given(from)), c(kept(all)), d(registered(*this)),
        e(loaded("weights.pt")), f(frozen()), g(teacher()),
        h(either(fresh, from)), i(declared()) {}
  Tensor forward(Tensor x) {
    return a(b(c(d(e(f(g(h(i(x)))))))));
  }
  nn::Linear a, b, c, d, e, f, g, h, i;
};
