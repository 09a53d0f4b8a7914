// RUN: %check_torch %s torch-fill-alias %t

#include <torch/torch.h>

#include <algorithm>

using torch::Tensor;
using torch::nn::Linear;

void read(const Tensor &x);

// Written through one element, and seen in all.
void construct(const std::vector<Tensor> &xs) {
  std::vector<Tensor> sums(4, torch::zeros({8}));
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: all elements of 'sums' are handles to one tensor, so a write into one changes all; make one for each element in a loop, by 'torch::zeros({8})' [torch-fill-alias]
  for (size_t i = 0; i < xs.size(); ++i)
    sums[i % 4] += xs[i];
  read(torch::stack(sums));
}

void assign(const std::vector<Tensor> &xs) {
  std::vector<Tensor> sums;
  sums.assign(xs.size(), torch::zeros({8}));
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: all elements of 'sums' are handles to one tensor
  for (size_t i = 0; i < xs.size(); ++i)
    sums[i].add_(xs[i]);
  read(torch::stack(sums));
}

void resize(int64_t n) {
  std::vector<Tensor> rows;
  rows.resize(n, torch::empty({2}));
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: all elements of 'rows' are handles to one tensor
  for (int64_t i = 0; i < n; ++i)
    rows[i].fill_(i);
  read(torch::stack(rows));
}

void indexed(int64_t n) {
  auto rows = std::vector<Tensor>(n, torch::zeros({2}));
  // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: all elements of 'rows' are handles to one tensor
  for (int64_t i = 0; i < n; ++i)
    rows[i][0] = i;
  read(torch::stack(rows));
}

void algorithms(Tensor x) {
  std::vector<Tensor> a(4);
  std::fill(a.begin(), a.end(), torch::zeros({2}));
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: all elements of 'a' are handles to one tensor
  a[0].copy_(x);
  read(torch::stack(a));
  std::array<Tensor, 3> b;
  b.fill(torch::zeros({2}));
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: all elements of 'b' are handles to one tensor
  b[1].copy_(x);
  read(b[0]);
}

// By reference, and by a copy of the handle.
void ranges(const std::vector<Tensor> &xs) {
  std::vector<Tensor> sums(3, torch::zeros({8}));
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: all elements of 'sums' are handles to one tensor
  size_t i = 0;
  for (auto &sum : sums)
    sum += xs[i++];
  read(torch::stack(sums));
  std::vector<Tensor> others(3, torch::zeros({8}));
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: all elements of 'others' are handles to one tensor
  for (auto other : others)
    other += xs[i++];
  read(torch::stack(others));
}

// Made before the loop that adds it.
void pushed(const std::vector<Tensor> &xs) {
  std::vector<Tensor> sums;
  auto zero = torch::zeros({8});
  for (int i = 0; i < 4; ++i)
    sums.push_back(zero);
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: all elements of 'sums' are handles to one tensor
  for (size_t i = 0; i < xs.size(); ++i)
    sums[i % 4] += xs[i];
  read(torch::stack(sums));
}

// In a member, written by a method and by a helper.
void accumulate(Tensor &into, const Tensor &x) { into.add_(x); }

class Statistics {
public:
  explicit Statistics(int64_t classes) : sums_(classes, torch::zeros({8})) {}
  // CHECK-MESSAGES: :[[@LINE-1]]:57: warning: all elements of 'sums_' are handles to one tensor
  void add(int64_t label, const Tensor &x) { accumulate(sums_[label], x); }

private:
  std::vector<Tensor> sums_;
};

// Modules: one set of parameters.
struct Net : torch::nn::Module {
  std::vector<Linear> layers;
  Net() : layers(3, Linear(8, 8)) {
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: all elements of 'layers' are handles to one module, so they share its parameters; make one for each element in a loop
    for (size_t i = 0; i < layers.size(); ++i)
      register_module("layer" + std::to_string(i), layers[i]);
  }
  Tensor forward(Tensor x) {
    for (auto &layer : layers)
      x = torch::relu(layer(x));
    return x;
  }
};

struct Deep : torch::nn::Module {
  torch::nn::ModuleList blocks;
  Deep() {
    Linear block(8, 8);
    for (int i = 0; i < 4; ++i)
      blocks->push_back(block);
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: all elements of 'blocks' are handles to one module
    register_module("blocks", blocks);
  }
};

void agents() {
  std::vector<std::shared_ptr<Net>> all(4, std::make_shared<Net>());
  // CHECK-MESSAGES: :[[@LINE-1]]:44: warning: all elements of 'all' are handles to one module
  for (auto &agent : all)
    agent->to(torch::kCPU);
}

// Made with a value that has other uses: it is the module that is shared.
struct BlockImpl : torch::nn::Module {
  Linear inner{nullptr};
  explicit BlockImpl(int64_t width) {
    inner = register_module("inner", Linear(width, width));
  }
  Tensor forward(Tensor x) { return inner(x); }
};
TORCH_MODULE(Block);

struct Stacked : torch::nn::Module {
  std::vector<Block> blocks;
  torch::nn::Sequential body;
  Stacked(int64_t width, size_t depth) : blocks(depth, Block(width)) {
    // CHECK-MESSAGES: :[[@LINE-1]]:56: warning: all elements of 'blocks' are handles to one module
    Block each(width);
    for (size_t i = 0; i < depth; ++i)
      body->push_back(Block(each));
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: all elements of 'body' are handles to one module
    register_module("body", body);
    register_module("head", Linear(width, width));
  }
};
