// RUN: %check_torch %s torch-stale-graph %t
//
// What looks like it and is right, or cannot be known.

#include <torch/torch.h>

using torch::Tensor;
namespace nn = torch::nn;

struct NetImpl : nn::Module {
  NetImpl() {
    first = register_module("first", nn::Linear(4, 8));
    second = register_module("second", nn::Linear(8, 1));
  }
  Tensor forward(const Tensor &x) { return second(torch::relu(first(x))); }
  nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Net);

static void inOrder(const Tensor &x) {
  Net net;
  torch::optim::Adam adam(net->parameters(), 0.01);
  Tensor loss;
  for (int i = 0; i < 10; ++i) {
    loss = net(x).sum();
    adam.zero_grad();
    loss.backward();
    adam.step();
  }
  auto a = net(x).sum(), b = net(-x).mean();
  a.backward();
  b.backward();
  adam.step();
  auto after = net(x).sum();
  after.backward();
  adam.step();
}

// A generator and its critic: each step has a forward pass of its own.
static void adversaries(const Tensor &noise, const Tensor &real) {
  Net generator, critic;
  torch::optim::Adam generatorAdam(generator->parameters(), 0.01);
  torch::optim::Adam criticAdam(critic->parameters(), 0.01);
  for (int i = 0; i < 10; ++i) {
    auto fake = generator(noise).expand({-1, 4});
    criticAdam.zero_grad();
    auto criticLoss = critic(fake.detach()).mean() - critic(real).mean();
    criticLoss.backward();
    criticAdam.step();
    generatorAdam.zero_grad();
    auto generatorLoss = -critic(fake).mean();
    generatorLoss.backward();
    generatorAdam.step();
  }
}

// The gradient of the only layer does not need its weight.
static void oneLayer(const Tensor &x) {
  nn::Linear layer(4, 1);
  torch::optim::Adam adam(layer->parameters(), 0.01);
  auto a = layer(x).sum(), b = layer(-x).mean();
  a.backward();
  adam.step();
  b.backward();
}

// A first convolution keeps its weight, and computes nothing with it: with SGD
// the gradient is right.
static void firstConvolution(const Tensor &x) {
  nn::Conv2d layer(1, 1, 3);
  torch::optim::SGD sgd(layer->parameters(), 0.01);
  auto a = layer(x).sum(), b = layer(-x).mean();
  a.backward();
  sgd.step();
  b.backward();
}

static void otherWeights(const Tensor &x) {
  Net one, other;
  torch::optim::Adam adam(one->parameters(), 0.01);
  auto a = one(x).sum(), b = other(x).mean();
  a.backward();
  adam.step();
  b.backward();
}

static void withoutGraph(const Tensor &x) {
  Net net;
  torch::optim::Adam adam(net->parameters(), 0.01);
  auto w = torch::randn({1}, torch::requires_grad());
  auto target = net(x).detach();
  Tensor old;
  {
    torch::NoGradGuard no_grad;
    old = net(-x);
  }
  net(x).sum().backward();
  adam.step();
  ((target - old) * w).sum().backward();
}

// It throws, because the graph is freed.
static void twice(const Tensor &x) {
  Net net;
  torch::optim::Adam adam(net->parameters(), 0.01);
  auto loss = net(x).sum();
  loss.backward();
  adam.step();
  loss.backward();
}

// Whose weights the optimizer trains nobody knows here.
void unknown(torch::optim::Optimizer &optimizer, Net net,
             const Tensor &x) {
  auto a = net(x).sum(), b = net(-x).mean();
  a.backward();
  optimizer.step();
  b.backward();
}

int main() {
  const auto x = torch::randn({4, 4});
  inOrder(x);
  adversaries(x, x);
  oneLayer(x);
  firstConvolution(torch::randn({1, 1, 8, 8}));
  otherWeights(x);
  withoutGraph(x);
  twice(x);
}
