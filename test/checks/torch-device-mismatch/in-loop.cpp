// RUN: %check_torch %s torch-device-mismatch %t -still-warns
//
// A tensor that stays the same in a loop.

#include <torch/torch.h>

#include <vector>

using torch::Tensor;

// The same tensor in each iteration: to move it there would copy it again and
// again, so there is no fix.
void sameInLoop(const std::vector<Tensor> &images, torch::Device device) {
  const Tensor mean = torch::ones({3, 1, 1});
  for (const auto &image : images) {
    Tensor centred = image.to(device) - mean;
    // CHECK-MESSAGES: :[[@LINE-1]]:41: warning: 'mean' is on the CPU, and {{.*}} is on 'device': this throws wherever that is not the CPU; move it there before the loop
    centred.sum().item<float>();
  }
}
