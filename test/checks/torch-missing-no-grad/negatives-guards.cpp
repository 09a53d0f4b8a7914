// RUN: %check_torch %s torch-missing-no-grad %t
//
// A guard is in force, in whatever form.

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <thread>

using torch::Tensor;
using torch::nn::Linear;

float inFunction(Linear net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  net->eval();
  float sum = 0;
  for (const auto &x : xs)
    sum += net->forward(x).sum().item<float>();
  return sum;
}

// Between eval() and the forward, in a block, in the body of a loop.
void inBlock(Linear net, const std::vector<Tensor> &xs) {
  net->eval();
  {
    torch::NoGradGuard no_grad;
    std::cout << net->forward(xs[0]) << '\n';
  }
  for (const auto &x : xs) {
    torch::NoGradGuard no_grad;
    std::cout << net->forward(x) << '\n';
  }
}

// Declared in the batch loop after the step(): it ends with the iteration, so
// the training forward has its graph.
void afterStep(Linear net, torch::optim::SGD &opt,
               const std::vector<Tensor> &xs, Tensor y) {
  for (const auto &x : xs) {
    opt.zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    torch::NoGradGuard no_grad;
    net->eval();
    std::cout << net->forward(x).argmax(1).eq(y).sum() << '\n';
    net->train();
  }
}

void otherGuards(Linear net, Tensor x) {
  net->eval();
  {
    c10::InferenceMode inference;
    std::cout << net->forward(x) << '\n';
  }
  {
    torch::AutoGradMode mode(false);
    std::cout << net->forward(x) << '\n';
  }
  {
    // Below autograd nothing is recorded either.
    at::AutoDispatchBelowAutograd below;
    std::cout << net->forward(x) << '\n';
  }
  auto guard = std::make_unique<torch::NoGradGuard>();
  std::cout << net->forward(x) << '\n';
}

#define NO_GRAD() torch::NoGradGuard no_grad_guard

void byMacro(Linear net, Tensor x) {
  NO_GRAD();
  net->eval();
  std::cout << net->forward(x) << '\n';
}

// A user's type that holds the guard; one that derives from it; one that sets
// the mode itself.
struct Evaluation {
  explicit Evaluation(torch::nn::Module &m) : module(m) { module.eval(); }
  ~Evaluation() { module.train(); }
  torch::nn::Module &module;
  torch::NoGradGuard guard;
};
struct NamedGuard : torch::NoGradGuard {};
struct GradOff {
  GradOff() : before(torch::GradMode::is_enabled()) {
    torch::GradMode::set_enabled(false);
  }
  ~GradOff() { torch::GradMode::set_enabled(before); }
  bool before;
};

void byUserTypes(Linear net, Tensor x) {
  {
    Evaluation evaluation(*net);
    std::cout << net->forward(x) << '\n';
  }
  net->eval();
  {
    NamedGuard guard;
    std::cout << net->forward(x) << '\n';
  }
  GradOff off;
  std::cout << net->forward(x) << '\n';
}

// One function for both modes: the guard is conditional, and so is backward().
float runEpoch(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y,
               bool training) {
  std::optional<torch::NoGradGuard> guard;
  if (!training) {
    net->eval();
    guard.emplace();
  }
  auto loss = torch::mse_loss(net->forward(x), y);
  if (training) {
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  return loss.item<float>();
}

// The value of the mode is not known.
float modeByFlag(Linear net, Tensor x, bool training) {
  torch::AutoGradMode mode(training);
  net->train(training);
  return net->forward(x).sum().item<float>();
}

// In the thread that does the work.
void inThread(Linear net, Tensor x) {
  net->eval();
  std::thread worker([=]() mutable {
    torch::NoGradGuard no_grad;
    std::cout << net->forward(x) << '\n';
  });
  worker.join();
}
