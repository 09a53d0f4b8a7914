// RUN: %check_torch %s torch-autocast-cache %t
//
// A file that switches the cache off.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

void prepare() { at::autocast::set_autocast_cache_enabled(false); }

void train(const std::vector<torch::Tensor> &xs) {
  torch::nn::Conv2d net(3, 4, 3);
  torch::optim::SGD opt(net->parameters(), 0.1);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  for (const auto &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
}
