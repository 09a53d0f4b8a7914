// RUN: %check_torch %s torch-missing-no-grad %t
//
// The forward is in a helper, a method or a lambda, and its callers, which are
// all known, show that it is evaluation.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

// Internal linkage, one caller, which sets the mode.
static Tensor predict(Linear &net, const Tensor &x) {
  return net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
}

void evaluate(Linear net, const std::vector<Tensor> &xs) {
  net->eval();
  for (const auto &x : xs)
    std::cout << predict(net, x).argmax() << '\n';
}

// The same in an anonymous namespace, two calls deep.
namespace {
Tensor inner(Linear net, Tensor x) {
  return torch::softmax(net->forward(x), 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
}
Tensor outer(Linear net, Tensor x) { return inner(net, x.unsqueeze(0)); }
} // namespace

void printsAnswer(Linear net, Tensor x) {
  net->eval();
  std::cout << outer(net, x) << '\n';
}

// The loss is computed in a helper, and read only.
static Tensor lossOf(Linear net, Tensor x, Tensor y) {
  auto output = net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  return torch::mse_loss(output, y);
}

double validate(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  net->eval();
  double sum = 0;
  for (const auto &x : xs)
    sum += lossOf(net, x, y).item<double>();
  net->train();
  return sum;
}

// The mode is switched by a helper.
static void toEvaluation(torch::nn::Module &module) { module.eval(); }

void modeInHelper(Linear net, Tensor x) {
  toEvaluation(*net);
  auto y = net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  std::cout << y.argmax() << '\n';
}

void lambda(Linear net, const std::vector<Tensor> &xs) {
  net->eval();
  auto answer = [&](const Tensor &x) {
    return net->forward(x).argmax().item<int64_t>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  };
  for (const auto &x : xs)
    std::cout << answer(x) << '\n';
}

// Model and method in one class; eval() in the same method.
class Classifier {
public:
  float test(const std::vector<Tensor> &xs, Tensor y) {
    net->eval();
    float sum = 0;
    for (const auto &x : xs)
      sum += torch::mse_loss(this->net->forward(x), y).item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: forward pass of '{{.*}}net' keeps all intermediate results for a backward() that never comes
    return sum;
  }

private:
  Linear net{8, 2};
};

float callsTest(Classifier &c, Tensor x, Tensor y) { return c.test({x}, y); }

// A struct with its models, passed by reference.
struct Models {
  Linear encoder{8, 2};
};

void encode(Models &models, Tensor x) {
  models.encoder->eval();
  auto code = models.encoder->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: forward pass of '{{.*}}encoder' keeps all intermediate results for a backward() that never comes
  std::cout << code << '\n';
}

// One of two callers has no guard.
static int64_t label(Linear net, Tensor x) {
  return net->forward(x).argmax().item<int64_t>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
}

void guarded(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  std::cout << label(net, x) << '\n';
}

void unguarded(Linear net, Tensor x) {
  net->eval();
  std::cout << label(net, x) << '\n';
}
