// RUN: %check_torch %s torch-missing-zero-grad %t
//
// Which gradients a call clears: several optimizers, other modules, user
// optimizers, optimizers over tensors.

#include <torch/torch.h>

#include <map>
#include <memory>

using torch::Tensor;
using torch::nn::Linear;

void oneOfTwoCleared(Linear generator, Linear critic, Tensor real,
                     Tensor noise) {
  torch::optim::Adam optG(generator->parameters());
  torch::optim::Adam optD(critic->parameters());
  for (int i = 0; i < 10; ++i) {
    optD.zero_grad();
    auto fake = generator->forward(noise).detach();
    auto lossD = critic->forward(fake).mean() - critic->forward(real).mean();
    lossD.backward();
    optD.step();

    // The generator's own gradients are never cleared.
    auto lossG = -critic->forward(generator->forward(noise)).mean();
    lossG.backward();
    optG.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'optG' are not cleared between iterations
  }
}

void otherModuleCleared(Tensor x, Tensor y) {
  Linear student(8, 2), teacher(8, 2);
  torch::optim::SGD opt(student->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    teacher->zero_grad(); // Not the module that is trained.
    torch::mse_loss(student->forward(x), teacher->forward(x)).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

void schedulerDoesNotClear(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  torch::optim::StepLR scheduler(opt, 30, 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
    scheduler.step();
  }
}

// An optimizer over the pixels of an image.
void overAnImage(Linear net, Tensor content, Tensor target) {
  auto image = content.clone().set_requires_grad(true);
  torch::optim::Adam opt({image}, torch::optim::AdamOptions(0.01));
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(image), target).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

// Clipping scales the gradients down, it does not clear them.
void clipped(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

// zero_() on the loss or on the parameters is not zero_() on the gradients.
void zeroOfSomethingElse(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  auto total = torch::zeros({1});
  for (int i = 0; i < 10; ++i) {
    total.zero_();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

void inAMap(Linear net, Tensor x, Tensor y) {
  std::map<std::string, std::unique_ptr<torch::optim::Optimizer>> optimizers;
  optimizers["net"] =
      std::make_unique<torch::optim::SGD>(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    optimizers.at("net")->step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of '{{.*}}' are not cleared between iterations
  }
}

// A user's optimizer is an optimizer.
struct Lion : torch::optim::Optimizer {
  explicit Lion(std::vector<Tensor> params)
      : Optimizer(std::move(params),
                  std::make_unique<torch::optim::SGDOptions>(1e-4)) {}
  Tensor step(LossClosure closure = nullptr) override {
    torch::NoGradGuard no_grad;
    for (auto &group : param_groups())
      for (auto &p : group.params())
        if (p.grad().defined())
          p.add_(p.grad().sign(), -1e-4);
    return {};
  }
};

void userOptimizer(Linear net, Tensor x, Tensor y) {
  Lion lion(net->parameters());
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    lion.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'lion' are not cleared between iterations
  }
}
