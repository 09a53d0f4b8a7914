// RUN: %check_torch %s torch-allocation-in-loop %t

#include <torch/torch.h>

void wrong(torch::Tensor x) {
  x.sum();
  // FIXME(new-check): replace this by the mistake and its message.
  // CHECK-MESSAGES: :[[@LINE-2]]:3: warning: FIXME(new-check) [torch-allocation-in-loop]
}
