// RUN: %check_torch %s torch-unsynchronized-copy %t
//
// The host reads a copy that nobody has waited for.

#include <torch/torch.h>

#include <iostream>
#include <vector>

using torch::Tensor;

float item(const Tensor &x) {
  auto host = x.to(torch::kCPU, /*non_blocking=*/true);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'to' returns before the device has written the copy (non_blocking), and the host reads it without waiting: what it gets may be old or half written; leave non_blocking out, or call torch::cuda::synchronize() before the reading
  // CHECK-MESSAGES: :[[@LINE+2]]:15: note: it is read here
  // CHECK-FIXES: auto host = x.to(torch::kCPU, /*non_blocking=*/false);
  return host.item<float>();
}

// A view is of the same memory, and a sum reads it.
double part() {
  auto x = torch::ones({8, 8}, torch::kCUDA);
  auto rows = x.to(torch::kCPU, true).slice(0, 0, 4);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'to' returns before
  // CHECK-FIXES: auto rows = x.to(torch::kCPU, false).slice(0, 0, 4);
  return rows.sum().item<double>();
}

void print(const Tensor &x, torch::Device device) {
  auto there = (x * 2).to(device);
  auto host = there.to(torch::TensorOptions(torch::kCPU), true);
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'to' returns before
  // CHECK-FIXES: auto host = there.to(torch::TensorOptions(torch::kCPU), false);
  std::cout << host << '\n';
}

// The pointer is used at once: nothing waits any more.
std::vector<float> values(const Tensor &x) {
  Tensor host = x.to(torch::kCPU, torch::kFloat, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'to' returns before
  // CHECK-MESSAGES: :[[@LINE+2]]:29: note: the memory is handed out here
  // CHECK-FIXES: Tensor host = x.to(torch::kCPU, torch::kFloat, false);
  const float *begin = host.data_ptr<float>();
  return std::vector<float>(begin, begin + host.numel());
}

// Pinned memory that is used again and again.
double buffered(const std::vector<Tensor> &batches) {
  Tensor buffer = torch::empty({64}).pin_memory();
  double sum = 0;
  for (const Tensor &batch : batches) {
    buffer.copy_(batch.to(torch::kCUDA), /*non_blocking=*/true);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'copy_' returns before
    // CHECK-FIXES: buffer.copy_(batch.to(torch::kCUDA), /*non_blocking=*/false);
    sum += buffer.mean().item<double>();
  }
  return sum;
}

// In a member, by another function.
struct Server {
  Tensor result;
  void fetch(const Tensor &x) { result = x.to(torch::kCPU, true); }
  // CHECK-MESSAGES: :[[@LINE-1]]:44: warning: 'to' returns before
  // CHECK-FIXES: void fetch(const Tensor &x) { result = x.to(torch::kCPU, false); }
  float answer(const Tensor &x) {
    fetch(x);
    return result[0].item<float>();
  }
};

template <class T> T largest(const Tensor &x) {
  auto read = [](const Tensor &host) { return host.max().item<T>(); };
  return read(x.to(torch::kCPU, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'to' returns before
  // CHECK-FIXES: return read(x.to(torch::kCPU, false));
}
template float largest<float>(const Tensor &);

// A check of LibTorch's between the two waits for nothing.
float checked(const Tensor &x) {
  auto host = x.to(torch::kCPU, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'to' returns before
  // CHECK-FIXES: auto host = x.to(torch::kCPU, false);
  TORCH_CHECK(host.dim() == 1, "one row");
  return host[0].item<float>();
}

// Nor does the function of the file that gets the pointer.
static float scaled(const float *at) { return 2 * at[0]; }
float byPointer(const Tensor &x) {
  auto host = x.to(torch::kCPU, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'to' returns before
  // CHECK-FIXES: auto host = x.to(torch::kCPU, false);
  const float *data = host.data_ptr<float>();
  float sum = 0;
  for (int64_t i = 0; i < host.numel(); ++i)
    sum += scaled(data + i);
  return sum;
}

// Pinned wherever there is a device, behind a pointer.
struct Monitor {
  explicit Monitor(torch::Device device) : device(device) {
    host = std::make_unique<Tensor>(torch::empty(
        {8}, torch::TensorOptions().pinned_memory(device.is_cuda())));
  }
  float tell(const Tensor &scores) {
    host->copy_(scores.to(device), /*non_blocking=*/true);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'copy_' returns before
    // CHECK-FIXES: host->copy_(scores.to(device), /*non_blocking=*/false);
    return host->data_ptr<float>()[0];
  }
  torch::Device device;
  std::unique_ptr<Tensor> host;
};
float tellOne(const Tensor &scores, torch::Device device) {
  Monitor monitor(device);
  return monitor.tell(scores);
}
