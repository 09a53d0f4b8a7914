// RUN: %check_torch %s torch-hook-in-loop %t -still-warns
//
// Hooks that pile up on a tensor that stays.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void training(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    net->weight.register_hook([](Tensor grad) { return grad.clamp(-1, 1); });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'net->weight' gets one more hook in every iteration, and keeps those from before: in the k-th iteration backward() changes its gradient k times, which trains with wrong gradients; register it once before the loop, or take it away by 'remove_hook' [torch-hook-in-loop]
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
}

// A hook that only looks; its handle is in a variable that nobody reads.
double watched(Linear net, SGD &opt, Tensor x) {
  double norm = 0;
  for (int i = 0; i < 100; ++i) {
    auto weight = net->weight;
    auto handle =
        weight.register_hook([&](Tensor grad) { norm += grad.norm().item<double>(); });
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'weight' gets one more hook in every iteration, and keeps those from before: in the k-th iteration backward() calls k of them; register
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
  return norm;
}

// All parameters, again in each epoch.
void epochs(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (auto &p : net->parameters())
      if (p.requires_grad())
        p.register_hook([](Tensor grad) { return grad * 0.5; });
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'p' gets one more hook
    for (auto &pair : net->named_parameters())
      pair.value().register_hook([](Tensor) {});
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: the same tensor gets one more hook
    for (const Tensor &x : xs) {
      opt.zero_grad();
      net->forward(x).sum().backward();
      opt.step();
    }
  }
}

// By a function, for which the caller has the loop.
void clip(Linear &net) {
  auto parameters = net->parameters();
  for (size_t i = 0; i < parameters.size(); ++i)
    parameters[i].register_hook([](Tensor grad) { return grad.clamp(-1, 1); });
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the same tensor gets one more hook
}
void byFunction(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    clip(net);
    net->forward(x).sum().backward();
    opt.step();
  }
}

// In the forward pass of a module.
struct GateImpl : torch::nn::Module {
  GateImpl() { scale = register_parameter("scale", torch::ones({8})); }
  Tensor forward(Tensor x) {
    scale.register_hook([](Tensor grad) { return 0.1 * grad; });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'scale' gets one more hook
    return x * scale;
  }
  Tensor scale;
};
TORCH_MODULE(Gate);
void forwards(const std::vector<Tensor> &xs) {
  Gate gate;
  SGD opt(gate->parameters(), 0.1);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    gate(x).sum().backward();
    opt.step();
  }
}

// An input that is made before the loop; a template; a lambda.
template <class T> void attack(Linear net, Tensor x) {
  x.set_requires_grad(true);
  for (int i = 0; i < 40; ++i) {
    x.register_hook([](Tensor grad) { return grad.sign(); });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x' gets one more hook
    net->forward(x).sum().backward();
  }
}
template void attack<float>(Linear, Tensor);

void byLambda(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  auto step = [&](Tensor x) {
    net->bias.register_hook([](Tensor grad) { return -grad; });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'net->bias' gets one more hook
    net->forward(x).sum().backward();
    opt.step();
  };
  for (const Tensor &x : xs)
    step(x);
}

// The last of a list, in a method that the loop calls.
struct Watched {
  Linear net{2, 2};
  SGD opt{net->parameters(), 0.1};
  std::vector<Tensor> norms;
  void watch() {
    net->parameters().back().register_hook([this](const Tensor &grad) { norms.push_back(grad.norm()); });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the same tensor gets one more hook in every iteration
  }
  void step(const Tensor &x) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
};
void last(const std::vector<Tensor> &xs) {
  Watched watched;
  for (const Tensor &x : xs) {
    watched.watch();
    watched.step(x);
  }
}
