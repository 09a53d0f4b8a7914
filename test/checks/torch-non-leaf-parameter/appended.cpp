// RUN: %check_torch %s torch-non-leaf-parameter %t
//
// One element of a list of leaves is none: it was appended.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

void pushed(Linear net) {
  auto all = net->parameters();
  auto scale = torch::rand({2}, torch::requires_grad()) * 0.1;
  all.push_back(scale);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'scale' is the result of an operation, so it is no trainable tensor, and the optimizer throws "can't optimize a non-leaf Tensor"
  SGD sgd(all, 0.1);
}

void inserted(Linear net) {
  Tensors all = net->parameters();
  auto scale = torch::rand({2}).requires_grad_() * 0.1;
  all.insert(all.end(), scale);
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'scale' is the result of an operation
  SGD sgd(std::move(all), 0.1);
}

void gathered(Linear net) {
  Tensors all;
  for (auto &p : net->parameters())
    all.push_back(p);
  all.emplace_back(torch::zeros({2}, torch::requires_grad()) + 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: this tensor is the result of an operation
  SGD sgd(all, 0.1);
}

static SGD make(Tensors all) { return SGD(all, 0.1); }

void passed() {
  auto a = torch::zeros({2}, torch::requires_grad());
  auto b = torch::zeros({2}, torch::requires_grad()) * 2;
  Tensors all;
  all.push_back(a);
  all.push_back(b);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'b' is the result of an operation
  auto sgd = make(all);
}

void onePath(Linear net, bool scaled) {
  auto all = net->parameters();
  if (scaled)
    all.push_back(torch::rand({2}, torch::requires_grad()) * 0.1);
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: this tensor is the result of an operation
  SGD sgd(all, 0.1);
}
