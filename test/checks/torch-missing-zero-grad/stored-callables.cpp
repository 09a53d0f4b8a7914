// RUN: %check_torch %s torch-missing-zero-grad %t
//
// Steps in lambdas and functions that are stored first and called later.

#include <torch/torch.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

using torch::Tensor;
using torch::nn::Linear;

// A member that a setter fills.
class Runner {
public:
  void onLoss(std::function<void(Tensor)> f) { hook = std::move(f); }
  void run(Linear net, int n) {
    for (int i = 0; i < n; ++i)
      hook(net(torch::rand({4, 4})).sum());
  }

private:
  std::function<void(Tensor)> hook;
};

void bySetter(int n) {
  Linear net(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  Runner runner;
  runner.onLoss([&](Tensor loss) {
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared
    // CHECK-FIXES: opt.zero_grad();
  });
  runner.run(net, n);
}

// A member that the constructor is given; a class template around it.
template <class T> struct Each {
  std::function<void(T)> action;
  explicit Each(std::function<void(T)> action) : action(std::move(action)) {}
  void all(const std::vector<T> &items) {
    for (const T &item : items)
      action(item);
  }
};

void byConstructor(const std::vector<Tensor> &xs) {
  Linear net(4, 4);
  torch::optim::Adam adam(net->parameters());
  Each<Tensor> each([&](Tensor x) {
    net(x).sum().backward();
    adam.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'adam' are not cleared
    // CHECK-FIXES: adam.zero_grad();
  });
  each.all(xs);
}

// A table of actions by name.
void byName(const std::vector<Tensor> &xs) {
  Linear net(4, 4);
  torch::optim::SGD sgd(net->parameters(), 0.1);
  std::map<std::string, std::function<void(const Tensor &)>> actions;
  actions["train"] = [&](const Tensor &x) {
    net(x).sum().backward();
    sgd.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'sgd' are not cleared
    // CHECK-FIXES: sgd.zero_grad();
  };
  for (const Tensor &x : xs)
    actions["train"](x);
}

// A pointer to a function, which is assigned.
static void stepOnce(Linear &net, torch::optim::Optimizer &opt) {
  net(torch::rand({4, 4})).sum().backward();
  opt.step();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients of 'opt' are not cleared
  // CHECK-FIXES: opt.zero_grad();
}

void byPointer(int n) {
  Linear net(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  void (*update)(Linear &, torch::optim::Optimizer &) = nullptr;
  update = stepOnce;
  for (int i = 0; i < n; ++i)
    update(net, opt);
}

// std::bind of a method.
struct Learner {
  Linear net{4, 4};
  torch::optim::SGD opt{net->parameters(), 0.1};
  void learn(Tensor x) {
    net(x).sum().backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared
    // CHECK-FIXES: opt.zero_grad();
  }
};

void bound(const std::vector<Tensor> &xs) {
  Learner learner;
  std::function<void(Tensor)> learn =
      std::bind(&Learner::learn, &learner, std::placeholders::_1);
  for (const Tensor &x : xs)
    learn(x);
}

// A list of names and functions, gone through by what its pairs consist of.
static void fitOnce(Linear &net, torch::optim::Optimizer &opt) {
  net(torch::rand({4, 4})).sum().backward();
  opt.step();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients of 'opt' are not cleared
  // CHECK-FIXES: opt.zero_grad();
}

void byPair(const std::string &wanted, int n) {
  Linear net(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  const std::vector<std::pair<std::string, void (*)(Linear &, torch::optim::Optimizer &)>>
      stages = {{"fit", fitOnce}};
  for (int i = 0; i < n; ++i)
    for (const auto &stage : stages)
      if (stage.first == wanted)
        stage.second(net, opt);
}

static void fitAgain(Linear &net, torch::optim::Optimizer &opt) {
  net(torch::rand({4, 4})).sum().backward();
  opt.step();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients of 'opt' are not cleared
  // CHECK-FIXES: opt.zero_grad();
}

void byBinding(int n) {
  Linear net(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::map<std::string, std::function<void(Linear &, torch::optim::Optimizer &)>> stages;
  stages["again"] = fitAgain;
  for (int i = 0; i < n; ++i)
    for (auto &[name, run] : stages)
      run(net, opt);
}

// Of a structure of the user's.
static void fitOften(Linear &net, torch::optim::Optimizer &opt) {
  net(torch::rand({4, 4})).sum().backward();
  opt.step();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients of 'opt' are not cleared
  // CHECK-FIXES: opt.zero_grad();
}

struct Stage {
  const char *name;
  void (*run)(Linear &, torch::optim::Optimizer &);
};

void byStructure(int n) {
  Linear net(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  const Stage stages[] = {{"often", fitOften}};
  for (int i = 0; i < n; ++i)
    for (const auto &[name, run] : stages)
      run(net, opt);
}
