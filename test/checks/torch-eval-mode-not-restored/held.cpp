// RUN: %check_torch %s torch-eval-mode-not-restored %t
//
// What depends on the mode is in a Sequential that is a member of a structure,
// and was put there elsewhere.

#include <torch/torch.h>

using torch::Tensor;
namespace nn = torch::nn;

struct Parts {
  nn::Sequential body{nullptr};
  nn::Linear head{nullptr};
};
struct PlainParts {
  nn::Sequential stack{nullptr};
};

static Parts build(int64_t width) {
  Parts parts;
  parts.body = nn::Sequential(nn::Linear(8, width), nn::BatchNorm1d(width), nn::Tanh());
  parts.head = nn::Linear(width, 1);
  return parts;
}
static PlainParts buildPlain() {
  PlainParts parts;
  parts.stack = nn::Sequential(nn::Linear(8, 4), nn::GELU(), nn::Linear(4, 1));
  return parts;
}

static double test(Parts &parts, const std::vector<Tensor> &xs) {
  torch::NoGradGuard guard;
  parts.body->eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'parts.body' is still in eval mode when the loop trains it again: its BatchNorm1d works as in evaluation from then on; call 'parts.body->train()'
  double sum = 0;
  for (const Tensor &x : xs)
    sum += parts.head->forward(parts.body->forward(x)).mean().item<double>();
  return sum;
}
static double testPlain(PlainParts &parts, const std::vector<Tensor> &xs) {
  torch::NoGradGuard guard;
  parts.stack->eval();
  double sum = 0;
  for (const Tensor &x : xs)
    sum += parts.stack->forward(x).mean().item<double>();
  return sum;
}
static double restores(Parts &parts, const std::vector<Tensor> &xs) {
  const double result = test(parts, xs);
  parts.body->train();
  return result;
}

void train(const std::vector<Tensor> &xs, const std::vector<Tensor> &held) {
  Parts parts = build(16);
  torch::optim::SGD sgd(parts.body->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      sgd.zero_grad();
      parts.head->forward(parts.body->forward(x)).square().mean().backward();
      sgd.step();
    }
    std::cout << test(parts, held) << '\n';
  }
}
void trainRestored(const std::vector<Tensor> &xs, const std::vector<Tensor> &held) {
  Parts parts = build(16);
  torch::optim::SGD sgd(parts.body->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      sgd.zero_grad();
      parts.head->forward(parts.body->forward(x)).square().mean().backward();
      sgd.step();
    }
    std::cout << restores(parts, held) << '\n';
  }
}
void trainPlain(const std::vector<Tensor> &xs, const std::vector<Tensor> &held) {
  PlainParts parts = buildPlain();
  torch::optim::SGD sgd(parts.stack->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      sgd.zero_grad();
      parts.stack->forward(x).square().mean().backward();
      sgd.step();
    }
    std::cout << testPlain(parts, held) << '\n';
  }
}

// Told where the mode is said.
static void setMode(Parts &of, bool learns) {
  of.body->train(learns);
  of.head->train(learns);
}
void trainByFlag(const std::vector<Tensor> &xs, const std::vector<Tensor> &held) {
  Parts parts = build(16);
  torch::optim::SGD sgd(parts.body->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      sgd.zero_grad();
      parts.head->forward(parts.body->forward(x)).square().mean().backward();
      sgd.step();
    }
    torch::NoGradGuard guard;
    setMode(parts, false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'of.body' is still in eval mode when the loop trains it again: its BatchNorm1d works as in evaluation from then on; set it to train mode before the next training pass
    for (const Tensor &x : held)
      std::cout << parts.head->forward(parts.body->forward(x)).mean();
  }
}
void trainByFlagRestored(const std::vector<Tensor> &xs, const std::vector<Tensor> &held) {
  Parts parts = build(16);
  torch::optim::SGD sgd(parts.body->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    setMode(parts, true);
    for (const Tensor &x : xs) {
      sgd.zero_grad();
      parts.head->forward(parts.body->forward(x)).square().mean().backward();
      sgd.step();
    }
    torch::NoGradGuard guard;
    setMode(parts, false);
    for (const Tensor &x : held)
      std::cout << parts.head->forward(parts.body->forward(x)).mean();
  }
}
