// RUN: %check_torch %s torch-parameter-copy %t -still-warns
//
// Elements of a vector of handles that is a copy: the vector reads nothing but
// itself.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct Average {
  Linear shadow{4, 4};
  double decay = 0.99;
  void update(Linear net) {
    auto source = net->parameters();
    auto mean = shadow->parameters();
    for (size_t i = 0; i < mean.size(); ++i)
      mean[i] = decay * mean[i] + (1 - decay) * source[i];
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: assigning to the elements of 'mean' gives these handles other tensors and leaves 'shadow->parameters()' as it is, and 'mean' is not read again; write into the elements with '.copy_(...)' [torch-parameter-copy]
  }
};

void decayed(Linear net) {
  std::vector<Tensor> all = net->parameters();
  for (int round = 0; round < 3; ++round)
    for (size_t i = 0; i < all.size(); ++i)
      all.at(i) = torch::lerp(all.at(i), torch::zeros(all[i].sizes()), 0.1);
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: assigning to the elements of 'all' gives
}

void moved(std::vector<Tensor> inputs, torch::Device device) {
  for (size_t i = 0; i < inputs.size(); ++i)
    inputs[i] = inputs[i].to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the parameter 'inputs' is a copy of what the caller has
}

// Right: what is written in place is written, whatever the handle gets.
void inPlace(Linear net) {
  torch::NoGradGuard guard;
  auto all = net->parameters();
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = all[i].mul_(0.5).add_(0.1);
  auto others = net->parameters();
  for (auto &p : others)
    p.mul_(0.5);
  for (size_t i = 0; i < others.size(); ++i)
    others[i] = others[i] * 2;
}
Tensor halved(Tensor x);
void bySomeFunction(Linear net) {
  auto all = net->parameters();
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = halved(all[i]);
}

// The vector is what is meant: somebody reads it, has a reference into it, or
// it is another's.
std::vector<Tensor> snapshot(Linear net) {
  auto all = net->parameters();
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = all[i].detach().clone();
  return all;
}
Tensor joined(std::vector<Tensor> parts, torch::Device device) {
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = parts[i].to(device);
  return torch::cat(parts);
}
double largest(Linear net) {
  auto all = net->parameters();
  Tensor &first = all[0];
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = all[i].abs();
  return first.max().item<double>();
}
void captured(Linear net, std::vector<std::function<Tensor()>> &later) {
  auto all = net->parameters();
  later.push_back([all] { return all[0]; });
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = all[i] * 2;
}
void byReference(std::vector<Tensor> &all) {
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = all[i] * 2;
}
// A value of its own: nothing says that it was to be another's.
void scratch(int64_t n) {
  std::vector<Tensor> all(n, torch::zeros({4}));
  for (int64_t i = 0; i < n; ++i)
    all[i] = all[i] + 1;
}
