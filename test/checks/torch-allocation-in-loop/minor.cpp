// RUN: %check_torch %s torch-allocation-in-loop %t -still-warns
// RUN: %check_torch %s torch-allocation-in-loop %t -still-warns -check-prefix=MINOR -- -config="{CheckOptions: {torch-allocation-in-loop.Minor: true}}"
//
// What has no known size, or is not large, is told beside the passes of a
// network with Minor only.

#include <torch/torch.h>

using torch::Tensor;

void train(torch::nn::Linear net, torch::optim::SGD &opt, const Tensor &x,
           int64_t n) {
  for (int i = 0; i < 1000; ++i) {
    Tensor ones = torch::ones({n, n, n});
    // MINOR-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::ones' makes the same tensor in every iteration
    Tensor mask = torch::zeros({100, 100});
    // MINOR-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::zeros' makes the same tensor in every iteration
    Tensor large = torch::zeros({1000, 1000});
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::zeros' makes the same tensor in every iteration
    // MINOR-MESSAGES: :[[@LINE-2]]:20: warning: 'torch::zeros' makes the same tensor in every iteration
    opt.zero_grad();
    (net(x).sum() * (ones.sum() + mask.sum() + large.sum())).backward();
    opt.step();
  }
}

// No network: the tensor is what the loop works with.
double sums(const std::vector<Tensor> &xs, int64_t n) {
  double total = 0;
  for (const Tensor &x : xs) {
    Tensor weights = torch::full({300, 300}, 2.0);
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'torch::full' makes the same tensor in every iteration
    // MINOR-MESSAGES: :[[@LINE-2]]:22: warning: 'torch::full' makes the same tensor in every iteration
    total += (x * weights).sum().item<double>();
  }
  return total;
}
