// RUN: %check_torch %s torch-allocation-in-loop %t -- -config="{CheckOptions: {torch-allocation-in-loop.Strict: true}}"
//
// Nested loops, and variables that are declared outside of the loop.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void everyBatchOfEveryEpoch(Linear net, torch::optim::SGD &opt,
                            const std::vector<Tensor> &batches) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const auto &batch : batches) {
      auto target = torch::zeros({6400, 1});
      // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'torch::zeros' makes the same tensor in every iteration; create 'target' once before the loop
      opt.zero_grad();
      torch::mse_loss(net->forward(batch), target).backward();
      opt.step();
    }
  }
}

// The shape follows the outer loop only: once before the inner one.
void growsWithOuter(const std::vector<Tensor> &xs) {
  for (int64_t n = 64; n < 128; ++n) {
    for (const auto &x : xs) {
      auto ones = torch::ones({n, n});
      // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::ones' makes the same tensor in every iteration; create 'ones' once before the loop
      std::cout << torch::matmul(x, ones).sum().item<float>() << '\n';
    }
  }
}

// A size of the outer loop's batch, inside a loop over its rows.
void rowsOfBatch(const std::vector<Tensor> &batches) {
  for (const auto &batch : batches) {
    for (int64_t row = 0; row < batch.size(0); ++row) {
      auto sum = torch::zeros({batch.size(1), batch.size(1)});
      // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop and refill it with 'zero_()'
      sum.add_(batch[row]);
      std::cout << sum.max().item<float>() << '\n';
    }
  }
}

// In the outer loop, filled by the many steps of the inner one: quiet.
void filledByInner(const std::vector<std::vector<Tensor>> &groups) {
  for (const auto &group : groups) {
    auto total = torch::zeros({128, 64});
    for (const auto &member : group)
      total += member;
    std::cout << total.max().item<float>() << '\n';
  }
}

// ----- variables from outside of the loop -----

void assigned(const std::vector<Tensor> &xs, int64_t n, int64_t m) {
  Tensor buf;
  for (const auto &x : xs) {
    buf = torch::zeros({n, m});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'buf' once before the loop and refill it with 'zero_()'
    buf.add_(x);
    std::cout << buf.sum().item<float>() << '\n';
  }
}

// Several, filled row by row: quiet.
void miniBatches(const Tensor &states, const Tensor &actions, int64_t epochs,
                 int64_t size) {
  Tensor miniStates;
  Tensor miniActions;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    miniStates = torch::zeros({size, 48});
    miniActions = torch::zeros({size, 36});
    for (int64_t row = 0; row < size; ++row) {
      miniStates[row] = states[epoch * size + row];
      miniActions[row] = actions[epoch * size + row];
    }
    std::cout << (miniStates.mean() + miniActions.mean()).item<float>() << '\n';
  }
}

// Made before the loop, and again in each iteration.
void madeAgain(const std::vector<Tensor> &xs, int64_t n) {
  auto buf = torch::zeros({n, n});
  for (const auto &x : xs) {
    buf = torch::zeros({n, n});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'buf' once before the loop and refill it with 'zero_()'
    buf += x;
    std::cout << buf.sum().item<float>() << '\n';
  }
}
