// RUN: %check_torch %s torch-redundant-transfer %t
//
// Which loop is told of: one in whose iterations the call runs, all of them.

#include <torch/torch.h>

using torch::Tensor;

Tensor always(Tensor state, torch::Device device) {
  auto x = state.to(device);
  Tensor shown;
  for (int i = 0; i < 100; ++i)
    shown = (x * i).to(device);
  // CHECK-NOTES: :[[@LINE-1]]:21: warning: the tensor is on that device already, and 'to' returns it as it is; leave the call out
  // CHECK-NOTES: :[[@LINE-3]]:3: note: in every iteration of this loop
  return shown;
}

Tensor sometimes(Tensor state, torch::Device device, bool shows) {
  auto x = state.to(device);
  Tensor shown;
  for (int i = 0; i < 100; ++i) {
    if (i % 10 == 0 && shows)
      shown = (x * i).to(device);
    // CHECK-NOTES: :[[@LINE-1]]:23: warning: the tensor is on that device already, and 'to' returns it as it is; leave the call out
  }
  return shown;
}
