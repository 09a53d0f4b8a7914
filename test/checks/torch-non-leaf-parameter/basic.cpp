// RUN: %check_torch %s torch-non-leaf-parameter %t -still-warns
//
// The words that the messages quote are those of the LibTorch that is tested with.
// RUN: find -L %torch_root/lib -name 'libtorch_cpu.so*' -exec grep -cF "can't optimize a non-leaf Tensor" {} + | grep '[1-9]'

#include <torch/torch.h>

#include <map>

using torch::Tensor;
using torch::optim::Adam;
using torch::optim::OptimizerParamGroup;
using torch::optim::SGD;

void scaled() {
  auto w = torch::randn({4, 4}, torch::requires_grad()) * 0.1;
  SGD opt({w}, 0.1);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'w' is the result of an operation, so it is no trainable tensor, and the optimizer throws "can't optimize a non-leaf Tensor"; compute first, then call '.requires_grad_()' on the result [torch-non-leaf-parameter]
}
// CHECK-FIXES-LABEL: void scaled() {
// CHECK-FIXES-NEXT: {{^  auto w = \(torch::randn\(\{4, 4\}\) \* 0.1\).requires_grad_\(\);$}}

void moved(torch::Device device) {
  auto w = torch::randn({4, 4}).requires_grad_().to(device);
  Adam opt(std::vector<Tensor>{w}, 0.1);
  // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'w' is the result of an operation
}
// CHECK-FIXES-LABEL: void moved(
// CHECK-FIXES-NEXT: {{^  auto w = torch::randn\(\{4, 4\}\).to\(device\).requires_grad_\(\);$}}

void inTheCall() {
  SGD opt({torch::zeros({2}, torch::TensorOptions().requires_grad(true)).view({2, 1})}, 0.1);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: this tensor is the result of an operation
}
// CHECK-FIXES-LABEL: void inTheCall() {
// CHECK-FIXES-NEXT: SGD opt({torch::zeros({2}, torch::TensorOptions()).view({2, 1}).requires_grad_()}, 0.1);

void one(torch::Device device) {
  auto bias = torch::zeros({4}, torch::requires_grad());
  auto w = torch::randn({4, 4}).requires_grad_(true).to(device);
  SGD opt({bias, w}, 0.1);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'w' is the result of an operation
}

void listed(torch::Device device) {
  auto w = torch::randn({4, 4}).requires_grad_();
  std::vector<Tensor> weights = {w, w.to(torch::kDouble)};
  SGD opt(weights, 0.1);
  // CHECK-MESSAGES: :[[@LINE-2]]:37: warning: this tensor is the result of an operation
}

void groups() {
  auto w = torch::randn({4}, torch::requires_grad());
  auto scaled = w * 2;
  SGD opt({w}, 0.1);
  opt.add_param_group(OptimizerParamGroup({scaled}));
  // CHECK-MESSAGES: :[[@LINE-1]]:44: warning: 'scaled' is the result of an operation, so it is no trainable tensor, and the optimizer throws "can't optimize a non-leaf Tensor"
}

void silent() {
  auto w = torch::randn({4}, torch::requires_grad());
  auto scaled = w * 2;
  SGD opt({w}, 0.1);
  opt.add_parameters({scaled});
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'scaled' is the result of an operation, so it is no trainable tensor (a non-leaf Tensor): it gets no gradient, and step() never changes it
}

static Tensor scaledBy(const Tensor &t, double by) { return t * by; }

void throughHelper() {
  auto w = scaledBy(torch::randn({4}, torch::requires_grad()), 0.1);
  auto opt = std::make_unique<SGD>(std::vector<Tensor>{w}, 0.1);
  // CHECK-MESSAGES: :[[@LINE-1]]:56: warning: 'w' is the result of an operation
}

void bound() {
  auto [a, b] = std::make_tuple(torch::ones({2}, torch::requires_grad()),
                                torch::ones({2}, torch::requires_grad()) * 2);
  SGD opt({a, b}, 0.1);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'b' is the result of an operation
}

struct Scale : torch::nn::Module {
  Scale() {
    gain = register_parameter("gain", torch::randn({4}, torch::requires_grad()) * 0.1);
    // CHECK-MESSAGES: :[[@LINE-1]]:39: warning: parameter is the result of an operation, so it is no trainable tensor: it gets no gradient, and an optimizer throws "can't optimize a non-leaf Tensor"; compute first, then call '.requires_grad_()' on the result
  }
  Tensor forward(Tensor x) { return x * gain; }
  Tensor gain;
};
// CHECK-FIXES-LABEL: struct Scale
// CHECK-FIXES: gain = register_parameter("gain", (torch::randn({4}) * 0.1).requires_grad_());

template <class T> struct Bias : torch::nn::Module {
  explicit Bias(torch::Device device)
      : bias(torch::zeros({4}).requires_grad_().to(device)) {
    register_parameter("bias", bias);
    // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: parameter 'bias' is the result of an operation
  }
  T forward(T x) { return x + bias; }
  Tensor bias;
};
template struct Bias<Tensor>;

void rebound(const Tensor &x, const Tensor &y) {
  auto w = torch::zeros({4, 1}, torch::requires_grad());
  SGD opt({w}, 0.1);
  for (int i = 0; i < 10; ++i) {
    opt.zero_grad();
    torch::mse_loss(x.matmul(w), y).backward();
    opt.step();
    w = w.clamp(-1, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'w' is bound to the result of an operation, but the optimizer goes on with the tensor that it was given, so step() no longer changes 'w'; write in place under 'torch::NoGradGuard'
  }
}

void moves(const Tensor &x, torch::Device device) {
  auto w = torch::zeros({4, 1}, torch::requires_grad());
  SGD opt({w}, 0.1);
  w = w.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'w' is bound to the result of an operation
  x.matmul(w).sum().backward();
  opt.step();
}
