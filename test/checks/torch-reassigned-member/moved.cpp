// RUN: %check_torch %s torch-reassigned-member %t
//
// A weight that is computed from another one is trained through it, until the
// module is moved: to() moves what is registered.

#include <torch/torch.h>

using torch::Tensor;

struct TiedImpl : torch::nn::Module {
  TiedImpl() {
    in = register_module("in", torch::nn::Linear(8, 4));
    out = register_module("out", torch::nn::Linear(4, 8));
    out->weight = in->weight.t();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'out->weight' gets a tensor that is computed from another parameter, and the module is moved afterwards: to() moves what is registered, and forward() goes on with a tensor on the old device or of the old type; compute it in forward() [torch-reassigned-member]
  }
  Tensor forward(const Tensor &x) { return out->forward(in->forward(x)); }
  torch::nn::Linear in{nullptr}, out{nullptr};
};
TORCH_MODULE(Tied);

Tensor runTied(const Tensor &x, torch::Device device) {
  Tied net;
  net->to(device);
  return net->forward(x);
}

// From outside, of a member of a member, through a helper.
struct Pair : torch::nn::Module {
  Pair() {
    a = register_module("a", torch::nn::Linear(4, 4));
    b = register_module("b", torch::nn::Linear(4, 4));
  }
  torch::nn::Linear a{nullptr}, b{nullptr};
};
static void convert(torch::nn::Module &module) { module.to(torch::kFloat64); }
Tensor runPair(const Tensor &x) {
  auto pair = std::make_shared<Pair>();
  pair->b->weight = pair->a->weight * 2;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'pair->b->weight' gets a tensor that is computed from another parameter, and the module is moved afterwards
  convert(*pair);
  return pair->b->forward(x);
}

// A parameter of the class's own.
struct Mixer : torch::nn::Module {
  explicit Mixer(torch::Device device) {
    g = register_parameter("g", torch::ones({4}));
    v = register_parameter("v", torch::ones({4}));
    v = g.exp();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'v' gets a tensor that is computed from another parameter
    to(device, torch::kFloat64);
  }
  Tensor forward(const Tensor &x) { return x * v; }
  Tensor g, v;
};
Tensor runMixer(const Tensor &x, torch::Device device) { return Mixer(device).forward(x); }

// ----- quiet -----

// Nobody moves it.
Tensor notMoved(const Tensor &x) {
  Tied net;
  return net->forward(x);
}

// It is where it goes already.
Tensor toCpu(const Tensor &x) {
  auto pair = std::make_shared<Pair>();
  pair->b->weight = pair->a->weight * 2;
  pair->to(torch::kCPU);
  return pair->b->forward(x);
}

// The move comes first.
Tensor movedBefore(const Tensor &x, torch::Device device) {
  auto pair = std::make_shared<Pair>();
  pair->to(device);
  pair->b->weight = pair->a->weight * 2;
  return pair->b->forward(x);
}

// Computed in each forward pass, or once more after the move.
struct NormalizedImpl : torch::nn::Module {
  NormalizedImpl() {
    g = register_parameter("g", torch::ones({4, 4}));
    fc = register_module("fc", torch::nn::Linear(4, 4));
  }
  Tensor forward(const Tensor &x) {
    fc->weight = g / g.norm();
    return fc->forward(x);
  }
  Tensor g;
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Normalized);
Tensor normalized(const Tensor &x, torch::Device device) {
  Normalized net;
  Tensor y = net->forward(x);
  net->to(device);
  return y + net->forward(x.to(device));
}
Tensor onceMore(const Tensor &x, torch::Device device) {
  auto pair = std::make_shared<Pair>();
  pair->b->weight = pair->a->weight * 2;
  Tensor y = pair->b->forward(x);
  pair->to(device);
  pair->b->weight = pair->a->weight * 2;
  return y + pair->b->forward(x.to(device)).cpu();
}

// The registered one itself, which moves.
Tensor shared(const Tensor &x, torch::Device device) {
  auto pair = std::make_shared<Pair>();
  pair->b->weight = pair->a->weight;
  pair->to(device);
  return pair->b->forward(x);
}

// Another module is moved.
Tensor other(const Tensor &x, torch::Device device) {
  auto pair = std::make_shared<Pair>();
  auto next = std::make_shared<Pair>();
  pair->b->weight = pair->a->weight * 2;
  next->to(device);
  return pair->b->forward(x) + next->b->forward(x);
}
