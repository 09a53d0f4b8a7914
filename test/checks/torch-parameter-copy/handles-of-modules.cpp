// RUN: %check_torch %s torch-parameter-copy %t

// The elements of parameters() are handles: neither a copy nor a reference into
// the vector is the tensor of the module.
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void zero(Linear net) {
  // CHECK-FIXES: {{^}}  for (auto p : net->parameters())
  for (auto p : net->parameters())
    // CHECK-FIXES: {{^}}    p.detach().copy_(torch::zeros_like(p));
    p = torch::zeros_like(p);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'p' is a copy of a handle in what 'net->parameters()' returns: assigning to it is lost with the loop; the module keeps its tensor: write into it with '.copy_(...)' under 'torch::NoGradGuard', or with '.detach().copy_(...)' [torch-parameter-copy]
}

struct Average {
  Linear shadow{4, 4};
  double decay = 0.99;
  void update(Linear net) {
    auto from = net->parameters();
    const auto to = shadow->parameters();
    size_t i = 0;
    for (auto p : to)
      // CHECK-FIXES: {{^}}      p.detach().copy_(decay * p + (1 - decay) * from[i++]);
      p = decay * p + (1 - decay) * from[i++];
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'p' is a copy of a handle in what 'shadow->parameters()'
  }
};

template <class Net> void fill(Net &net, double value) {
  for (auto item : net->named_parameters())
    item.value() = torch::full_like(item.value(), value);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'item' is a copy of a handle in what 'net->named_parameters()' returns
  for (auto b : net->buffers())
    b = torch::zeros_like(b);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'b' is a copy of a handle in what 'net->buffers()' returns
}
void fillAll(torch::nn::BatchNorm1d norm) { fill(norm, 0.5); }

// The elements of a vector of one's own are what is meant.
void scale(std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}  for (auto &x : xs)
  for (auto x : xs)
    x = x * 2;
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x' is a copy of the element: assigning to it leaves 'xs' as it is; take it by reference
}

// What is read has its use, and what is written in place is written.
double norm(Linear net) {
  double sum = 0;
  for (auto p : net->parameters()) {
    p = p.detach().square();
    sum += p.sum().item<double>();
  }
  torch::NoGradGuard no_grad;
  for (auto p : net->parameters())
    p.copy_(torch::zeros_like(p));
  return sum;
}
