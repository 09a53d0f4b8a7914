// RUN: %check_torch %s torch-retained-graph %t
//
// Under a guard, in whatever form, nothing has a graph.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
using torch::nn::Linear;

static void inFunction(Linear net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  std::vector<Tensor> outputs;
  for (const auto &x : xs)
    outputs.push_back(net->forward(x));
}

static void inBody(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> outputs;
  Tensor total = torch::zeros({});
  for (const auto &x : xs) {
    torch::NoGradGuard no_grad;
    auto output = net->forward(x);
    outputs.push_back(output);
    total += output.sum();
  }
}

static void otherModes(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> outputs;
  {
    c10::InferenceMode inference;
    for (const auto &x : xs)
      outputs.push_back(net->forward(x));
  }
  {
    torch::AutoGradMode disable(false);
    for (const auto &x : xs)
      outputs.push_back(net->forward(x));
  }
}

// Inside InferenceMode, switching the grad mode on records nothing either.
static void enabledInInference(Linear net, const std::vector<Tensor> &xs) {
  torch::InferenceMode inference;
  torch::AutoGradMode enable(true);
  std::vector<Tensor> outputs;
  for (const auto &x : xs)
    outputs.push_back(net->forward(x));
}

// The guard is the caller's, and it is the only caller.
static void fillGuarded(Linear net, const std::vector<Tensor> &xs,
                        std::vector<Tensor> &into) {
  for (const auto &x : xs)
    into.push_back(net->forward(x));
}

static void guardInCaller(Linear net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  std::vector<Tensor> outputs;
  fillGuarded(net, xs, outputs);
}

// A user's type that holds a guard.
class EvaluationScope {
public:
  explicit EvaluationScope(torch::nn::Module &module) : module(module) {
    module.eval();
  }
  ~EvaluationScope() { module.train(); }

private:
  torch::NoGradGuard guard;
  torch::nn::Module &module;
};

// A user's type that sets the mode itself.
struct GradOff {
  GradOff() : before(torch::GradMode::is_enabled()) {
    torch::GradMode::set_enabled(false);
  }
  ~GradOff() { torch::GradMode::set_enabled(before); }
  bool before;
};

static void userGuards(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> outputs;
  {
    EvaluationScope scope(*net);
    for (const auto &x : xs)
      outputs.push_back(net->forward(x));
  }
  GradOff off;
  for (const auto &x : xs)
    outputs.push_back(net->forward(x));
}

// A guard on the heap is in force as long as it lives.
static void heapGuard(Linear net, const std::vector<Tensor> &xs) {
  auto guard = std::make_unique<torch::NoGradGuard>();
  std::vector<Tensor> outputs;
  for (const auto &x : xs)
    outputs.push_back(net->forward(x));
}

#define NO_GRAD torch::NoGradGuard no_grad_guard

static void macroGuard(Linear net, const std::vector<Tensor> &xs) {
  NO_GRAD;
  std::vector<Tensor> outputs;
  for (const auto &x : xs)
    outputs.push_back(net->forward(x));
}

// The tensor was made under the guard and is stored after it.
static void madeUnderGuard(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> outputs;
  for (const auto &x : xs) {
    Tensor output;
    {
      torch::NoGradGuard no_grad;
      output = net->forward(x);
    }
    outputs.push_back(output);
  }
}

int main() {
  Linear net(8, 2);
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  inFunction(net, xs);
  inBody(net, xs);
  otherModes(net, xs);
  enabledInInference(net, xs);
  guardInCaller(net, xs);
  userGuards(net, xs);
  heapGuard(net, xs);
  macroGuard(net, xs);
  madeUnderGuard(net, xs);
}
