// RUN: %check_torch %s torch-allocation-in-loop %t -- -config="{CheckOptions: {torch-allocation-in-loop.Minor: true}}"
//
// Rows whose length nothing says: they may be small. The option Strict tells them too; see strict.cpp.

#include <torch/torch.h>

using torch::Tensor;
void use(const Tensor &x);

void rows(const std::vector<Tensor> &xs, int64_t n) {
  for (const Tensor &x : xs) {
    use(x + torch::ones({n, 1}));
    use(x + torch::arange(n));
    use(x + torch::zeros({2, n, 16}));
    use(x + torch::linspace(0, 1, n));
  }
}

// Part of a network, whose training may run it: two that are not known, or one beside many.
struct Rows : torch::nn::Module {
  Tensor forward(const std::vector<Tensor> &xs, int64_t n, int64_t m) {
    auto sum = torch::zeros({1});
    for (const Tensor &x : xs) {
      sum = sum + (x + torch::ones({n, 1}) + torch::arange(n)).sum();
      auto wide = torch::ones({n, m});
      // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::ones' makes the same tensor in every iteration
      // CHECK-FIXES: for (const Tensor &x : xs) {
      auto long_rows = torch::ones({n, 1024});
      // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: 'torch::ones' makes the same tensor in every iteration
      auto square = torch::eye(n);
      // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'torch::eye' makes the same tensor in every iteration
      sum = sum + (x + wide + long_rows + square).sum();
    }
    return sum;
  }
};

// Labels that are the same in each step of a training.
void train(torch::nn::Linear net, const std::vector<Tensor> &xs, int64_t batch) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : xs) {
    const auto real = torch::ones({batch, 1});
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'torch::ones' makes the same tensor in every iteration
    opt.zero_grad();
    torch::mse_loss(net->forward(x), real).backward();
    opt.step();
  }
}

// A batch that a function puts together: it has to be filled each time, and the
// function has no place to keep it in.
static Tensor gather(const std::vector<float> &values, int64_t from, int64_t n, int64_t width) {
  auto rows = torch::empty({n, width});
  std::copy_n(values.begin() + from, n * width, rows.data_ptr<float>());
  return rows;
}
void fit(torch::nn::Linear net, const std::vector<float> &values, int64_t batch, int64_t width) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int64_t at = 0; at < 1000; ++at) {
    opt.zero_grad();
    net->forward(gather(values, at, batch, width)).sum().backward();
    opt.step();
  }
}
