// RUN: %check_torch %s torch-redundant-transfer %t
//
// What is there already, and copies that nobody needs.

#include <torch/torch.h>

using torch::Tensor;

// To the host and at once to a device again.
Tensor snapshot(Tensor state, torch::Device device) {
  auto x = state.to(device);
  return x.detach().cpu().to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: this tensor is copied to the host and at once to a device again; leave this copy out (to() goes from device to device), or use 'clone' where a copy is wanted [torch-redundant-transfer]
}
void inLoop() {
  auto x = torch::rand({256, 256}, torch::kCUDA);
  for (int i = 0; i < 100; ++i)
    x = x.to(torch::kCPU).cuda() + 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: this tensor is copied to the host
}
// Copied twice.
Tensor blob(unsigned char *pixels, int64_t height, int64_t width) {
  return torch::from_blob(pixels, {height, width, 3}, torch::kUInt8).clone().to(torch::kFloat32).div_(255);
  // CHECK-MESSAGES: :[[@LINE-1]]:70: warning: this tensor is copied twice: by 'clone', and by 'to', which returns a copy here anyway; leave 'clone' out
}
Tensor variable(double *numbers) {
  auto frame = torch::from_blob(numbers, {100, 100}, torch::kDouble);
  return frame.clone().to(torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: this tensor is copied twice
}
struct Reader {
  std::vector<float> numbers;
  Tensor read() {
    return torch::from_blob(numbers.data(), {1000, 1000}).clone().to(torch::kCUDA);
    // CHECK-MESSAGES: :[[@LINE-1]]:59: warning: this tensor is copied twice
  }
};
Tensor after(int64_t n) {
  return torch::rand({n, n}).to(torch::kCUDA).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:47: warning: 'clone' copies the tensor once more: what 'to' returns here is nobody else's; leave 'clone' out
}
Tensor ofTemporary(const Tensor &labels) {
  return labels.mul(255).to(torch::kByte).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:43: warning: 'clone' copies the tensor once more
}
template <class T> Tensor inTemplate(T value) {
  return torch::full({100, 100}, value).to(torch::kHalf).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:58: warning: 'clone' copies the tensor once more
}
template Tensor inTemplate(float);
// There already.
Tensor like(torch::nn::Sequential net, Tensor batch, torch::Device device) {
  auto x = batch.to(device);
  auto y = net->forward(x);
  return y - torch::ones_like(y).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: the tensor is on that device already, and 'to' returns it as it is; leave the call out
}
int64_t chosen() {
  torch::Device device(torch::kCPU);
  if (torch::cuda::is_available())
    device = torch::Device(torch::kCUDA, 1);
  auto x = torch::zeros({4}).to(device);
  return (x * 2).to(device).size(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: the tensor is on that device already
}
Tensor ofItsOwn(const Tensor &x) {
  return x.to(x.device()) + torch::zeros_like(x).to(x.device()) + (x * x).to(x.device());
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: the tensor is on that device already
  // CHECK-MESSAGES: :[[@LINE-2]]:50: warning: the tensor is on that device already
  // CHECK-MESSAGES: :[[@LINE-3]]:75: warning: the tensor is on that device already
}
Tensor twice(Tensor x, torch::Device device) {
  auto y = x.to(device);
  return y.to(device) + x.cuda().cuda() + x.cpu().to(torch::kCPU);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: the tensor is on that device already
  // CHECK-MESSAGES: :[[@LINE-2]]:34: warning: the tensor is on that device already, and 'cuda' returns
  // CHECK-MESSAGES: :[[@LINE-3]]:51: warning: the tensor is on that device already
}
auto lambda = [](const Tensor &x) {
  return x.to(torch::kFloat).to(torch::kFloat32) + torch::empty({4}, torch::kLong).view({2, 2}).to(torch::kInt64);
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: the tensor has that type already, and 'to' returns it as it is; leave the call out
  // CHECK-MESSAGES: :[[@LINE-2]]:97: warning: the tensor has that type already
};
// A global variable that nothing here changes.
torch::Device chosenOnce(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
Tensor target(torch::nn::Linear net, const Tensor &image) {
  Tensor x = image.to(chosenOnce);
  Tensor y = net->forward(x);
  return torch::ones_like(y).to(chosenOnce);
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: the tensor is on that device already
}
