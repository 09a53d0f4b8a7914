// RUN: %check_torch %s torch-missing-no-grad %t

// What one entry of the file only evaluates another trains through: the guard belongs to the
// caller that evaluates, and not into what both call.
#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear body{nullptr};
  NetImpl() { body = register_module("body", torch::nn::Linear(8, 2)); }
  std::pair<Tensor, Tensor> forward(Tensor x) {
    auto y = body(x);
    return {y, y.sum()};
  }
};
TORCH_MODULE(Net);

struct Trainer {
  explicit Trainer(Net n) : net(n) {
    net->eval();
    auto x = torch::rand({1, 8});
    auto warm = predict(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: forward pass
  }
  std::pair<Tensor, Tensor> predict(Tensor &x) { return net->forward(x); }
  void train(torch::optim::Optimizer &opt, Tensor x, Tensor target) {
    opt.zero_grad();
    std::tuple<Tensor, Tensor> out = predict(x);
    (std::get<0>(out) - target).pow(2).sum().backward();
    opt.step();
  }
  Net net;
};

// By a function.
static Tensor scores(torch::nn::Linear &net, Tensor x) { return net->forward(x).softmax(1); }

void fit(torch::nn::Linear net, torch::optim::SGD &opt, Tensor x) {
  opt.zero_grad();
  scores(net, x).sum().backward();
  opt.step();
}

double validate(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  net->eval();
  double sum = 0;
  for (const auto &x : xs)
    sum += scores(net, x).max().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass
  return sum;
}

// By a lambda that both get.
template <class F> double score(F run, Tensor x) { return run(x).max().template item<double>(); }

void both(torch::nn::Linear net, torch::optim::SGD &opt, Tensor x) {
  auto run = [&](Tensor in) { return net->forward(in); };
  opt.zero_grad();
  run(x).sum().backward();
  opt.step();
  net->eval();
  std::cout << score(run, x) << '\n';
  // CHECK-MESSAGES: :[[@LINE-9]]:59: warning: forward pass
}
