// RUN: %check_torch %s torch-timing-without-sync %t
//
// A helper takes the difference: of both readings, or of one and its own.

#include <torch/torch.h>
#include <chrono>

using torch::Tensor;
using Clock = std::chrono::steady_clock;

struct Net : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  Net() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  Tensor forward(Tensor x) { return torch::relu(fc(x)); }
};

static double millis(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}
static double since(const Clock::time_point &begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

static double latency(Net &net, const Tensor &x, int runs) {
  torch::NoGradGuard no_grad;
  const auto start = Clock::now();
  for (int i = 0; i < runs; ++i)
    net.forward(x);
  const auto end = Clock::now();
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: the clock is read when the work has been given to the device, and not when it is done: on CUDA the time is that of enqueueing it; wait before, with 'torch::cuda::synchronize()' if 'torch::cuda::is_available()' [torch-timing-without-sync]
  return millis(start, end) / runs;
}
static double inReturn(Net &net, const Tensor &x) {
  const auto start = Clock::now();
  net.forward(x);
  return millis(start, Clock::now());
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: the clock is read when the work has been given to the device
}
static double elapsed(Net &net, const Tensor &x) {
  const auto start = Clock::now();
  net.forward(x);
  return since(start);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: the clock is read when the work has been given to the device
}

// Somebody waits; no work lies between; another helper's readings.
static double waits(Net &net, const Tensor &x) {
  const auto start = Clock::now();
  const auto y = net.forward(x).cpu();
  const auto end = Clock::now();
  return millis(start, end) + y.size(0);
}
static double ofFiles(Net &net, const Tensor &x) {
  net.forward(x);
  const auto start = Clock::now();
  std::cout << "files\n";
  return millis(start, Clock::now());
}
// It decides how many more there are.
static int adaptive(Net &net, const Tensor &x) {
  const auto start = Clock::now();
  net.forward(x);
  const double time = millis(start, Clock::now());
  return time > 10 ? 1 : 8;
}

int main() {
  Net net;
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  net.to(device);
  auto x = torch::rand({8, 4}, device);
  std::cout << latency(net, x, 8) << inReturn(net, x) << elapsed(net, x) << waits(net, x) << ofFiles(net, x);
  for (int i = 0; i < adaptive(net, x); ++i)
    net.forward(x);
}
