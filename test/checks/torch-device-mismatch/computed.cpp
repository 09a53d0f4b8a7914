// RUN: %check_torch %s torch-device-mismatch %t
//
// What a network has computed has dimensions, so that a copy of it on the CPU
// does not go with what is elsewhere.

#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() : scale(torch::tensor(2.0)) { reset(); }
  void reset() override { fc = register_module("fc", torch::nn::Linear(8, 4)); }
  Tensor forward(const Tensor &x) { return torch::softmax(fc->forward(x) / scale, 1).narrow(0, 0, 2); }
  Tensor scale;
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

Net moved(torch::Device device) {
  Net net;
  net->to(device);
  return net;
}
// A clone is where it is asked for.
Net cloned(const Net &net, torch::Device device) {
  return Net(std::dynamic_pointer_cast<NetImpl>(net->clone(device)));
}

class Drift {
public:
  Drift(Net net, torch::Device device) : net_(std::move(net)), device_(device) {
    first_ = run().cpu();
  }
  Tensor run() { return net_->forward(torch::ones({3, 8}).to(device_)); }
  Tensor wrong() { return run().sub(first_); }
  // CHECK-MESSAGES: :[[@LINE-1]]:37: warning: 'first_' is on the CPU, and the other tensor is on 'device'
  Tensor right() { return run().sub(first_.to(device_)); }
  Tensor onHost() { return run().cpu().sub(first_); }
  // A number may be on the CPU.
  Tensor byNumber() { return run().sub(first_.mean()); }

private:
  Net net_;
  torch::Device device_;
  Tensor first_;
};

class Copied {
public:
  Copied(const Net &net, torch::Device device) : net_(cloned(net, device)), device_(device) {
    first_ = run().cpu();
  }
  Tensor run() { return net_->forward(torch::ones({3, 8}).to(device_)); }
  Tensor wrong() { return run().sub(first_); }
  // CHECK-MESSAGES: :[[@LINE-1]]:37: warning: 'first_' is on the CPU, and the other tensor is on 'device'

private:
  Net net_;
  torch::Device device_;
  Tensor first_;
};

int main() {
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  Drift drift(moved(device), device);
  std::cout << drift.wrong() << drift.right() << drift.onHost() << drift.byNumber();
  Copied copied(Net(), device);
  std::cout << copied.wrong();
}
