// RUN: %check_torch %s torch-autocast-boundary %t
//
// Modules, and autocast, of another type.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

torch::Tensor converted(const torch::Tensor &x) {
  torch::nn::Linear net(4, 4), head(4, 2);
  head->to(torch::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  auto out = net(x);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  return head(out);
}
