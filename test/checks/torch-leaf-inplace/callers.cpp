// RUN: %check_torch %s torch-leaf-inplace %t
//
// Callers lie elsewhere: a backward() that no path avoids shows that grad mode
// is on. The notes lead to it.

#include <torch/torch.h>

using torch::Tensor;

void trains(const Tensor &x, const Tensor &y) {
  auto w = torch::zeros({4, 1}, torch::requires_grad());
  for (int i = 0; i < 10; ++i) {
    auto loss = (x.matmul(w) - y).pow(2).mean();
    loss.backward();
    w -= 0.1 * w.grad();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: in-place operation on 'w', a trainable tensor
    // CHECK-NOTES: :[[@LINE-3]]:5: note: grad mode is on: this backward() needs the graph that it records
    w.mutable_grad().reset();
  }
}

void initializes(const Tensor &x) {
  auto w = torch::zeros({4, 1}, torch::requires_grad());
  w.uniform_();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: in-place operation on 'w', a trainable tensor
  auto loss = x.matmul(w).sum();
  loss.backward();
  // CHECK-NOTES: :[[@LINE-1]]:3: note: grad mode is on: this backward()
}

void switchesOn() {
  auto w = torch::zeros({4}, torch::requires_grad());
  torch::AutoGradMode enabled(true);
  w.fill_(1);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: in-place operation on 'w', a trainable tensor
}
