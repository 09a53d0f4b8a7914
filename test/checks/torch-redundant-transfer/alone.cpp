// RUN: %check_torch %s torch-redundant-transfer %t -still-warns
//
// clone() of what an operation has just made, with no transfer beside it.

#include <torch/torch.h>

#include <vector>

using torch::Tensor;

struct Mixer {
  Tensor weights = torch::rand({512, 512});
  Tensor level;

  Tensor mix(const Tensor &x) { return torch::mm(x, weights).clone(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:62: warning: 'clone' copies what an operation has just made and nobody else has; leave 'clone' out [torch-redundant-transfer]
  void follow(const Tensor &x) { level = (x - level).clone(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:54: warning: 'clone' copies what an operation has just made
  Tensor rows(const Tensor &x, const Tensor &which) { return x.index_select(0, which).clone(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:87: warning: 'clone' copies what an operation has just made
  Tensor both(const Tensor &x) { return torch::cat({x, weights}).clone(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:66: warning: 'clone' copies what an operation has just made
};

// What a graph has saved: the clone may be changed.
Tensor gates(const Tensor &x, const Tensor &y) {
  auto gate = torch::sigmoid(x + y).clone();
  return gate.mul_(2);
}

// Views, what has a name, and what may be the tensor itself.
Tensor others(const Tensor &x, Tensor &sum, bool training) {
  auto twice = x * 2;
  sum = twice;
  return twice.clone() + x.t().clone() + x.expand({4, -1}).clone() + x.contiguous().clone() +
         torch::dropout(x, 0.5, training).clone() + sum.add_(1).clone() + x.detach().clone();
}

// Small, and another layout that is asked for.
Tensor small(const Tensor &x, const Tensor &y) {
  return (torch::rand({4, 4}) * 2).clone() + torch::mm(x, y).clone(torch::MemoryFormat::Contiguous) +
         x.mul(y).sum(0).clone();
}
