// RUN: %check_torch %s torch-inplace-saved %t
//
// The words that the messages quote are those of the LibTorch that is tested with.
// RUN: find -L %torch_root/lib -name 'libtorch_cpu.so*' -exec grep -cF 'one of the variables needed for gradient computation has been modified by an inplace operation' {} + | grep '[1-9]'
//
// What the graph has saved is changed before backward(), in its shapes.

#include <torch/torch.h>

namespace F = torch::nn::functional;
using torch::Tensor;

static Tensor leaf() { return torch::randn({4, 4}, torch::requires_grad()); }

static void results(const Tensor &x) {
  auto w = leaf();
  auto y = torch::sigmoid(x.mm(w));
  y += 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'y' is changed in place, but the backward() that needs it as it was throws "one of the variables needed for gradient computation has been modified by an inplace operation"; use the operation that returns a new tensor, or change a clone() [torch-inplace-saved]
  y.sum().backward();
  auto z = w.mm(x).relu();
  z.relu_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'z' is changed in place
  z.mean().backward();
  auto p = F::softmax(w, 1);
  p[0] = 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'p' is changed in place
  p.sum().backward();
  auto q = w * 2;
  q.tanh_();
  q.view({-1}).mul_(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'q' is changed in place
  q.sum().backward();
}

static void operands(const Tensor &x) {
  auto w = leaf();
  auto scale = torch::ones({4});
  auto y = w * scale;
  scale.fill_(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'scale' is changed in place
  y.sum().backward();
  auto h = w + 1;
  auto s = h.pow(2).sum();
  h.zero_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'h' is changed in place
  s.backward();
  auto target = torch::zeros({4, 4});
  auto loss = torch::mse_loss(w + 1, target);
  {
    torch::NoGradGuard no_grad; // versions count there, too
    target.copy_(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'target' is changed in place
  }
  loss.backward();
  auto a = torch::ones({4, 4});
  auto b = a.detach(); // shares the version
  auto m = a.mm(w);
  a.add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'a' is changed in place
  m.sum().backward();
}

// The residual is added to what relu() has saved.
struct BlockImpl : torch::nn::Module {
  BlockImpl() {
    first = register_module("first", torch::nn::Conv2d(8, 8, 3));
    norm = register_module("norm", torch::nn::BatchNorm2d(8));
    act = register_module("act", torch::nn::ReLU());
  }
  Tensor forward(const Tensor &x) {
    auto out = torch::relu(norm(first(x)));
    out += x;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'out' is changed in place
    return out;
  }
  Tensor last(const Tensor &x) {
    auto out = act(first(x));
    out.mul_(2);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'out' is changed in place
    return out;
  }
  torch::nn::Conv2d first{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::nn::ReLU act{nullptr};
};
TORCH_MODULE(Block);

static void train(const Tensor &x) {
  Block block;
  torch::optim::SGD sgd(block->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    sgd.zero_grad();
    block(x).sum().backward();
    block->last(x).sum().backward();
    sgd.step();
  }
}

// A buffer is filled again while graphs need what was in it.
static void buffer(const std::vector<Tensor> &states) {
  torch::nn::Linear policy(4, 2);
  auto state = torch::zeros({1, 4});
  std::vector<Tensor> scores;
  for (const Tensor &next : states) {
    state.copy_(next);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'state' is changed in place
    scores.push_back(policy(state));
  }
  torch::stack(scores).sum().backward();
}

// On one path.
static void branches(bool squash) {
  auto w = leaf();
  Tensor y = w * 2;
  if (squash)
    y = torch::sigmoid(y);
  y += 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'y' is changed in place
  y.sum().backward();
}

// In a helper, a lambda, a template.
static void scale(Tensor &t) {
  t.mul_(0.5);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 't' is changed in place
}

template <class T> static void generic(const T &x) {
  auto w = leaf();
  auto y = x.mm(w).exp();
  y.sub_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'y' is changed in place
  y.sum().backward();
}

int main() {
  const auto x = torch::randn({4, 4});
  results(x);
  operands(x);
  train(torch::randn({1, 8, 8, 8}));
  buffer({x});
  generic(x);
  branches(true);
  auto w = leaf();
  auto y = torch::sigmoid(w);
  scale(y);
  auto change = [](Tensor t) {
    t.clamp_(0, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't' is changed in place
  };
  auto z = torch::tanh(w);
  change(z);
  (y + z).sum().backward();
}
