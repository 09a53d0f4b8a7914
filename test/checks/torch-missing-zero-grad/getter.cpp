// RUN: %check_torch %s torch-missing-zero-grad %t -still-warns
//
// The network is what a method of the user's returns.

#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

struct Learner {
  Net network() { return net; }
  Net net;
};

void never(Learner &learner, const std::vector<torch::Tensor> &xs) {
  torch::optim::SGD optimizer(learner.network()->parameters(), 0.1);
  for (const auto &x : xs) {
    learner.net->forward(x).sum().backward();
    optimizer.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'optimizer' are not cleared between iterations
  }
}
void byTheNetwork(Learner &learner, const std::vector<torch::Tensor> &xs) {
  torch::optim::SGD optimizer(learner.network()->parameters(), 0.1);
  for (const auto &x : xs) {
    learner.net->zero_grad();
    learner.net->forward(x).sum().backward();
    optimizer.step();
  }
}
void throughTheMethod(Learner &learner, const std::vector<torch::Tensor> &xs) {
  torch::optim::SGD optimizer(learner.net->parameters(), 0.1);
  for (const auto &x : xs) {
    learner.network()->zero_grad();
    learner.network()->forward(x).sum().backward();
    optimizer.step();
  }
}
