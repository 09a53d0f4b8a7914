// RUN: %check_torch %s torch-fill-alias %t
//
// Elements that are only read, that get a tensor of their own first, or that are
// shared on purpose.

#include <torch/torch.h>

#include <algorithm>
#include <map>

using torch::Tensor;
using torch::nn::Linear;

void read(const Tensor &x);
void unseen(std::vector<Tensor> &v);

void onlyRead(Tensor x) {
  std::vector<Tensor> masks(4, torch::ones({8}));
  for (const auto &mask : masks)
    read(x * mask);
  read(torch::cat(masks));
}

void rebound(const std::vector<Tensor> &xs) {
  std::vector<Tensor> states(4, torch::zeros({8}));
  for (size_t i = 0; i < xs.size(); ++i)
    states[i % 4] = states[i % 4] + xs[i];
  for (auto &state : states)
    state.mul_(0.5);
  read(torch::stack(states));
}

void reboundByReference(const std::vector<Tensor> &xs) {
  std::vector<Tensor> sums(4, torch::empty({0}));
  for (auto &sum : sums)
    sum = torch::zeros({8});
  for (size_t i = 0; i < xs.size(); ++i)
    sums[i % 4] += xs[i];
  read(torch::stack(sums));
}

void one(Tensor x) {
  std::vector<Tensor> inputs(1, torch::zeros({8}));
  inputs[0].copy_(x);
  read(inputs[0]);
}

void empty(int64_t n, Tensor x) {
  std::vector<Tensor> v(n);
  std::vector<Tensor> w(n, Tensor());
  for (int64_t i = 0; i < n; ++i) {
    v[i] = torch::zeros({2});
    v[i].copy_(x);
  }
  read(torch::stack(v));
}

void cleared() {
  std::vector<Tensor> v(4, torch::ones({8}));
  for (auto &x : v)
    x.zero_();
  read(v[0]);
}

// Each has its own.
void pushed(const std::vector<Tensor> &xs) {
  std::vector<Tensor> sums, states, copies;
  auto zero = torch::zeros({8});
  Tensor state = torch::zeros({8});
  for (const auto &x : xs) {
    sums.push_back(torch::zeros({8}));
    copies.push_back(zero.clone());
    state = state + x;
    states.push_back(state);
  }
  sums[0] += 1;
  states[0] += 1;
  copies[0] += 1;
  read(torch::stack(sums) + torch::stack(states) + torch::stack(copies));
}

void listed(Tensor x) {
  std::vector<Tensor> v = {torch::zeros({8}), torch::zeros({8})};
  v[0] += x;
  read(torch::stack(v));
}

// It has a name of its own, by which it is used: all are to be the same.
void shared(const std::vector<Tensor> &xs) {
  auto total = torch::zeros({8});
  std::vector<Tensor> views(4, total);
  for (size_t i = 0; i < xs.size(); ++i)
    views[i % 4] += xs[i];
  read(total);
}

// Views of a tensor that is written by its own name.
void views(Tensor x) {
  std::vector<Tensor> v(4, x.view(-1));
  x.add_(1);
  read(v[0]);
}

void generated(Tensor x) {
  std::vector<Tensor> v(4, torch::zeros({8}));
  std::generate(v.begin(), v.end(), [] { return torch::zeros({8}); });
  v[0] += x;
  std::vector<Tensor> w(4, torch::zeros({8}));
  w = {torch::zeros({8}), torch::ones({8})};
  w[0] += x;
  read(v[0] + w[0]);
}

void givenAway(int64_t n) {
  std::vector<Tensor> v(n, torch::zeros({8}));
  unseen(v);
  v[0] += 1;
  read(v[1]);
}

struct Tied : torch::nn::Module {
  Linear shared{nullptr};
  std::vector<Linear> layers;
  std::vector<torch::nn::ReLU> activations;
  Tied() : activations(3, torch::nn::ReLU()) {
    shared = register_module("shared", Linear(8, 8));
    for (int i = 0; i < 3; ++i)
      layers.push_back(shared);
  }
};

struct Made : torch::nn::Module {
  std::vector<Linear> layers, empty;
  torch::nn::Sequential stack;
  Made() : layers(3, Linear(1, 1)), empty(3, nullptr) {
    for (auto &layer : layers)
      layer = Linear(8, 8);
    for (int i = 0; i < 3; ++i) {
      Linear each(8, 8);
      empty[i] = register_module("empty" + std::to_string(i), each);
      stack->push_back(each);
    }
    torch::nn::Linear twice(8, 8);
    stack->push_back(twice);
    register_module("twice", twice);
  }
};

// A module made with one value is a new one in each iteration.
struct BlockImpl : torch::nn::Module {
  Linear inner{nullptr};
  explicit BlockImpl(size_t width) {
    inner = register_module("inner", Linear(width, width));
  }
  Tensor forward(Tensor x) { return inner(x); }
};
TORCH_MODULE(Block);

struct Stacked : torch::nn::Module {
  torch::nn::Sequential body;
  std::vector<Block> blocks;
  Stacked(const size_t width, int64_t channels, size_t depth,
          torch::nn::LinearOptions options) {
    for (size_t i = 0; i < depth; ++i) {
      body->push_back(Block(width));
      body->push_back(torch::nn::BatchNorm2d(channels));
      body->push_back(Linear(options));
      blocks.push_back(Block(width));
      blocks.emplace_back(width);
      blocks.push_back(Block(std::make_shared<BlockImpl>(width)));
    }
    register_module("body", body);
  }
};

// A number before the element is a part of a pair, or a key.
struct History {
  std::vector<std::pair<int, Linear>> models;
  std::map<int, Linear> byStep;
  void keep(int step) {
    Linear copy(std::dynamic_pointer_cast<torch::nn::LinearImpl>(model->clone()));
    models.emplace_back(step, copy);
    byStep.emplace(step, copy);
    byStep.insert_or_assign(step + 1, copy);
  }
  Linear model{4, 2};
};
