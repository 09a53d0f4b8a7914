// RUN: %check_torch %s torch-redundant-transfer %t
//
// Which loop is told of: one in whose iterations the call runs, all of them.

#include <torch/torch.h>

using torch::Tensor;

Tensor always(Tensor state) {
  Tensor sum = torch::zeros({256, 256}, torch::kCUDA);
  for (int i = 0; i < 100; ++i)
    sum = (sum + 1).to(torch::kCUDA);
  // CHECK-NOTES: :[[@LINE-1]]:21: warning: the tensor is on that device already, and 'to' returns it as it is; leave the call out
  // CHECK-NOTES: :[[@LINE-3]]:3: note: in every iteration of this loop
  return sum;
}

Tensor sometimes(Tensor state, bool shows) {
  Tensor sum = torch::zeros({256, 256}, torch::kCUDA), shown;
  for (int i = 0; i < 100; ++i) {
    sum = sum + 1;
    if (i % 10 == 0 && shows)
      shown = (sum * 2).to(torch::kCUDA);
    // CHECK-NOTES: :[[@LINE-1]]:25: warning: the tensor is on that device already, and 'to' returns it as it is; leave the call out
  }
  return shown;
}
