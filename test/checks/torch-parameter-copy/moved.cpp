// RUN: %check_torch %s torch-parameter-copy %t -still-warns

// Writing into a module's tensor does not move it: no fix, and other advice.
#include <torch/torch.h>

void move(torch::nn::Linear net, torch::Device device) {
  for (auto p : net->parameters())
    p = p.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'p' is a copy of a handle in what 'net->parameters()' returns: assigning to it is lost with the loop; the module keeps its tensor: call 'to()' of the module
  for (auto &p : net->parameters())
    p = p.to(torch::kDouble);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'p' is an element of the temporary that 'net->parameters()' returns: assigning to it is lost with the loop; the module keeps its tensor: call 'to()' of the module
}

// Of a vector of one's own the elements are what is moved.
void moveAll(std::vector<torch::Tensor> &xs, torch::Device device) {
  // CHECK-FIXES: {{^}}  for (auto &x : xs)
  for (auto x : xs)
    x = x.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x' is a copy of the element
}
