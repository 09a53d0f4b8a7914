// RUN: %check_torch %s torch-device-round-trip %t
//
// A copy is written with what was computed from the same copies, which is
// computing; another tensor that it is written into keeps it.

#include <torch/torch.h>

using torch::Tensor;

Tensor smoothed(const Tensor &scores, torch::Device device) {
  auto host = scores.softmax(0).cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: this tensor is copied to the host
  auto smooth = (host + host.roll(1, 2)).add_(host.roll(-1, 2)).div_(3);
  return smooth.to(device).argmax(0);
}
Tensor assigned(Tensor x) {
  x = x.cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: this tensor is copied
  x = x.squeeze(0);
  x += x.flip(0);
  x.select(0, 0).copy_(x.select(0, 1));
  return x.to(torch::kCUDA);
}

// A sum of the host's own, which it goes on with.
struct Meter {
  Tensor sum = torch::zeros({4});
  Tensor add(const Tensor &x, torch::Device device) {
    auto host = x.cpu();
    sum.add_(host);
    return (host * 2).to(device);
  }
};
Tensor use(Meter &meter, const Tensor &x, torch::Device device) { return meter.add(x, device); }
// Computed from the one, and the other is kept in it, which the host reads.
float mixed(const Tensor &x, const Tensor &y, torch::Device device) {
  auto first = x.cpu(), second = y.cpu();
  auto both = (first * 2).add_(second);
  auto up = (second * 3).to(device);
  return both.sum().item<float>() + up.size(0);
}
