// RUN: %check_torch %s torch-optimizer-in-loop %t
//
// Parameters that a function of the user's collects, of what is handed on by reference.

#include <torch/torch.h>

#include <algorithm>
#include <random>
#include <vector>

using torch::Tensor;
using torch::nn::Linear;

struct Chain {
  Linear front{4, 8};
  Linear back{8, 1};
  bool isFrontFixed = false;
  std::mt19937 rng;

  std::vector<Tensor> trained() {
    std::vector<Tensor> all;
    if (!isFrontFixed) {
      all.push_back(front->weight);
      all.push_back(front->bias);
    }
    for (auto &item : back->named_parameters())
      all.push_back(item.value());
    return all;
  }
  std::vector<Tensor> drawn() {
    auto all = front->parameters();
    std::shuffle(all.begin(), all.end(), rng);
    all.pop_back();
    return all;
  }
  std::vector<Tensor> fresh() {
    std::vector<Tensor> all;
    for (auto &p : front->parameters())
      all.push_back(p.detach().clone().requires_grad_());
    return all;
  }
  Tensor run(const Tensor &x) { return back->forward(torch::relu(front->forward(x))); }
};

static void oneStep(Chain &chain, const Tensor &x) {
  torch::optim::RMSprop optimizer(chain.trained(), 1e-3);
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'optimizer' is constructed anew in every iteration
  auto loss = chain.run(x).square().mean();
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
}

static void handOn(Chain &chain, const Tensor &x) { oneStep(chain, x); }

void fit(Chain &chain, int n) {
  for (int i = 0; i < n; ++i)
    handOn(chain, torch::rand({16, 4}));
}

// Others in each iteration, as the chain says.
void alternate(Chain &chain, int n) {
  for (int i = 0; i < n; ++i) {
    chain.isFrontFixed = i % 2 == 1;
    torch::optim::RMSprop optimizer(chain.trained(), 1e-3);
    auto loss = chain.run(torch::rand({16, 4})).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

// Drawn anew.
void some(Chain &chain, int n) {
  for (int i = 0; i < n; ++i) {
    torch::optim::Adam optimizer(chain.drawn(), 1e-3);
    auto loss = chain.run(torch::rand({16, 4})).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

// Copies of each iteration.
void adapt(Chain &chain, int n) {
  for (int i = 0; i < n; ++i) {
    auto weights = chain.fresh();
    torch::optim::Adam optimizer(weights, 1e-3);
    auto loss = torch::linear(torch::rand({16, 4}), weights[0], weights[1]).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

// The function gives its chain other layers.
static void grow(Chain &chain, const Tensor &x) {
  chain = Chain();
  torch::optim::Adam optimizer(chain.trained(), 1e-3);
  auto loss = chain.run(x).square().mean();
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
}
static void renew(Chain &chain) { chain.back = Linear(8, 1); }
static void regrow(Chain &chain, const Tensor &x) {
  renew(chain);
  torch::optim::Adam optimizer(chain.trained(), 1e-3);
  auto loss = chain.run(x).square().mean();
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
}

void restarts(Chain &chain, int n) {
  for (int i = 0; i < n; ++i)
    grow(chain, torch::rand({16, 4}));
  for (int i = 0; i < n; ++i)
    regrow(chain, torch::rand({16, 4}));
}
