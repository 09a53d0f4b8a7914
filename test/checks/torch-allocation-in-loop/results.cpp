// RUN: %check_torch %s torch-allocation-in-loop %t -- -config="{CheckOptions: {torch-allocation-in-loop.Minor: true}}"
//
// What is computed from the tensor may be kept, the tensor itself may not.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void keepsSum(const std::vector<Tensor> &xs) {
  std::vector<Tensor> sums;
  for (const auto &x : xs) {
    auto scratch = torch::zeros({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'scratch' once before the loop and refill it with 'zero_()'
    scratch.add_(x.detach());
    sums.push_back(scratch.sum());
  }
  std::cout << torch::stack(sums) << '\n';
}

void keepsClone(const std::vector<Tensor> &xs) {
  Tensor best;
  for (const auto &x : xs) {
    auto scratch = torch::zeros({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'scratch' once before the loop and refill it with 'zero_()'
    scratch.add_(x.detach());
    best = scratch.clone();
  }
  std::cout << best << '\n';
}

void keepsNumbers(const std::vector<Tensor> &xs) {
  std::vector<float> means;
  for (const auto &x : xs) {
    auto scratch = torch::empty({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::empty' allocates a tensor of the same shape in every iteration; create 'scratch' once before the loop [torch-allocation-in-loop]
    torch::add_out(scratch, x, x);
    means.push_back(scratch.mean().item<float>());
  }
}

// The constant is saved for a backward() after the loop, but nothing writes it.
void savedConstant(Linear net, const std::vector<Tensor> &xs) {
  Tensor total = torch::zeros({1});
  for (const auto &x : xs) {
    auto mask = torch::full({128, 64}, 0.5);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full' makes the same tensor in every iteration; create 'mask' once before the loop
    total = total + (net->forward(x) * mask).sum();
  }
  total.backward();
}

// A view that ends with the iteration, in a container that does as well.
void localContainer(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto grid = torch::zeros({4, 4096});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'grid' once before the loop and refill it with 'zero_()'
    for (const auto &row : grid.unbind(0))
      row.add_(x);
    std::cout << grid.max().item<float>() << '\n';
  }
}

// Under a guard nothing is recorded.
void guarded(Linear net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  for (const auto &x : xs) {
    auto sum = torch::zeros({1024, 256});
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop and refill it with 'zero_()'
    sum += net->forward(x);
    sum += net->forward(x.flip(0));
    std::cout << sum.argmax().item<int64_t>() << '\n';
  }
}
