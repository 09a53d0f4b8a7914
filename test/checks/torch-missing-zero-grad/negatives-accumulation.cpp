// RUN: %check_torch %s torch-missing-zero-grad %t
//
// Accumulation over k batches on purpose: a step() sees the sum of one window
// and the window is cleared.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

constexpr int K = 4;

void stepAndClearTogether(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (size_t i = 0; i < xs.size(); ++i) {
    auto loss = torch::mse_loss(net->forward(xs[i]), y) / K;
    loss.backward();
    if ((i + 1) % K == 0) {
      opt.step();
      opt.zero_grad();
    }
  }
}

// Cleared where the window starts, stepped where it ends: no single path is
// without a clearing, but a query that ignores the conditions sees one.
void clearAtStartOfWindow(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (size_t i = 0; i < xs.size(); ++i) {
    if (i % K == 0)
      opt.zero_grad();
    torch::mse_loss(net->forward(xs[i]), y).backward();
    if (i % K == K - 1)
      opt.step();
  }
}

void ownCounter(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  int accumulated = 0;
  for (const auto &x : xs) {
    torch::mse_loss(net->forward(x), y).backward();
    if (++accumulated < K)
      continue;
    opt.step();
    opt.zero_grad();
    accumulated = 0;
  }
}

// All three under the condition: the sum of the losses is backwarded.
void sumThenAll(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  Tensor sum = torch::zeros({});
  int accumulated = 0;
  for (const auto &x : xs) {
    sum = sum + torch::mse_loss(net->forward(x), y);
    if (++accumulated >= 3) {
      opt.zero_grad();
      sum.backward();
      opt.step();
      sum = torch::zeros({});
      accumulated = 0;
    }
  }
}

void lastBatchToo(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (size_t i = 0; i < xs.size(); ++i) {
    torch::mse_loss(net->forward(xs[i]), y).backward();
    const bool last = i + 1 == xs.size();
    if (last || (i + 1) % K == 0) {
      opt.step();
      opt.zero_grad();
    }
  }
}

// The rest of the epoch is stepped after the loop.
void remainder(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (size_t i = 0; i < xs.size(); ++i) {
      torch::mse_loss(net->forward(xs[i]), y).backward();
      if ((i + 1) % K == 0) {
        opt.step();
        opt.zero_grad();
      }
    }
    opt.step();
    opt.zero_grad();
  }
}

void innerLoopOfMicroBatches(Linear net, const std::vector<Tensor> &xs,
                             Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int step = 0; step < 10; ++step) {
    opt.zero_grad();
    for (int k = 0; k < K; ++k)
      torch::mse_loss(net->forward(xs[k]), y).backward();
    opt.step();
  }
}

// The window is closed by a helper.
static bool endOfWindow(size_t i) { return i % K == K - 1; }
static void closeWindow(torch::optim::Optimizer &opt) {
  opt.step();
  opt.zero_grad();
}

void helperCloses(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (size_t i = 0; i < xs.size(); ++i) {
    torch::mse_loss(net->forward(xs[i]), y).backward();
    if (endOfWindow(i))
      closeWindow(opt);
  }
}

// zero_grad under the same (invariant) condition as backward() and step().
void sameCondition(Linear net, torch::optim::Optimizer &opt,
                   const std::vector<Tensor> &xs, Tensor y, bool training) {
  for (const auto &x : xs) {
    if (training)
      opt.zero_grad();
    auto loss = torch::mse_loss(net->forward(x), y);
    if (training) {
      loss.backward();
      opt.step();
    }
  }
}

// All under a condition on the loss.
void onlyIfRequiresGrad(Linear net, torch::optim::Optimizer &opt,
                        const std::vector<Tensor> &xs, Tensor y) {
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    if (loss.requires_grad()) {
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
  }
}
