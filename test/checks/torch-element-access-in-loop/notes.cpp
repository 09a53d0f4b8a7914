// RUN: %check_torch %s torch-element-access-in-loop %t -- -config="{CheckOptions: {torch-element-access-in-loop.Strict: true}}"
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

// Who mends one of them mends all in these loops.
void confusion(torch::Tensor labels, torch::Tensor preds, std::vector<int> &out) {
  for (int i = 0; i < labels.size(0); ++i) {
    out.push_back(labels[i].item<int>());
    // CHECK-NOTES: :[[@LINE-1]]:19: warning: elements of 'labels' are read one at a time
    // CHECK-NOTES: :[[@LINE-3]]:3: note: in every iteration of this loop
    out.push_back(preds[i].item<int>());
    // CHECK-NOTES: :[[@LINE-1]]:19: note: and here
  }
}
void fill(torch::Tensor x, torch::Tensor y, const std::vector<std::vector<float>> &rows) {
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < rows[r].size(); ++c)
      x.index({int(r), int(c)}) = rows[r][c];
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: elements of 'x' are written one at a time
      // CHECK-NOTES: :[[@LINE-3]]:5: note: in every iteration of this loop
    y.index({int(r)}) = rows[r][0];
    // CHECK-NOTES: :[[@LINE-1]]:5: note: and here
  }
}
// Each with each: the element of the outer loop and that of the inner one.
float overlaps(torch::Tensor from, torch::Tensor to) {
  float sum = 0;
  for (int i = 0; i < from.size(0); ++i) {
    for (int j = 0; j < to.size(0); ++j)
      sum += from[i].item<float>() *
             // CHECK-NOTES: :[[@LINE-1]]:14: warning: elements of 'from' are read one at a time
             // CHECK-NOTES: :[[@LINE-4]]:3: note: in every iteration of this loop
             to[j].item<float>();
    // CHECK-NOTES: :[[@LINE-1]]:14: note: and here
  }
  return sum;
}
