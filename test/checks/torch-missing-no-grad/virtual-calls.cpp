// RUN: %check_torch %s torch-missing-no-grad %t
//
// Virtual calls run the overriders in the file, and interfaces of modules may
// have any parameters.

#include <torch/torch.h>

#include <future>

using torch::Tensor;
using torch::nn::Linear;

struct Metric {
  virtual ~Metric() = default;
  virtual double value(Tensor x) = 0;
};

struct Accuracy : Metric {
  Linear net{4, 4};
  double value(Tensor x) override {
    return net(x).argmax(1).sum().item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net'
  }
};

static double report(Metric &metric, const std::vector<Tensor> &xs) {
  double sum = 0;
  for (const Tensor &x : xs)
    sum += metric.value(x);
  return sum;
}

// The network is behind an interface: its parameters are not known.
struct Policy : torch::nn::Module {
  virtual Tensor forward(Tensor x) = 0;
};

double evaluate(std::shared_ptr<Policy> policy, const std::vector<Tensor> &xs) {
  policy->eval();
  double sum = 0;
  for (const Tensor &x : xs)
    sum += policy->forward(x).max().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'policy'
  return sum;
}

// A thread of its own has grad mode on, whatever the guard: of that
// torch-thread-local-guard speaks.
double elsewhere(Linear net, Tensor x) {
  torch::NoGradGuard guard;
  net->eval();
  auto result = std::async(std::launch::async, [&] {
    return net(x).max().item<double>();
  });
  return result.get();
}

std::shared_ptr<Policy> load();

int main() {
  std::cout << evaluate(load(), {torch::rand({2, 4})})
            << elsewhere(Linear(4, 4), torch::rand({2, 4}));
  Accuracy accuracy;
  return report(accuracy, {torch::rand({2, 4})}) > 1;
}
