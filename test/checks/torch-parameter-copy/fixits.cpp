// RUN: %check_torch %s torch-parameter-copy %t

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void all(Linear target, Linear local, std::vector<Tensor> &tensors,
         std::map<std::string, Tensor> &cache, torch::Device device) {
  // CHECK-FIXES: {{^}}  target->parameters()[0].detach().copy_(local->parameters()[0]);
  target->parameters()[0] = local->parameters()[0];
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this replaces an element
  for (auto &p : target->parameters())
    // CHECK-FIXES: {{^}}    p.detach().copy_(torch::zeros_like(p));
    p = torch::zeros_like(p);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'p' is an element of the temporary
  for (auto &item : target->named_parameters())
    // CHECK-FIXES: {{^}}    item.value().detach().copy_(item.value() * 2);
    item.value() = item.value() * 2;
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'item' is an element of the temporary
  // CHECK-FIXES: {{^}}  for (auto &t : tensors)
  for (auto t : tensors)
    t = t.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't' is a copy of the element
  // CHECK-FIXES: {{^}}  for (torch::Tensor &t : tensors) {
  for (torch::Tensor t : tensors) {
    t = t.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't' is a copy of the element
  }
  // CHECK-FIXES: {{^}}  for (auto &entry : cache)
  for (auto entry : cache)
    entry.second = entry.second.cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'entry' is a copy of the element
}

double kept(Linear net) {
  // CHECK-FIXES: {{^}}  auto weight = net->parameters()[0];
  auto &weight = net->parameters()[0];
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'weight' leads into the vector
  // CHECK-FIXES: {{^}}  const Tensor bias = net->parameters().back();
  const Tensor &bias = net->parameters().back();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'bias' leads into the vector
  return (weight.sum() + bias.sum()).item<double>();
}
