// RUN: %check_torch %s torch-missing-zero-grad %t
//
// Lambdas are functions too: called in a loop, given to an algorithm, run by a
// thread.

#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <thread>

using torch::Tensor;
using Batch = torch::data::Example<>;

void calledInLoop(torch::nn::Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  auto trainOne = [&](const Tensor &input) {
    auto loss = torch::mse_loss(net->forward(input), y);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  };
  for (int i = 0; i < 10; ++i)
    trainOne(x);
}

void forEach(torch::nn::Linear net, std::vector<Batch> &batches) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::for_each(batches.begin(), batches.end(), [&](Batch &batch) {
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  });
}

void forEachGeneric(torch::nn::Linear net, std::vector<Batch> &batches) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::for_each(batches.begin(), batches.end(), [&](auto &batch) {
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  });
}

void stdFunction(torch::nn::Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::function<void()> work = [&] {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  };
  for (int i = 0; i < 10; ++i)
    work();
}

void immediatelyInvoked(torch::nn::Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    const float value = [&] {
      auto loss = torch::mse_loss(net->forward(x), y);
      loss.backward();
      return loss.item<float>();
    }();
    std::cout << value << '\n';
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

void threadBody(torch::nn::Linear net, Tensor x, Tensor y) {
  std::thread worker([net, x, y]() mutable {
    torch::optim::SGD opt(net->parameters(), 0.1);
    for (int i = 0; i < 10; ++i) {
      torch::mse_loss(net->forward(x), y).backward();
      opt.step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'opt' are not cleared between iterations
    }
  });
  worker.join();
}

void clearingLambdaNeverCalled(torch::nn::Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  // Defined, but nothing calls it.
  auto clear = [&] { opt.zero_grad(); };
  (void)clear;
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

// ----- quiet -----

void clearingLambdaCalled(torch::nn::Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  auto clear = [&opt] { opt.zero_grad(); };
  for (int i = 0; i < 10; ++i) {
    clear();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

void clearedInCallerOfLambda(torch::nn::Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  auto trainOne = [&] {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  };
  for (int i = 0; i < 10; ++i) {
    trainOne();
    net->zero_grad();
  }
}

void lambdaCalledOnce(torch::nn::Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  auto trainOne = [&] {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  };
  trainOne();
}
