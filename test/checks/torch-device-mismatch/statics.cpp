// RUN: %check_torch %s torch-device-mismatch %t
//
// A static variable that is const lies where it was made, once for all calls.

#include <torch/torch.h>

using torch::Tensor;

static Tensor luminance(const Tensor &rgb) {
  static const Tensor weights = torch::rand({3, 1, 1});
  return (rgb * weights).sum(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'weights' is on the CPU, and 'rgb' is on 'device'
}
static Tensor centred(const Tensor &rgb) {
  static const auto mean = torch::zeros({3, 1, 1}).add(0.5);
  return torch::sub(rgb, mean.to(rgb.device()));
}
static Tensor masked(const Tensor &rgb) {
  static const Tensor mask = torch::ones({8, 8}, rgb.options());
  return rgb * mask;
}
// One number.
static Tensor scaled(const Tensor &rgb) {
  static const Tensor factor = torch::tensor(0.25);
  return rgb * factor;
}
// Not const: whoever comes later may have moved it.
static Tensor shifted(const Tensor &rgb, bool move) {
  static Tensor offset = torch::rand({3, 8, 8});
  if (move)
    offset = offset.to(rgb.device());
  return rgb + offset;
}
static Tensor onHost(const Tensor &rgb) {
  static const Tensor table = torch::rand({3, 8, 8});
  return rgb + table;
}

void show(torch::Device device, int frames) {
  for (int i = 0; i < frames; ++i) {
    Tensor rgb = torch::rand({4, 3, 8, 8}, device);
    std::cout << luminance(rgb) << centred(rgb) << masked(rgb) << scaled(rgb) << shifted(rgb, i == 0)
              << onHost(rgb.cpu());
  }
}
