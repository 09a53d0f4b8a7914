// RUN: %check_torch %s torch-missing-no-grad %t
//
// The guard is around a virtual call, or around what is run later in the same
// thread.

#include <torch/torch.h>

#include <future>

using torch::Tensor;
using torch::nn::Linear;

struct Metric {
  virtual ~Metric() = default;
  virtual double value(Tensor x) = 0;
  // Calls what a class below has.
  double twice(Tensor x) { return 2 * value(x); }
};

struct Loss : Metric {
  Linear net{4, 4};
  double value(Tensor x) override { return net(x).sum().item<double>(); }
};

struct Score : Loss {
  Linear head{4, 1};
  double value(Tensor x) override { return head(x).max().item<double>(); }
};

static double guarded(Metric *metric, Tensor x) {
  torch::NoGradGuard guard;
  return metric->value(x) + metric->twice(x);
}

// Only Loss runs with grad mode on, and is trained.
static void train(Loss &loss, Tensor x) {
  torch::optim::SGD opt(loss.net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    loss.net(x).sum().backward();
    opt.step();
  }
}

// What is deferred runs in get().
static double deferred(Linear net, Tensor x) {
  torch::NoGradGuard guard;
  net->eval();
  auto result = std::async(std::launch::deferred,
                           [&] { return net(x).max().item<double>(); });
  return result.get();
}

// A loss behind an interface, trained through.
struct Objective : torch::nn::Module {
  virtual Tensor forward(Tensor x) = 0;
};

static void minimize(Objective &objective, Linear &net, Tensor x) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    objective.forward(net(x)).backward();
    opt.step();
  }
}

struct Square : Objective {
  Tensor forward(Tensor x) override { return x.pow(2).sum(); }
};

int main() {
  Loss loss;
  Score score;
  Square square;
  const Tensor x = torch::rand({2, 4});
  train(loss, x);
  Linear net(4, 4);
  minimize(square, net, x);
  return guarded(&loss, x) + guarded(&score, x) + deferred(net, x) > 1;
}
