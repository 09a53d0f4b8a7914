// RUN: %check_torch %s torch-autocast-boundary %t
//
// Means of what autocast has made, and its scope as a class that is given the
// type of a device.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;

class Mixed {
public:
  explicit Mixed(torch::DeviceType type)
      : type_(type), before_(at::autocast::is_autocast_enabled(type)) {
    at::autocast::set_autocast_enabled(type_, true);
  }
  ~Mixed() {
    at::autocast::set_autocast_enabled(type_, before_);
    at::autocast::clear_cache();
  }

private:
  torch::DeviceType type_;
  bool before_;
};

struct Settings {
  torch::Device device{torch::kCPU};
};

// The type of the operand stays: mean() and amax() are on none of the lists.
Tensor pooled(const Tensor &x, const Tensor &w, const Settings &s) {
  torch::NoGradGuard off;
  auto readout = torch::ones({8, 2}, torch::device(s.device)).div_(8);
  Tensor mean, most, narrow, wide, sum;
  {
    Mixed scope(s.device.type());
    auto y = torch::conv2d(x, w);
    mean = y.mean({2, 3});
    most = y.amax({2, 3});
    wide = y.mean({2, 3}, false, torch::kFloat);
    sum = y.sum({2, 3});
    narrow = torch::mm(mean, readout);
  }
  auto a = torch::mm(mean, readout);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'mean' was computed under autocast and is in half precision
  // CHECK-FIXES: auto a = torch::mm(mean.to(torch::kFloat), readout);
  auto b = most.matmul(readout);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'most' was computed under autocast and is in half precision
  // CHECK-FIXES: auto b = most.to(torch::kFloat).matmul(readout);
  // In float, as it asks for; sum() computes in float on CUDA.
  auto c = torch::mm(wide, readout) + torch::mm(sum, readout);
  // Converted; added, which takes both types.
  auto d = torch::mm(mean.to(torch::kFloat), readout) + (narrow + readout);
  return a + b + c + d;
}

int main() {
  Settings s;
  if (torch::cuda::is_available())
    s.device = torch::Device(torch::kCUDA);
  std::cout << pooled(torch::rand({2, 8, 4, 4}, s.device),
                      torch::rand({8, 8, 1, 1}, s.device), s);
}
