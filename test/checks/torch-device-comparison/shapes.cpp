// RUN: %check_torch %s torch-device-comparison %t
//
// A tensor's device against one without an index, in its shapes.

#include <torch/torch.h>

#include <string>

void use(torch::Tensor);

bool constants(torch::Tensor x, const torch::Tensor *p) {
  bool b = x.device() == torch::kCUDA;
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'x.device() == torch::kCUDA' is false for every tensor: 'torch::kCUDA' has no index, and the device of a tensor on an accelerator has one; use 'is_cuda()' of the tensor [torch-device-comparison]
  // CHECK-FIXES: bool b = x.is_cuda();
  b = b && x.sum().device() != at::kCUDA;
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'x.sum().device() != at::kCUDA' is true for every tensor
  // CHECK-FIXES: b = b && !x.sum().is_cuda();
  b |= p->device() == torch::kMPS;
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'p->device() == torch::kMPS' is false
  // CHECK-FIXES: b |= p->is_mps();
  b |= torch::Device(torch::kCUDA) == x.device();
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'torch::Device(torch::kCUDA) == x.device()' is false
  // CHECK-FIXES: b |= x.is_cuda();
  b |= x.device() == torch::Device("cuda");
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'x.device() == torch::Device("cuda")' is false
  // CHECK-FIXES: b |= x.device().type() == torch::Device("cuda").type();
  b |= x.options().device() == c10::DeviceType::CUDA;
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'x.options().device() == c10::DeviceType::CUDA' is false
  // CHECK-FIXES: b |= x.options().device().type() == c10::DeviceType::CUDA;
  return b;
}

bool variables(torch::Tensor x, torch::nn::Linear net) {
  torch::Device gpu(torch::kCUDA);
  const auto where = x.device();
  if (where == gpu)
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'where == gpu' is false for every tensor: 'gpu' has no index
    // CHECK-FIXES: if (where.type() == gpu.type())
    return true;
  torch::Device device = torch::kCPU;
  if (torch::cuda::is_available())
    device = torch::kCUDA;
  if (net->parameters()[0].device() != device)
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'net->parameters()[0].device() != device' is true for each tensor that is not on the CPU: 'device' has no index
    // CHECK-FIXES: if (net->parameters()[0].device().type() != device.type())
    throw std::runtime_error("moved?");
  const torch::Device chosen(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const torch::Device named(torch::cuda::is_available() ? "cuda" : "cpu");
  const auto options = torch::TensorOptions().device(torch::kCUDA).dtype(torch::kHalf);
  return x.device() == chosen ||
         // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'x.device() == chosen' is false for each tensor that is not on the CPU
         // CHECK-FIXES: return x.device().type() == chosen.type() ||
         x.device() == named ||
         // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'x.device() == named' is false for each tensor that is not on the CPU
         // CHECK-FIXES: x.device().type() == named.type() ||
         x.device() == options.device();
         // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'x.device() == options.device()' is false for every tensor
         // CHECK-FIXES: x.device().type() == options.device().type();
}

// Through functions and macros.
torch::Device pick() { return torch::cuda::is_available() ? torch::kCUDA : torch::kCPU; }
static bool isOn(const torch::Tensor &x, torch::Device device) { return x.device() == device; }
// CHECK-MESSAGES: :[[@LINE-1]]:73: warning: 'x.device() == device' is false for each tensor that is not on the CPU
// CHECK-FIXES: return x.device().type() == device.type(); }
bool helped(torch::Tensor x) { return isOn(x, pick()); }

void checked(torch::Tensor x) {
  TORCH_CHECK(x.device() == torch::kCUDA, "must be on the GPU");
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'x.device() == torch::kCUDA' is false
  // CHECK-FIXES: TORCH_CHECK(x.is_cuda(), "must be on the GPU");
  use(x);
}

class Runner {
public:
  explicit Runner(torch::Tensor x) : x_(x) {}
  bool fits() const { return x_.device() == device_; }
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'x_.device() == device_' is false
  // CHECK-FIXES: return x_.device().type() == device_.type(); }

private:
  torch::Tensor x_;
  const torch::Device device_{torch::kCUDA};
};

template <class T> bool inTemplate(torch::Tensor x, T) {
  return x.device() == torch::kCUDA;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'x.device() == torch::kCUDA' is false
  // CHECK-FIXES: return x.is_cuda();
}
template bool inTemplate(torch::Tensor, int);
template bool inTemplate(torch::Tensor, float);
