// RUN: %check_torch %s torch-cat-in-loop %t -- -config="{CheckOptions: {torch-cat-in-loop.Minor: true}}"
//
// Tensors that grow in a loop, in all ways to write it.

#include <torch/torch.h>
#include <iostream>
using torch::Tensor;
using torch::nn::Linear;

Tensor collected(Linear net, const std::vector<Tensor> &xs) {
  Tensor all = torch::empty({0, 4});
  for (const Tensor &x : xs)
    all = torch::cat({all, net(x)});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::cat' copies all that 'all' has collected in every iteration: the bytes copied grow with the square of the iterations; collect in a 'std::vector<torch::Tensor>' and call 'torch::cat' once after the loop
  return all;
}
Tensor defined(const std::vector<Tensor> &xs) {
  Tensor all;
  for (const Tensor &x : xs) {
    if (!all.defined())
      all = x;
    else
      all = torch::cat({all, x}, 0);
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'torch::cat' copies all that 'all' has collected
  }
  return all;
}
Tensor first(const std::vector<Tensor> &xs) {
  Tensor all;
  for (size_t i = 0; i < xs.size(); ++i)
    if (i == 0) all = xs[i]; else all = torch::vstack({all, xs[i]});
    // CHECK-MESSAGES: :[[@LINE-1]]:41: warning: 'torch::vstack' copies all that 'all' has collected in every iteration: the bytes copied grow with the square of the iterations; collect in a 'std::vector<torch::Tensor>' and call 'torch::vstack' once after the loop
  return all;
}
Tensor prepended(const std::vector<Tensor> &xs, torch::Device d) {
  Tensor all = xs[0];
  size_t i = 1;
  while (i < xs.size())
    all = torch::cat({xs[i++], all}, 1).to(d);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::cat' copies all that 'all' has collected
  return all;
}
struct Buffer {
  Tensor all;
  void add(Tensor x) { all = torch::cat({all, x}); }
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'torch::cat' copies all that 'all' has collected
};
void member(Buffer &b, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs)
    b.add(x);
}
Tensor join(const Tensor &a, const Tensor &b) { return torch::cat({a, b}, 0); }
// CHECK-MESSAGES: :[[@LINE-1]]:56: warning: 'torch::cat' copies all that 'a' has collected in every iteration: the bytes copied grow with the square of the iterations; collect in a 'std::vector<torch::Tensor>' and call 'torch::cat' once after the loop
Tensor viaHelper(const std::vector<Tensor> &xs) {
  Tensor all = xs[0];
  for (const Tensor &x : xs)
    all = join(all, x);
  return all;
}
void grow(Tensor &to, const Tensor &x) { to = torch::cat({to, x}); }
// CHECK-MESSAGES: :[[@LINE-1]]:47: warning: 'torch::cat' copies all that 'to' has collected in every iteration: the bytes copied grow with the square of the iterations; collect in a 'std::vector<torch::Tensor>' and call 'torch::cat' once after the loop
Tensor viaReference(const std::vector<Tensor> &xs) {
  Tensor all = xs[0];
  for (const Tensor &x : xs)
    grow(all, x);
  return all;
}
struct Cell : torch::nn::Module {
  Linear w{nullptr};
  Tensor forward(Tensor x) {
    Tensor h = torch::zeros({x.size(0), 8}), outputs = torch::zeros({x.size(0), 0, 8});
    for (int64_t t = 0; t < x.size(1); ++t) {
      h = torch::tanh(w(h) + x.select(1, t));
      outputs = torch::cat({outputs, h.unsqueeze(1)}, 1);
      // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::cat' copies all that 'outputs' has collected in every iteration: the bytes copied grow with the square of the iterations; collect in a 'std::vector<torch::Tensor>' and call 'torch::cat' once after the loop
    }
    return outputs;
  }
};
template <class Loader> std::pair<Tensor, Tensor> evaluate(Linear net, Loader &loader) {
  Tensor scores, labels;
  for (auto &batch : loader) {
    scores = scores.defined() ? torch::cat({scores, net(batch.data)}) : net(batch.data);
    // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: 'torch::cat' copies all that 'scores' has collected in every iteration: the bytes copied grow with the square of the iterations; collect in a 'std::vector<torch::Tensor>' and call 'torch::cat' once after the loop
    labels = torch::cat({labels, batch.target});
    // CHECK-MESSAGES: :[[@LINE-1]]:14: note: and here
  }
  return {scores, labels};
}
struct Batch { Tensor data, target; };
template std::pair<Tensor, Tensor> evaluate(Linear, std::vector<Batch> &);
void lambda(const std::vector<Tensor> &xs) {
  Tensor all = xs[0];
  auto add = [&](const Tensor &x) { all = torch::cat({all, x}); };
  // CHECK-MESSAGES: :[[@LINE-1]]:43: warning: 'torch::cat' copies all that 'all' has collected
  for (const Tensor &x : xs) add(x);
  std::cout << all.sum();
}
// Two numbers each, and nothing that takes longer; whole rows beside a network.
Tensor pairs(const std::vector<double> &xs) {
  Tensor all = torch::empty({0, 2});
  for (double x : xs)
    all = torch::cat({all, torch::full({1, 2}, x)});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::cat' copies all that 'all' has collected
  return all;
}
Tensor features(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  Tensor all = torch::empty({0, 512});
  for (const Tensor &x : xs)
    all = torch::cat({all, net(x).view({1, 512})});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::cat' copies all that 'all' has collected
  return all;
}
// Several in one loop.
void collate(const std::vector<std::pair<Tensor, Tensor>> &all, Tensor &data, Tensor &labels) {
  data = all[0].first.unsqueeze(0);
  labels = all[0].second.unsqueeze(0);
  for (size_t i = 1; i < all.size(); ++i) {
    data = torch::cat({data, all[i].first.unsqueeze(0)}, 0);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::cat' copies all that 'data' has collected
    // CHECK-MESSAGES: :[[@LINE+1]]:14: note: and here
    labels = torch::cat({labels, all[i].second.unsqueeze(0)}, 0);
  }
}

// A member of a local object, beside the same member of others.
struct Trajectory {
  Tensor states, actions;
  int64_t length() const { return states.size(0); }
};
Trajectory joined(const std::vector<Trajectory> &all) {
  Trajectory whole = all.at(0);
  for (size_t i = 1; i < all.size(); ++i) {
    const Trajectory part = all.at(i);
    whole.states = torch::cat({whole.states, part.states}, 0);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::cat' copies all that 'whole.states' has collected
    whole.actions = torch::cat({whole.actions, all[i].actions}, 0);
  }
  return whole;
}
