// RUN: %check_torch %s torch-missing-zero-grad %t
//
// The optimizer is a member of a trainer; the loop is in the method, in its
// caller, or in another class.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(8, 2)); }
  Tensor forward(Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

// The loop is in the caller, the step in the method.
class StepTrainer {
public:
  StepTrainer() : optimizer_(net_->parameters(), 0.1) {}

  float step(const Tensor &x, const Tensor &y) {
    auto loss = torch::mse_loss(net_->forward(x), y);
    loss.backward();
    optimizer_.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'optimizer_' are not cleared between iterations
    return loss.item<float>();
  }

private:
  Net net_;
  torch::optim::SGD optimizer_;
};

void loopInCaller(Tensor x, Tensor y) {
  StepTrainer trainer;
  for (int i = 0; i < 10; ++i)
    trainer.step(x, y);
}

// The loop is in the class, split over three methods.
class SplitTrainer {
public:
  void fit(Tensor x, Tensor y) {
    for (int epoch = 0; epoch < 10; ++epoch) {
      computeGradients(x, y);
      applyGradients();
    }
  }

private:
  void computeGradients(Tensor x, Tensor y) {
    loss_ = torch::mse_loss(net_->forward(x), y);
    loss_.backward();
  }
  void applyGradients() { this->opt_->step(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: gradients of '{{.*}}opt_' are not cleared between iterations

  Net net_;
  Tensor loss_;
  std::unique_ptr<torch::optim::Optimizer> opt_ =
      std::make_unique<torch::optim::Adam>(net_->parameters(), 1e-3);
};

void useSplit(Tensor x, Tensor y) { SplitTrainer().fit(x, y); }

// The optimizer belongs to the base class.
struct TrainerBase {
  virtual ~TrainerBase() = default;
  Net net;
  std::shared_ptr<torch::optim::SGD> opt =
      std::make_shared<torch::optim::SGD>(net->parameters(), 0.1);
};

struct Regression : TrainerBase {
  void run(Tensor x, Tensor y) {
    for (int i = 0; i < 10; ++i) {
      torch::mse_loss(net->forward(x), y).backward();
      opt->step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'opt' are not cleared between iterations
    }
  }
};

// A plain struct passed by pointer.
struct Context {
  Net net;
  torch::optim::SGD opt{net->parameters(), 0.1};
};

void useContext(Context *ctx, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(ctx->net->forward(x), y).backward();
    ctx->opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of '{{.*}}opt' are not cleared between iterations
  }
}

// An optimizer at namespace scope.
static Net globalNet;
static torch::optim::SGD globalOpt(globalNet->parameters(), 0.1);

int main() {
  auto x = torch::rand({4, 8}), y = torch::rand({4, 2});
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(globalNet->forward(x), y).backward();
    globalOpt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'globalOpt' are not cleared between iterations
  }
}
