// RUN: %check_torch %s torch-missing-zero-grad %t -still-warns
//
// Steps that are made without an optimizer: a tensor is changed by its own
// gradient.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using Tensors = std::vector<Tensor>;

void data(Linear net, Tensors xs, double lr) {
  for (auto &x : xs) {
    net->forward(x).sum().backward();
    for (auto &p : net->parameters())
      p.data() -= lr * p.grad();
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'p' are not cleared between iterations: every update applies the sum of the gradients so far; call 'p.grad().zero_()' after this update [torch-missing-zero-grad]
  }
}
// CHECK-FIXES-LABEL: void data(
// CHECK-FIXES: { p.data() -= lr * p.grad(); p.grad().zero_(); }

void guarded(Linear net, Tensors xs, double lr) {
  for (auto &x : xs) {
    net->forward(x).sum().backward();
    torch::NoGradGuard off;
    for (auto &p : net->parameters()) {
      p -= lr * p.grad();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'p' are not cleared
    }
  }
}

void method(Linear net, Tensors xs, double lr) {
  for (auto &x : xs) {
    net->forward(x).sum().backward();
    torch::NoGradGuard off;
    for (auto &item : net->named_parameters()) {
      item.value().sub_(lr * item.value().grad());
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'item.value()' are not cleared
    }
  }
}

void tensors(Tensors xs, double lr) {
  auto w = torch::zeros({2}, torch::requires_grad());
  auto b = torch::zeros({2}, torch::requires_grad());
  for (auto &x : xs) {
    (x * w + b).sum().backward();
    torch::NoGradGuard off;
    w -= lr * w.grad();
    b -= lr * b.grad();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'b' are not cleared
    w.grad().zero_();
  }
}

// By way of a variable, and with the gradient clipped.
void named(Tensors xs, double lr) {
  auto w = torch::zeros({2}, torch::requires_grad());
  for (auto &x : xs) {
    (x * w).sum().backward();
    auto g = w.grad().clamp(-1, 1);
    w.data().add_(g, -lr);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'w' are not cleared
  }
}

void indexed(Linear net, Tensors xs, double lr) {
  auto all = net->parameters();
  net->zero_grad();  // once is not enough
  for (auto &x : xs) {
    net->forward(x).sum().backward();
    for (size_t i = 0; i < all.size(); ++i)
      all[i].data().add_(all[i].grad(), -lr);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'all[i]' are not cleared
  }
}

static void update(Linear net, double lr) {
  torch::NoGradGuard off;
  for (auto &p : net->parameters())
    if (p.grad().defined())
      p.sub_(p.grad(), lr);
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'p' are not cleared
}

void inHelper(Linear net, Tensors xs, double lr) {
  for (auto &x : xs) {
    net->forward(x).sum().backward();
    update(net, lr);
  }
}

struct Fit {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  void run(Tensors xs) {
    for (auto &x : xs) {
      (x * w).sum().backward();
      torch::NoGradGuard off;
      w.sub_(0.1 * w.grad());
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'w' are not cleared
    }
  }
};

// Somebody looks at the gradient afterwards: no fix there.
void logged(Tensors xs, double lr) {
  auto w = torch::zeros({2}, torch::requires_grad());
  double norm = 0;
  for (auto &x : xs) {
    (x * w).sum().backward();
    w.data() -= lr * w.grad();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'w' are not cleared
    norm += w.grad().norm().item<double>();
  }
}
