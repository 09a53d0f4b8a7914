// RUN: %check_torch %s torch-missing-zero-grad %t
//
// The clearing call is in another function, method, constructor or destructor.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::Optimizer;

static float trainStep(Linear &net, Optimizer &opt, Tensor x, Tensor y) {
  opt.zero_grad();
  auto loss = torch::mse_loss(net->forward(x), y);
  loss.backward();
  opt.step();
  return loss.item<float>();
}

void allInHelper(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i)
    trainStep(net, opt, x, y);
}

static void prepare(Optimizer *opt) { opt->zero_grad(); }
static void prepareTwice(std::shared_ptr<Optimizer> opt) { prepare(opt.get()); }

void twoCallsDeep(std::shared_ptr<Optimizer> opt, Linear net, Tensor x,
                  Tensor y) {
  for (int i = 0; i < 10; ++i) {
    prepareTwice(opt);
    torch::mse_loss(net->forward(x), y).backward();
    opt->step();
  }
}

static void clearModule(torch::nn::Module &module) { module.zero_grad(); }

void moduleInHelper(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    clearModule(*net);
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

// Cleared in one method, stepped in another, looped in a third.
class Trainer {
public:
  void fit(Tensor x, Tensor y) {
    for (int i = 0; i < 10; ++i) {
      backward(x, y);
      update();
    }
  }

private:
  void backward(Tensor x, Tensor y) {
    optimizer->zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
  }
  void update() { this->optimizer->step(); }
  Linear net{8, 2};
  std::unique_ptr<Optimizer> optimizer =
      std::make_unique<torch::optim::Adam>(net->parameters());
};

// The module trains itself with the optimizer it is given.
struct SelfTrainedImpl : torch::nn::Module {
  SelfTrainedImpl() { fc = register_module("fc", Linear(8, 2)); }
  float train_step(Optimizer &opt, Tensor x, Tensor y) {
    zero_grad(); // The module's own.
    auto loss = torch::mse_loss(fc->forward(x), y);
    loss.backward();
    opt.step();
    return loss.item<float>();
  }
  Linear fc{nullptr};
};
TORCH_MODULE(SelfTrained);

void selfTrained(SelfTrained net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i)
    net->train_step(opt, x, y);
}

// The destructor clears at the end of each iteration.
struct ClearOnExit {
  Optimizer &opt;
  ~ClearOnExit() { opt.zero_grad(); }
};

void scopeExit(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    ClearOnExit clear{opt};
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

// This user optimizer clears in its own step().
struct ClearingSGD : torch::optim::SGD {
  using SGD::SGD;
  Tensor step(LossClosure closure = nullptr) override {
    auto loss = torch::optim::SGD::step(closure);
    zero_grad();
    return loss;
  }
};

void clearingStep(Linear net, Tensor x, Tensor y) {
  ClearingSGD opt(net->parameters(), torch::optim::SGDOptions(0.1));
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

#define ZERO(o) (o).zero_grad()

void inMacro(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    ZERO(opt);
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}
