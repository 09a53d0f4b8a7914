// RUN: %check_torch %s torch-autocast-cache %t
//
// A guard gets the type from whoever makes it: in half precision the copies are
// kept.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

struct Scope {
  c10::DeviceType type;
  bool before;
  Scope(c10::DeviceType of, at::ScalarType scalar) : type(of), before(at::autocast::is_autocast_enabled(of)) {
    at::autocast::set_autocast_dtype(of, scalar);
    at::autocast::set_autocast_enabled(of, true);
  }
  ~Scope() {
    at::autocast::set_autocast_enabled(type, before);
    at::autocast::clear_cache();
  }
};

static torch::Tensor embed(torch::nn::Conv2d &net, const torch::Tensor &x) {
  torch::NoGradGuard no_grad;
  Scope scope(torch::kCPU, torch::kBFloat16);
  return net->forward(x);
}

static void train(torch::nn::Conv2d &net, const std::vector<torch::Tensor> &xs) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const auto &x : xs) {
    opt.zero_grad();
    at::autocast::set_autocast_enabled(at::kCPU, true);
    auto y = net->forward(x);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    y.sum().backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: autocast keeps a copy of the weights of 'net' (Conv2d), and nothing empties its cache between this step() and the next pass
    // CHECK-FIXES: opt.step();
    // CHECK-FIXES-NEXT: at::autocast::clear_cache();
  }
}

int main() {
  torch::nn::Conv2d net(3, 4, 3);
  const std::vector<torch::Tensor> xs(4, torch::rand({1, 3, 8, 8}));
  train(net, xs);
  std::cout << embed(net, xs[0]);
}
