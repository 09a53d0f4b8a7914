// RUN: %check_torch %s torch-optimizer-in-loop %t -still-warns
//
// The mistake in its shapes. What can be fixed is in fixits.cpp.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::SGDOptions;

template <class Optimizer> void fit(Optimizer &optimizer, Linear &net, Tensor x) {
  optimizer.zero_grad();
  net->forward(x).sum().backward();
  optimizer.step();
}

// In a helper that the loop calls.
void trainStep(Linear &net, Tensor x) {
  Adam adam(net->parameters(), AdamOptions(1e-3));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'adam' is constructed anew in every iteration: this Adam forgets its state before every step(); construct it once before the loop [torch-optimizer-in-loop]
  fit(adam, net, x);
}
void byHelper(const std::vector<Tensor> &xs) {
  Linear net(2, 2);
  for (const Tensor &x : xs)
    trainStep(net, x);
}

// A member that is made again.
struct Trainer {
  Linear net{2, 2};
  std::unique_ptr<Adam> optimizer;
  void train(const std::vector<Tensor> &xs) {
    for (const Tensor &x : xs) {
      optimizer = std::make_unique<Adam>(net->parameters(), AdamOptions(1e-3));
      // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'optimizer' is constructed anew in every iteration: this Adam
      fit(*optimizer, net, x);
    }
  }
};

// A variable from before the loop.
void assigned(const std::vector<Tensor> &xs) {
  Linear net(2, 2);
  std::shared_ptr<torch::optim::RMSprop> optimizer;
  for (const Tensor &x : xs) {
    optimizer = std::make_shared<torch::optim::RMSprop>(net->parameters());
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'optimizer' is constructed anew in every iteration: this RMSprop
    fit(*optimizer, net, x);
  }
}

void byReset(const std::vector<Tensor> &xs) {
  Linear net(2, 2);
  std::unique_ptr<Adam> optimizer;
  for (const Tensor &x : xs) {
    optimizer.reset(new Adam(net->parameters(), 1e-3));
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'optimizer' is constructed anew in every iteration
    fit(*optimizer, net, x);
  }
}

// A template.
template <class Optimizer> void trainWith(Linear net, const std::vector<Tensor> &xs) {
  for (size_t i = 0; i < xs.size(); ++i) {
    Optimizer optimizer(net->parameters());
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'optimizer' is constructed anew in every iteration: this AdamW
    fit(optimizer, net, xs[i]);
  }
}
void instantiated(const std::vector<Tensor> &xs) {
  trainWith<torch::optim::AdamW>(Linear(2, 2), xs);
}

// A lambda.
void byLambda(const std::vector<Tensor> &xs) {
  Linear net(2, 2);
  auto step = [&](const Tensor &x) {
    torch::optim::Adagrad optimizer(net->parameters());
    // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: 'optimizer' is constructed anew in every iteration: this Adagrad
    fit(optimizer, net, x);
  };
  for (const Tensor &x : xs)
    step(x);
}

// Options that are made before.
void namedOptions(Linear net, const std::vector<Tensor> &xs) {
  const auto options = SGDOptions(0.1).momentum(0.9);
  std::function<void()> log;
  for (const Tensor &x : xs) {
    const auto rate = x.size(0) * 1e-3;
    torch::optim::SGD sgd(net->parameters(), SGDOptions(rate).momentum(0.9));
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'sgd' is constructed anew in every iteration: this SGD
    fit(sgd, net, x);
    torch::optim::SGD other(net->parameters(), options);
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'other' is constructed anew in every iteration: this SGD
    fit(other, net, x);
  }
}

// Tensors of its own.
void tensors(int n) {
  Tensor w = torch::zeros({3}, torch::requires_grad());
  int i = 0;
  while (i < n) {
    Adam adam({w}, 0.1);
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'adam' is constructed anew in every iteration
    adam.zero_grad();
    (w - 1).square().sum().backward();
    adam.step();
    ++i;
  }
}

// No fix: the loop lets go of it.
void letGo(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    auto adam = std::make_unique<Adam>(net->parameters(), 0.1);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'adam' is constructed anew in every iteration
    // CHECK-FIXES: {{^}}    auto adam = std::make_unique
    fit(*adam, net, x);
    adam.reset();
  }
}
void deleted(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    auto *adam = new Adam(net->parameters(), 0.2);
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'adam' is constructed anew in every iteration
    // CHECK-FIXES: {{^}}    auto *adam = new Adam
    fit(*adam, net, x);
    delete adam;
  }
}
