// RUN: %check_torch %s torch-discarded-result %t -still-warns
//
// Where assigning it would not do, there is no fix.

#include <torch/torch.h>

using torch::Tensor;

struct Net : torch::nn::Module {
  Tensor weight, plain;
  Net() { weight = register_parameter("weight", torch::ones({4})); }
  Tensor forward(Tensor x) {
    weight.to(x.device());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'weight.to(x.device())'
    return weight * x;
  }
};

#define TO_HOST(t) t.cpu()

Tensor all(const Tensor &c, Tensor x, Tensor y, std::vector<Tensor> xs) {
  c.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'c.cuda()'{{.*}}; keep it in a variable
  x + y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x + y'
  torch::mm(x, y);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'torch::mm(x, y)'
  torch::add(x, y);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'torch::add(x, y)'
  x.mean();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.mean()'
  x.max(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.max(0)'
  TO_HOST(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'TO_HOST(x)'
  for (auto t : xs)
    t.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't.cuda()'
  [x] { x.cuda(); return x; }();
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'x.cuda()'
  return c + x + y + xs[0];
}
