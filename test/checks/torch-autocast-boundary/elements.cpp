// RUN: %check_torch %s torch-autocast-boundary %t -still-warns
//
// Elements that are read as another type. No fix: those of a temporary would be
// gone.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void turn(bool on) { at::autocast::set_autocast_enabled(at::kCPU, on); }

// What a network from elsewhere returns is not known.
float unknown(torch::nn::Sequential &net, const Tensor &x) {
  turn(true);
  Tensor out = net->forward(x);
  const float *first = out.data_ptr<float>();
  turn(false);
  return *first;
}
float ofSequential(const Tensor &x) {
  torch::nn::Sequential net(Linear(4, 4), torch::nn::ReLU(), Linear(4, 1));
  turn(true);
  Tensor out = net->forward(x);
  turn(false);
  return out.accessor<float, 2>()[0][0];
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'out' was computed under autocast and is in half precision; reading its elements as another type throws; convert it first, and keep what 'to(torch::kFloat)' returns
}
