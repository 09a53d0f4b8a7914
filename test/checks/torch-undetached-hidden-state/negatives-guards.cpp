// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// Nothing is recorded: under a guard of whatever form, or with frozen weights.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
using torch::nn::GRU;
using torch::nn::GRUCell;
using torch::nn::LSTM;
using torch::nn::LSTMCell;

static void inFunction(GRUCell cell, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = cell->forward(x, h);
}

static void inBody(LSTMCell cell, const std::vector<Tensor> &xs) {
  auto state = std::make_tuple(torch::zeros({4, 8}), torch::zeros({4, 8}));
  for (const auto &x : xs) {
    torch::NoGradGuard no_grad;
    state = cell->forward(x, state);
  }
}

static void otherModes(GRUCell cell, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({4, 8});
  {
    c10::InferenceMode inference;
    auto g = torch::zeros({4, 8});
    for (const auto &x : xs)
      g = cell->forward(x, g);
  }
  torch::AutoGradMode disable(false);
  for (const auto &x : xs)
    h = cell->forward(x, h);
}

// The guard is the caller's, and it is the only caller.
static Tensor encode(GRUCell cell, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = cell->forward(x, h);
  return h;
}

static void guardInCaller(GRUCell cell, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  std::cout << encode(cell, xs).sizes() << '\n';
}

// A user's type that holds a guard, and one that sets the mode itself.
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

struct GradOff {
  GradOff() : before(torch::GradMode::is_enabled()) {
    torch::GradMode::set_enabled(false);
  }
  ~GradOff() { torch::GradMode::set_enabled(before); }
  bool before;
};

static void userGuards(GRUCell cell, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({4, 8});
  {
    EvaluationScope scope(*cell);
    for (const auto &x : xs)
      h = cell->forward(x, h);
  }
  GradOff off;
  for (const auto &x : xs)
    h = cell->forward(x, h);
}

#define NO_GRAD torch::NoGradGuard no_grad_guard

static void macroGuard(GRU layer, const std::vector<Tensor> &xs) {
  NO_GRAD;
  Tensor output, state;
  for (const auto &x : xs)
    std::tie(output, state) = layer->forward(x.unsqueeze(0), state);
}

// An agent whose method has the guard.
class Agent {
public:
  int64_t act(const Tensor &observation) {
    torch::NoGradGuard no_grad;
    h_ = cell_->forward(observation, h_);
    return h_.sum(0).argmax().item<int64_t>();
  }

private:
  GRUCell cell_{8, 8};
  Tensor h_ = torch::zeros({4, 8});
};

static void play(const std::vector<Tensor> &observations) {
  Agent agent;
  for (const auto &observation : observations)
    std::cout << agent.act(observation) << '\n';
}

// The state is warmed up under a guard, then each batch begins with it.
static void warmedUp(GRUCell cell, torch::optim::SGD &opt,
                     const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  {
    torch::NoGradGuard no_grad;
    for (const auto &x : xs)
      h = cell->forward(x, h);
  }
  for (const auto &x : xs) {
    opt.zero_grad();
    torch::mse_loss(cell->forward(x, h), y).backward();
    opt.step();
  }
}

// All weights are frozen, and the inputs need no gradient.
static void frozen(const std::vector<Tensor> &xs) {
  GRUCell cell(8, 8);
  for (auto &p : cell->parameters())
    p.requires_grad_(false);
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = cell->forward(x, h);
  std::cout << h.sizes() << '\n';
}

// A frozen encoder below a head that is trained.
static void frozenBelowHead(torch::nn::Linear head, torch::optim::SGD &opt,
                            const std::vector<Tensor> &xs, Tensor y) {
  LSTM encoder(8, 8);
  for (auto &p : encoder->parameters())
    p.set_requires_grad(false);
  Tensor output;
  std::tuple<Tensor, Tensor> state{torch::zeros({1, 4, 8}),
                                   torch::zeros({1, 4, 8})};
  for (const auto &x : xs) {
    std::tie(output, state) = encoder->forward(x.unsqueeze(0), state);
    opt.zero_grad();
    torch::mse_loss(head->forward(output), y.unsqueeze(0)).backward();
    opt.step();
  }
}

// Without a guard, but the state is detached.
static void detachedStream(GRUCell cell, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h).detach();
    std::cout << h.mean().item<float>() << '\n';
  }
}

// All callers are known, so that it is the guards that keep the check quiet.
int main() {
  GRUCell gruCell(8, 8);
  LSTMCell lstmCell(8, 8);
  GRU gru(8, 8);
  torch::nn::Linear head(8, 8);
  torch::optim::SGD headOpt(head->parameters(), 0.1);
  torch::optim::SGD opt(gruCell->parameters(), 0.1);
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  const auto y = torch::rand({4, 8});
  inFunction(gruCell, xs);
  inBody(lstmCell, xs);
  otherModes(gruCell, xs);
  guardInCaller(gruCell, xs);
  userGuards(gruCell, xs);
  macroGuard(gru, xs);
  play(xs);
  warmedUp(gruCell, opt, xs, y);
  frozen(xs);
  frozenBelowHead(head, headOpt, xs, y);
  detachedStream(gruCell, xs);
}
