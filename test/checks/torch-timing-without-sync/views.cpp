// RUN: %check_torch %s torch-timing-without-sync %t
//
// Indices that are numbers and ranges choose a part, for which nobody waits; a
// mask has to be counted first.

#include <torch/torch.h>
#include <chrono>

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;
using Clock = std::chrono::steady_clock;

struct Net : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  Net() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  Tensor forward(Tensor x) { return torch::relu(fc(x)); }
};
Tensor onDevice(torch::Device device) { return torch::rand({8, 4}).to(device); }
void print(Clock::duration time) { std::cout << time.count(); }

void number(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  auto y = net.forward(x).index({0});
  print(Clock::now() - start);
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: the clock is read when the work has been given to the device
}
void ranges(Net &net, torch::Device device, int64_t i) {
  auto x = onDevice(device);
  auto start = Clock::now();
  auto y = net.forward(x).index({Slice(None, i), i, None, "..."});
  print(Clock::now() - start);
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: the clock is read
}
void mask(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  auto y = net.forward(x);
  auto best = y.index({y.select(1, 0) > 0});
  print(Clock::now() - start);
}
void listed(Net &net, torch::Device device, const std::vector<at::indexing::TensorIndex> &where) {
  auto x = onDevice(device);
  auto start = Clock::now();
  auto y = net.forward(x).index(where);
  print(Clock::now() - start);
}
