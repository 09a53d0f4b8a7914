// RUN: %check_torch %s torch-discarded-result %t

#include <torch/torch.h>

using torch::Tensor;

Tensor use(Tensor x);
Tensor use(Tensor x, Tensor y);

Tensor transfer(Tensor x, torch::Device device) {
  x.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(device)' returns the converted tensor and leaves 'x' as it is, and the result is dropped; write 'x = x.to(device)' [torch-discarded-result]
  return use(x);
}

Tensor conversions(Tensor x, Tensor y, Tensor z) {
  x.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.cuda()' returns the converted tensor
  y.to(torch::kLong);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'y.to(torch::kLong)' returns the converted tensor
  z.toType(torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'z.toType(torch::kFloat)' returns the converted tensor
  return use(x, y) + use(z);
}

Tensor shapes(Tensor x, Tensor y) {
  x.unsqueeze(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.unsqueeze(0)' returns its result and leaves 'x' as it is, and the result is dropped; write 'x = x.unsqueeze(0)'
  y.permute({2, 0, 1}).contiguous();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'y.permute({2, 0, 1}).contiguous()' returns its result and leaves 'y' as it is
  return use(x, y);
}

Tensor histories(Tensor x) {
  x.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.detach()' returns its result and leaves 'x' as it is
  return x;
}

Tensor inPlaceMeant(Tensor x, Tensor mask) {
  x.clamp(0, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.clamp(0, 1)' returns its result and leaves 'x' as it is, and the result is dropped; write 'x = x.clamp(0, 1)'
  x.masked_fill(mask, 0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.masked_fill(mask, 0)' returns its result
  torch::relu(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'torch::relu(x)' returns its result and leaves 'x' as it is, and the result is dropped; write 'x = torch::relu(x)'
  return x;
}

// There is no one place to put it.
Tensor computed(Tensor x, Tensor y) {
  torch::matmul(x, y);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'torch::matmul(x, y)' returns its result and leaves 'x' as it is, and the result is dropped; keep it in a variable
  x + y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x + y' returns its result and leaves 'x' as it is, and the result is dropped; keep it in a variable
  torch::cat({x, y}, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'torch::cat({x, y}, 1)' returns its result
  y.sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'y.sum()' returns its result and leaves 'y' as it is, and the result is dropped; keep it in a variable
  return use(x, y);
}

// Both sides of a comma.
Tensor comma(Tensor x, Tensor y, torch::Device device) {
  x.to(device),
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(device)' returns the converted tensor
  y.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'y.to(device)' returns the converted tensor
  return use(x, y);
}

// Without braces; in the header of a loop.
Tensor branches(Tensor x, bool isCuda) {
  if (isCuda)
    x.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x.cuda()' returns the converted tensor
  else
    x.cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x.cpu()' returns the converted tensor
  for (int i = 0; i < 3; x.squeeze(0), ++i)
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: 'x.squeeze(0)' returns its result
    x = use(x);
  switch (x.dim()) {
  case 1:
    x.flip(0);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x.flip(0)' returns its result
    break;
  default:
    x.t();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x.t()' returns its result
  }
  return x;
}

// A comparison that nobody looks at.
void comparison(const Tensor &x, const Tensor &y) {
  torch::allclose(x, y);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: nobody looks at what 'torch::allclose(x, y)' returns, so nothing is checked; use the result [torch-discarded-result]
  x.equal(y);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: nobody looks at what 'x.equal(y)' returns
}

// Of LibTorch's functional namespace.
Tensor functional(Tensor x) {
  torch::nn::functional::gelu(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'torch::nn::functional::gelu(x)' returns its result
  return x;
}

// A long one is named by its function.
Tensor longOne(Tensor x, Tensor y, Tensor z) {
  torch::where(x > y + z * 0.1, x * y + z, torch::where(x < y, x * 2, y * 0.1));
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'torch::where' returns its result and leaves 'x' as it is
  return use(x, y) + z;
}
