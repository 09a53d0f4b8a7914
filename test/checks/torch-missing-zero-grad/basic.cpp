// RUN: %check_torch %s torch-missing-zero-grad %t
//
// The gradients are never cleared: one function for each kind of loop.

#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(8, 2)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

void forLoop(Net net, torch::Tensor x, torch::Tensor y) {
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  for (int i = 0; i < 100; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    optimizer.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'optimizer' are not cleared between iterations: every step() applies the sum of the gradients so far; call 'optimizer.zero_grad()' after this step() [torch-missing-zero-grad]
  }
}

void rangeForOverLoader(Net net) {
  auto loader =
      torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
          torch::data::datasets::MNIST("./data").map(
              torch::data::transforms::Stack<>()),
          64);
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(1e-3));
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (auto &batch : *loader) {
      auto output = net->forward(batch.data.view({-1, 8}));
      auto loss = torch::nll_loss(output, batch.target);
      loss.backward();
      adam.step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'adam' are not cleared between iterations
    }
  }
}

void whileLoop(Net net, torch::Tensor x, torch::Tensor y) {
  torch::optim::RMSprop opt(net->parameters());
  double best = 1e9;
  while (best > 0.1) {
    auto loss = torch::mse_loss(net(x), y);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
    best = loss.item<double>();
  }
}

void doLoop(torch::nn::Sequential net, torch::Tensor x, torch::Tensor y) {
  torch::optim::Adagrad opt(net->parameters());
  int i = 0;
  do {
    // No variable for the loss: the backward() is on a temporary.
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  } while (++i < 10);
}

void gotoLoop(Net net, torch::Tensor x, torch::Tensor y) {
  torch::optim::AdamW opt(net->parameters());
  int i = 0;
again:
  auto loss = torch::mse_loss(net->forward(x), y);
  torch::autograd::backward({loss}, {});
  opt.step();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: gradients of 'opt' are not cleared between iterations
  if (++i < 10)
    goto again;
}

void clearedOnceBeforeTheLoop(Net net, torch::Tensor x, torch::Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.01);
  opt.zero_grad(); // Not on the cycle.
  for (int i = 0; i < 100; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
  opt.zero_grad(); // Neither is this one.
}

void clearedPerEpochSteppedPerBatch(Net net,
                                    const std::vector<torch::Tensor> &xs,
                                    torch::Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.01);
  for (int epoch = 0; epoch < 10; ++epoch) {
    opt.zero_grad(); // On the outer cycle, but the inner one has none.
    for (const auto &x : xs) {
      torch::mse_loss(net->forward(x), y).backward();
      opt.step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'opt' are not cleared {{.*}}between iterations
    }
  }
}

void microBatches(Net net, const std::vector<torch::Tensor> &micro,
                  torch::Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.01);
  for (int step = 0; step < 10; ++step) {
    for (const auto &x : micro)
      torch::mse_loss(net->forward(x), y).backward();
    // Accumulating over the inner loop is meant; over the outer one it is not.
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

void rebuiltPerEpoch(Net net, torch::Tensor x, torch::Tensor y) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    // A new optimizer, but the parameters (and their gradients) are the old
    // ones.
    torch::optim::SGD opt(net->parameters(), 0.1 / (epoch + 1));
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}
