// RUN: %check_torch %s torch-autocast-cache %t
//
// A guard that is given another type, or one that is not known.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

struct Scope {
  explicit Scope(at::ScalarType scalar) { at::autocast::set_autocast_dtype(torch::kCPU, scalar); }
  ~Scope() { at::autocast::clear_cache(); }
};

static torch::Tensor embed(torch::nn::Conv2d &net, const torch::Tensor &x) {
  Scope scope(torch::kFloat);
  return net->forward(x);
}

static void train(torch::nn::Conv2d &net, const std::vector<torch::Tensor> &xs) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const auto &x : xs) {
    opt.zero_grad();
    at::autocast::set_autocast_enabled(at::kCPU, true);
    net->forward(x).sum().backward();
    at::autocast::set_autocast_enabled(at::kCPU, false);
    opt.step();
  }
}

int main() {
  torch::nn::Conv2d net(3, 4, 3);
  const std::vector<torch::Tensor> xs(4, torch::rand({1, 3, 8, 8}));
  std::cout << embed(net, xs[0]);
  train(net, xs);
}
