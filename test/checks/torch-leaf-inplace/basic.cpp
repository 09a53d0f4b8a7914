// RUN: %check_torch %s torch-leaf-inplace %t
//
// The words that the messages quote are those of the LibTorch that is tested with.
// RUN: grep -F '"a leaf Variable that requires grad is being used in an in-place operation' %torch_root/include/torch/csrc/autograd/VariableTypeUtils.h
// RUN: grep -F '"a view of a leaf Variable that requires grad is being used in an in-place operation' %torch_root/include/torch/csrc/autograd/VariableTypeUtils.h
// RUN: find -L %torch_root/lib -name 'libtorch_cpu.so*' -exec grep -cF 'cannot resize variables that require grad' {} + | grep '[1-9]'
//
// Grad mode is known to be on: all of this runs from main().

#include <torch/torch.h>

#include <map>

using torch::Tensor;
using torch::indexing::Slice;

static Tensor weight() { return torch::randn({4, 4}, torch::requires_grad()); }

static void operators() {
  Tensor w = weight();
  w -= 0.1;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'w', a trainable tensor, throws "a leaf Variable that requires grad is being used in an in-place operation" while autograd records it; put it into a block that begins with 'torch::NoGradGuard no_grad;' [torch-leaf-inplace]
}
// CHECK-FIXES-LABEL: static void operators() {
// CHECK-FIXES: {{^  \{$}}
// CHECK-FIXES-NEXT: {{^    torch::NoGradGuard no_grad;$}}
// CHECK-FIXES-NEXT: {{^    w -= 0.1;$}}
// CHECK-FIXES-NEXT: {{^  \}$}}

static void methods() {
  auto w = torch::zeros({4, 4}).requires_grad_();
  w.add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'w', a trainable tensor
  auto v = weight();
  v.clamp_(-1, 1).mul_(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'v', a trainable tensor
}

static void shapes() {
  auto w = weight();
  w.t_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'w', a trainable tensor
  auto v = weight();
  v.squeeze_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'v', a trainable tensor
}

static void functions() {
  auto w = weight();
  torch::relu_(w);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'w', a trainable tensor
}

static void elements(Tensor x) {
  auto w = weight();
  w[0] = x;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on a view of 'w', a trainable tensor, throws "a view of a leaf Variable that requires grad is being used in an in-place operation" while
  auto v = weight();
  v[1][2] += 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on a view of 'v', a trainable tensor
  auto u = weight();
  u.index({Slice(0, 2), 1}) = x;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on a view of 'u', a trainable tensor
  auto s = weight();
  s.index_put_({torch::tensor({0, 1})}, x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 's', a trainable tensor
}

static void views() {
  auto w = weight();
  auto row = w.view({16}).slice(0, 0, 4);
  row.zero_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on a view of 
  auto v = weight();
  v.narrow(0, 0, 1).fill_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on a view of 'v', a trainable tensor
}

static void shrink(Tensor &t) {
  t.mul_(0.9);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 't', a trainable tensor
}

template <class T> void scale(T &t, double by) {
  t *= by;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 't', a trainable tensor
}

using Weights = std::vector<Tensor>;

static void containers() {
  Weights weights = {weight(), weight()};
  for (auto &each : weights)
    each.sub_(0.1);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on 'each', a trainable tensor
  auto [a, b] = std::make_tuple(weight(), weight());
  a.zero_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'a', a trainable tensor
  Tensor c, d;
  std::tie(c, d) = std::make_tuple(weight(), weight());
  d.zero_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'd', a trainable tensor
  auto update = [](Tensor t) {
    t.add_(1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on 't', a trainable tensor
  };
  update(a);
}
// CHECK-FIXES-LABEL: static void containers() {
// CHECK-FIXES: for (auto &each : weights)
// CHECK-FIXES-NEXT: {{^    \{ torch::NoGradGuard no_grad; each.sub_\(0.1\); \}$}}

struct Layer {
  Tensor w = torch::ones({4}, torch::TensorOptions().requires_grad(true));
  void decay() {
    w *= 0.99;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on 'w', a trainable tensor
  }
};

struct NetImpl : torch::nn::Module {
  NetImpl() {
    fc = register_module("fc", torch::nn::Linear(4, 4));
    gain = register_parameter("gain", torch::ones({4}));
  }
  Tensor forward(Tensor x) { return fc(x) * gain; }
  torch::nn::Linear fc{nullptr};
  Tensor gain;
};
TORCH_MODULE(Net);

static void modules() {
  Net net;
  net->fc->weight.fill_(0.1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'net->fc->weight', a trainable tensor
  for (auto &p : net->parameters())
    p.clamp_(-0.01, 0.01);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on 'p', a trainable tensor
  torch::nn::Linear layer(2, 2);
  layer->bias.zero_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'layer->bias', a trainable tensor
}

static void train() {
  auto w = weight(), b = torch::zeros({4}, torch::requires_grad());
  for (int i = 0; i < 100; ++i) {
    auto x = torch::randn({8, 4});
    auto loss = (x.matmul(w) + b - x).pow(2).mean();
    loss.backward();
    w -= 0.1 * w.grad();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on 'w', a trainable tensor
    b.sub_(0.1 * b.grad());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on 'b', a trainable tensor
    w.grad().zero_();
    b.grad().zero_();
  }
}

int main() {
  operators();
  methods();
  shapes();
  functions();
  elements(torch::ones({4}));
  views();
  Tensor w = weight();
  shrink(w);
  Tensor v = weight();
  scale(v, 0.5);
  containers();
  Layer().decay();
  modules();
  train();
}
