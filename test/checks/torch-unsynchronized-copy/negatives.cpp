// RUN: %check_torch %s torch-unsynchronized-copy %t
//
// Somebody waits, may wait, or has nothing to wait for.

#include <torch/torch.h>

#include <c10/core/Event.h>
#include <future>
#include <vector>

using torch::Tensor;
void give(Tensor);
void finish();
extern "C" int cudaDeviceSynchronize();

float synchronized(const Tensor &x) {
  auto host = x.to(torch::kCPU, true);
  torch::cuda::synchronize();
  return host.item<float>();
}
float onlyWithCuda(const Tensor &x) {
  auto host = x.to(torch::kCPU, true);
  if (torch::cuda::is_available())
    torch::cuda::synchronize();
  return host.item<float>();
}
float byRuntime(const Tensor &x) {
  auto host = x.to(torch::kCPU, true);
  cudaDeviceSynchronize();
  return host.item<float>();
}
static void waitForAll() { cudaDeviceSynchronize(); }
float byHelper(const Tensor &x) {
  auto host = x.to(torch::kCPU, true);
  waitForAll();
  return host.item<float>();
}
// Code that is not seen.
float unseen(const Tensor &x) {
  auto host = x.to(torch::kCPU, true);
  finish();
  return host.item<float>();
}
float byEvent(const Tensor &x, c10::Event &event) {
  auto host = x.to(torch::kCPU, true);
  while (!event.query())
    continue;
  return host.item<float>();
}
float byThread(const Tensor &x, std::future<void> &done) {
  auto host = x.to(torch::kCPU, true);
  done.get();
  return host.item<float>();
}
// Another number of the same stream is waited for.
float later(const Tensor &x) {
  auto there = x.to(torch::kCUDA);
  auto host = there.to(torch::kCPU, true);
  const float first = there.sum().item<float>();
  return first + host.item<float>();
}
// All are started, then one wait.
double all(const std::vector<Tensor> &batches) {
  std::vector<Tensor> host;
  for (const Tensor &batch : batches)
    host.push_back(batch.to(torch::kCUDA).to(torch::kCPU, true));
  torch::cuda::synchronize();
  double sum = 0;
  for (const Tensor &each : host)
    sum += each.sum().item<double>();
  return sum;
}
// The one before is read, after the wait.
double pipeline(const std::vector<Tensor> &batches) {
  Tensor last;
  double sum = 0;
  for (const Tensor &batch : batches) {
    Tensor next = batch.to(torch::kCPU, true);
    torch::cuda::synchronize();
    if (last.defined())
      sum += last.sum().item<double>();
    last = next;
  }
  return sum;
}
// It waits by itself.
float blocking(const Tensor &x) { return x.to(torch::kCPU, false).item<float>() + x.to(torch::kCPU).item<float>(); }
// From the CPU to the CPU, or to the device, which does it in order.
float nothingToDo() { return torch::ones({1}).to(torch::kCPU, true).item<float>(); }
float toDevice(const Tensor &x) { return x.to(torch::kCUDA, true).sum().item<float>(); }
float unknownFlag(const Tensor &x, bool flag) { return x.to(torch::kCPU, flag).item<float>(); }
// Into memory that is not pinned the host waits.
double pageable(const Tensor &x) {
  Tensor buffer = torch::empty({64});
  buffer.copy_(x.to(torch::kCUDA), true);
  return buffer.sum().item<double>();
}
// Not read here: handed out, asked for its size, moved back.
Tensor returned(const Tensor &x) { return x.to(torch::kCPU, true); }
void given(const Tensor &x) { give(x.to(torch::kCPU, true)); }
int64_t size(const Tensor &x) { return x.to(torch::kCPU, true).view({-1}).size(0); }
Tensor back(const Tensor &x) { return x.to(torch::kCPU, true).to(torch::kCUDA, true); }
// The pointer is taken before the wait and read after it.
float pointer(const Tensor &x) {
  auto host = x.to(torch::kCPU, true);
  const float *data = host.data_ptr<float>();
  torch::cuda::synchronize();
  return data[0];
}
// What gets it waits, or may: it is called through a pointer, another file
// overrides it.
static float late(const float *at) {
  torch::cuda::synchronize();
  return at[0];
}
struct Sink {
  virtual ~Sink() = default;
  virtual float take(const float *at) { return at[0]; }
};
float byFunction(const Tensor &x) {
  auto host = x.to(torch::kCPU, true);
  const float *data = host.data_ptr<float>();
  return late(data);
}
float bySink(const Tensor &x, Sink &sink) {
  auto host = x.to(torch::kCPU, true);
  const float *data = host.data_ptr<float>();
  return sink.take(data);
}
float byCallback(const Tensor &x, float (*take)(const float *)) {
  auto host = x.to(torch::kCPU, true);
  const float *data = host.data_ptr<float>();
  return take(data);
}

// Pinned, or not, for a reason that has nothing to do with the device.
float chosen(const Tensor &scores, torch::Device device, bool pin) {
  auto host = torch::empty({8}, torch::TensorOptions().pinned_memory(pin));
  host.copy_(scores.to(device), /*non_blocking=*/true);
  return host.data_ptr<float>()[0];
}
