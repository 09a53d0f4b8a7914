// RUN: %check_torch %s torch-element-access-in-loop %t
//
// One finding for a tensor and a loop: further accesses are notes of it.

#include <torch/torch.h>

float area(torch::Tensor boxes) {
  float sum = 0;
  for (int i = 0; i < boxes.size(0); ++i) {
    auto box = boxes[i];
    sum += box[2].item<float>();
    // CHECK-NOTES: :[[@LINE-1]]:12: warning: elements of 'boxes' are read one at a time
    // CHECK-NOTES: :[[@LINE-4]]:3: note: in every iteration of this loop
    sum -= box[0].item<float>();
    // CHECK-NOTES: :[[@LINE-1]]:12: note: and here
  }
  return sum;
}
