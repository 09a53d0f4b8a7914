// RUN: %check_torch %s torch-parameter-copy %t
//
// A handle that gets back the shape that its caller's has kept is of no use,
// and no mistake. One view alone is meant for the caller.

#include <torch/torch.h>

using torch::Tensor;

// As the bindings of many CUDA extensions do.
int convolve(Tensor input, Tensor weight, Tensor output) {
  const int64_t batch = input.size(0), height = input.size(2);
  input = input.view({batch / 2, 2, input.size(1), height});
  weight = weight.view({1, weight.size(0)});
  for (int64_t i = 0; i < batch / 2; ++i)
    output[i].addmm_(weight, input[i].flatten(1));
  input = input.view({batch, -1, height}).transpose(1, 2);
  weight = weight.view({weight.size(1)});
  return 1;
}

void normalise(Tensor x, Tensor mask) {
  x = x.squeeze(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the parameter 'x' is a copy of what the caller has
  mask = mask.view({-1});
  mask = mask.to(torch::kBool);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the parameter 'mask' is a copy of what the caller has
}

void turn(std::vector<Tensor> images) {
  for (auto image : images) {
    image = image.permute({2, 0, 1});
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'image' is a copy of the element
  }
}
