// RUN: %check_torch %s torch-non-leaf-parameter %t
//
// Lists whose elements are leaves when the optimizer gets them.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

void leaf(Linear net) {
  auto all = net->parameters();
  all.push_back(torch::rand({2}, torch::requires_grad()));
  all.push_back((torch::rand({2}) * 0.1).requires_grad_());
  SGD sgd(all, 0.1);
}

void cleared(Linear net) {
  Tensors all = net->parameters();
  all.push_back(torch::rand({2}, torch::requires_grad()) * 0.1);
  auto penalty = torch::stack(all).sum();
  all.clear();
  all.push_back(net->weight);
  SGD sgd(all, 0.1);
}

// Taken out again.
void popped(Linear net) {
  Tensors all = net->parameters();
  all.push_back(torch::rand({2}, torch::requires_grad()) * 0.1);
  all.pop_back();
  SGD sgd(all, 0.1);
}

void detached(Linear net) {
  Tensors all = net->parameters();
  all.push_back(torch::rand({2}, torch::requires_grad()) * 0.1);
  for (auto &p : all)
    p = p.detach().requires_grad_();
  SGD sgd(all, 0.1);
}

// Another list.
void other(Linear net) {
  Tensors all = net->parameters(), results;
  results.push_back(net->weight * 2);
  SGD sgd(all, 0.1);
}

// Afterwards.
void after(Linear net) {
  Tensors all = net->parameters();
  SGD sgd(all, 0.1);
  all.push_back(net->weight * 2);
}

// A leaf on one path.
void either(Linear net, bool scaled) {
  Tensors all = net->parameters();
  auto w = torch::rand({2}, torch::requires_grad());
  if (scaled)
    w = (w * 0.1).detach().requires_grad_();
  all.push_back(w);
  SGD sgd(all, 0.1);
}
