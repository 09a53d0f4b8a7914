// RUN: %check_torch %s torch-allocation-in-loop %t -still-warns -- -config="{CheckOptions: {torch-allocation-in-loop.Strict: true}}"
//
// With Strict the check also speaks of rows whose length nothing says, and of what
// is not known to be large where nothing is trained. See also rows.cpp and passes.cpp.

#include <torch/torch.h>

void use(const torch::Tensor &x);

void rows(const std::vector<torch::Tensor> &xs, int64_t n) {
  for (const torch::Tensor &x : xs) {
    use(x + torch::ones({n, 1}));
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'torch::ones' makes the same tensor in every iteration
    use(x + torch::arange(n));
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'torch::arange' makes the same tensor in every iteration
    // It is known to be small.
    use(x + torch::arange(100));
  }
}

// Beside the passes of a network.
void answers(torch::nn::Linear net, const std::vector<torch::Tensor> &xs, int64_t n, int64_t m) {
  torch::NoGradGuard no_grad;
  for (const auto &x : xs) {
    auto mask = torch::ones({n, m});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration
    use(net->forward(x * mask));
  }
}

// Without a network.
void computes(const std::vector<torch::Tensor> &xs, int64_t n, int64_t m) {
  for (const auto &x : xs) {
    auto mask = torch::ones({n, m});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration
    use(x * mask);
  }
}
