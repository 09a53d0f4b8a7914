// RUN: %check_torch %s torch-device-mismatch %t
//
// Two tensors on different devices.

#include <torch/torch.h>

using torch::Tensor;

void add(torch::Device device) {
  Tensor x = torch::rand({8}, device), noise = torch::randn({8});
  Tensor y = x + noise;
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'noise' is on the CPU, and 'x' is on 'device': this throws wherever that is not the CPU; append '.to(device)'
  // CHECK-FIXES: Tensor y = x + noise.to(device);
}

void literal() {
  Tensor a = torch::rand({8, 8}).cuda(), b = torch::rand({8, 8});
  a.mm(b);
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'b' is on the CPU, and 'a' is on a CUDA device: this throws; append '.to(torch::kCUDA)'
  // CHECK-FIXES: a.mm(b.to(torch::kCUDA));
}

void concatenated(torch::Device device) {
  Tensor state = torch::zeros({1, 4}).to(device);
  Tensor action = torch::zeros({1, 2});
  torch::cat({state, action}, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'action' is on the CPU, and 'state' is on 'device'
  // CHECK-FIXES: torch::cat({state, action.to(device)}, 1);
}

void loss(torch::Device device) {
  torch::nn::Linear net(4, 2);
  net->to(device);
  auto output = net->forward(torch::rand({3, 4}, device));
  Tensor target = torch::zeros({3}, torch::kLong);
  torch::nn::CrossEntropyLoss criterion;
  auto value = criterion(output, target);
  // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: 'target' is on the CPU, and 'output' is on 'device'
  // CHECK-FIXES: auto value = criterion(output, target.to(device));
  auto other = torch::nn::functional::mse_loss(output, torch::ones({3, 2}));
  // CHECK-MESSAGES: :[[@LINE-1]]:56: warning: this tensor is on the CPU, and 'output' is on 'device'
  // CHECK-FIXES: auto other = torch::nn::functional::mse_loss(output, torch::ones({3, 2}).to(device));
}

// What type() of a tensor says goes for where it is, too.
void oldOptions(torch::Device device) {
  Tensor x = torch::rand({4, 8}, device);
  Tensor before = at::zeros({4, 1}, x.type());
  Tensor behind = at::zeros({4, 1}, x.type().toScalarType(torch::kFloat));
  Tensor host = at::zeros({4, 1}, torch::rand({4}).type());
  torch::cat({before, x, behind}, 1);
  torch::cat({x, host}, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'host' is on the CPU, and 'x' is on 'device'
  // CHECK-FIXES: torch::cat({x, host.to(device)}, 1);
}
