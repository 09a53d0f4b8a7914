// RUN: %check_torch %s torch-grad-mode-not-restored %t
//
// A function evaluates with grad mode off and leaves it so; whether it is called
// is decided, and the training comes all the same.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

struct Options {
  bool baseline = false, sweeps = false, trains = true, frozen = false;
  int rounds = 4;
};

static void learn(Linear &net, SGD &opt, const Tensors &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->forward(x).square().mean().backward();
    opt.step();
  }
}

static double level(Linear &net, const Tensors &xs) {
  at::GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: grad mode is switched off here, and is still off when the next training pass runs
  double sum = 0;
  for (const Tensor &x : xs)
    sum += net->forward(x).mean().item<double>();
  return sum;
}
static double scan(Linear &net, const Tensors &xs) {
  torch::GradMode::set_enabled(false);
  return net->forward(xs.front()).std().item<double>();
}
// In the loop, and a function further in.
static Tensor histogram(Linear &net, const Tensors &xs) {
  torch::GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: grad mode is switched off here, and is still off when the next training pass runs
  return torch::histc(net->forward(xs.front()));
}
static void report(Linear &net, const Tensors &xs) { std::cout << histogram(net, xs) << '\n'; }
// Only this: whoever calls it wants grad mode to be off.
static void silence() { torch::GradMode::set_enabled(false); }
// The condition is its own.
static double perhaps(Linear &net, const Tensors &xs, bool frozen) {
  if (frozen)
    torch::GradMode::set_enabled(false);
  return net->forward(xs.front()).std().item<double>();
}

void before(const Options &options, const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  if (options.baseline)
    std::cout << level(net, xs) << '\n';
  for (int round = 0; round < options.rounds; ++round)
    learn(net, opt, xs);
}
void between(const Options &options, const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int round = 0; round < options.rounds; ++round) {
    learn(net, opt, xs);
    if (options.sweeps && !xs.empty())
      report(net, xs);
  }
}

// Nothing is trained then.
void leaves(const Options &options, const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  if (options.baseline)
    std::cout << scan(net, xs) << '\n';
  if (!options.trains)
    return;
  learn(net, opt, xs);
}
void excludes(const Options &options, const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  if (options.baseline)
    std::cout << scan(net, xs) << '\n';
  if (!options.baseline)
    learn(net, opt, xs);
}
void onlyOff(const Options &options, const Tensors &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  if (options.frozen)
    silence();
  std::cout << perhaps(net, xs, options.frozen);
  learn(net, opt, xs);
}
