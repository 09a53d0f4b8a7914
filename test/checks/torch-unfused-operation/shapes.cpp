// RUN: %check_torch %s torch-unfused-operation %t
//
// The mistake in its shapes.

#include <torch/torch.h>

using torch::Tensor;
using Tensors = std::vector<Tensor>;

void plain(Tensor x, const Tensors &as, const Tensor &b) {
  const torch::NoGradGuard no_grad;
  for (const Tensor &a : as) {
    x = x + a * b;
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: this makes a tensor only to add it to another, in every iteration, which costs its memory and the time to write and read it; 'torch::addcmul(x, a, b)' computes the same without [torch-unfused-operation]
    x = a.mul(b) + x;
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: {{.*}} 'torch::addcmul(x, a, b)' computes
    x = x - a * b;
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: this makes a tensor only to subtract it from another, {{.*}} 'torch::addcmul(x, a, b, -1)' computes
    x = torch::add(x, torch::div(a, b));
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: {{.*}} 'torch::addcdiv(x, a, b)' computes
  }
}

// With a number.
void scaled(Tensor x, const Tensors &as, double rate) {
  for (const Tensor &a : as) {
    x = x + 0.5 * a;
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: {{.*}} 'torch::add(x, a, 0.5)' computes
    x = x - rate * a;
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: {{.*}} 'torch::add(x, a, -rate)' computes
    x = x - a * (1 - rate);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: {{.*}} 'torch::add(x, a, -(1 - rate))' computes
  }
}

// In place; in functions, members, lambdas and templates.
struct Average {
  Tensor sum, weight;
  void take(const Tensor &x) {
    sum += weight * x;
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: {{.*}} 'sum.addcmul_(weight, x)' computes
  }
};
template <class T> void moments(T &first, const T &grad, double beta) {
  first.mul_(beta).add_(grad * (1 - beta));
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: {{.*}} 'first.mul_(beta).add_(grad, 1 - beta)' computes
}
void all(const Tensors &xs) {
  const torch::NoGradGuard no_grad;
  Average average{torch::zeros({65536}), torch::ones({65536})};
  Tensor first = torch::zeros({65536});
  const auto step = [&](const Tensor &x) {
    first -= 0.1 * x;
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: {{.*}} 'first.add_(x, -0.1)' computes
  };
  for (const Tensor &x : xs) {
    average.take(x);
    moments(first, x, 0.9);
    step(x);
  }
}
