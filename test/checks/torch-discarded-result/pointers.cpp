// RUN: %check_torch %s torch-discarded-result %t
//
// A pointer that is looked up and dropped: nothing is lost.

#include <torch/torch.h>

float first(torch::Tensor x) {
  x.data_ptr<float>();
  x.data_ptr();
  x.const_data_ptr<float>();
  x.data();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.data()' returns its result and leaves 'x' as it is, and the result is dropped
  return x.data_ptr<float>()[0];
}
