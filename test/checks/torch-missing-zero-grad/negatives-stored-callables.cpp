// RUN: %check_torch %s torch-missing-zero-grad %t
//
// Stored callables that clear, by themselves or together.

#include <torch/torch.h>

#include <functional>
#include <utility>
#include <vector>

using torch::Tensor;
using torch::nn::Linear;

// One hook steps, the next clears: all of them run.
struct Hooks {
  std::vector<std::function<void(Tensor)>> hooks;
  void run(Linear net, int n) {
    for (int i = 0; i < n; ++i)
      for (auto &hook : hooks)
        hook(net(torch::rand({4, 4})).sum());
  }
};

void inTurn(int n) {
  Linear net(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  Hooks all;
  all.hooks.push_back([&](Tensor loss) {
    loss.backward();
    opt.step();
  });
  all.hooks.push_back([&](Tensor) { opt.zero_grad(); });
  all.run(net, n);
}

// Two objects of a class have each their own.
struct Loop {
  std::function<void(Tensor)> before, step;
  void run(int n) {
    for (int i = 0; i < n; ++i) {
      before(torch::rand({4, 4}));
      step(torch::rand({4, 4}));
    }
  }
};

void ownHooks(int n) {
  Linear a(4, 4), b(4, 4);
  torch::optim::SGD oa(a->parameters(), 0.1), ob(b->parameters(), 0.1);
  Loop one, two;
  one.before = [&](Tensor) { oa.zero_grad(); };
  one.step = [&](Tensor x) {
    a(x).sum().backward();
    oa.step();
  };
  two.before = [&](Tensor) { ob.zero_grad(); };
  two.step = [&](Tensor x) {
    b(x).sum().backward();
    ob.step();
  };
  one.run(n);
  two.run(n);
}

// The member is replaced by what clears as well.
static void clearing(Linear &net, torch::optim::Optimizer &opt) {
  opt.zero_grad();
  net(torch::rand({4, 4})).sum().backward();
  opt.step();
}

struct Task {
  void (*update)(Linear &, torch::optim::Optimizer &) = clearing;
};

void byDefault(int n) {
  Linear net(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  Task task;
  for (int i = 0; i < n; ++i)
    task.update(net, opt);
}

// Nothing in the file is ever stored there.
struct Unknown {
  std::function<void(Tensor)> hook;
};

void unknown(Unknown &hooks, Linear net, int n) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < n; ++i) {
    net(torch::rand({4, 4})).sum().backward();
    opt.step();
    opt.zero_grad();
    hooks.hook(torch::rand({4, 4}));
  }
}

// The stage before clears, and both are run in turn.
static void clearStage(Linear &, torch::optim::Optimizer &opt) { opt.zero_grad(); }
static void fitStage(Linear &net, torch::optim::Optimizer &opt) {
  net(torch::rand({4, 4})).sum().backward();
  opt.step();
}

void inPairs(int n) {
  Linear net(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  const std::vector<std::pair<int, void (*)(Linear &, torch::optim::Optimizer &)>> stages = {
      {0, clearStage}, {1, fitStage}};
  for (int i = 0; i < n; ++i)
    for (const auto &[order, run] : stages)
      run(net, opt);
}

// Pairs that come from elsewhere.
void givenPairs(const std::vector<std::pair<int, void (*)(Linear &)>> &stages, Linear net, int n) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < n; ++i) {
    net(torch::rand({4, 4})).sum().backward();
    opt.step();
    opt.zero_grad();
    for (const auto &[order, run] : stages)
      run(net);
  }
}
