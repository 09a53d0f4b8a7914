// Frames are shaded on a device, shown on the host, and encoded from memory of a runtime.

#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <map>

// Stands in for a runtime of the device.
static std::map<void*, size_t> given_memory;

static int cudaMalloc(float** memory, size_t bytes) {
  *memory = static_cast<float*>(std::calloc(bytes, 1));
  given_memory[*memory] = bytes;
  return *memory == nullptr ? 1 : 0;
}

static int cudaFree(void* memory) {
  given_memory.erase(memory);
  std::free(memory);
  return 0;
}

namespace {

constexpr int64_t kSide = 128;

struct Shader {
  torch::Tensor mask = torch::ones({kSide, kSide}).tril();
  double gain = 0.8;

  void place(const torch::Device& device) { mask = mask.to(device); }

  torch::Tensor shade(const torch::Tensor& image) const {
    // PLANT innocent torch-device-mismatch/operands loop=F: place() has moved the mask
    return image * mask * gain;
  }
};

torch::Tensor prepare(const torch::Tensor& frame) {
  torch::NoGradGuard no_grad;
  // PLANT true torch-inplace-opportunity/chain loop=F: two tensors are made only to be gone on with
  auto input = frame.div(255.0).sub(0.5).clamp(-0.4, 0.4);
  return input;
}

torch::Tensor borrow(int64_t count) {
  float* memory = nullptr;
  // PLANT innocent torch-untracked-cuda-memory/blob loop=F: the deleter frees it
  cudaMalloc(&memory, static_cast<size_t>(count) * sizeof(float));
  return torch::from_blob(memory, {count}, [](void* owned) { cudaFree(owned); });
}

torch::Tensor brighten(const torch::Tensor& image, const torch::Device& device) {
  // PLANT true torch-device-round-trip/computed loop=F also=T needs=cuda: the device could do the arithmetic
  auto host = image.to(torch::kCPU);
  host = (host + 0.5).narrow(0, 0, kSide / 2) * 2;
  return host.to(device);  // AT T
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const torch::Device host(torch::kCPU);

  Shader shader;
  shader.place(device);
  const auto film = torch::randint(256, {44, kSide, kSide}).to(torch::kFloat);
  double shown = 0;
  double encoded = 0;
  int here = 0;
  int odd = 0;
  for (int64_t i = 0; i < film.size(0); ++i) {  // AT F
    auto frame = prepare(film[i]);
    if (i % 11 == 10)
      frame = frame.narrow(1, 0, kSide - 1);
    // PLANT innocent torch-device-comparison/no-index loop=F: tensors of the host have no index either
    if (frame.device() == host)
      ++here;
    // PLANT true torch-allocate-on-device/moved-at-once loop=F needs=cuda: the zeros could be made on the device
    auto canvas = torch::zeros({kSide, kSide}).to(device);
    try {
      canvas += shader.shade(frame.to(device));
    } catch (const c10::Error&) {
      ++odd;
    }
    const auto bright = brighten(canvas, device);
    // PLANT true torch-unsynchronized-copy/unwaited loop=F also=S needs=cuda: the sum is read before the copy is there
    const auto screen = bright.to(torch::kCPU, /*non_blocking=*/true);
    shown += screen.sum().item<double>();  // AT S

    auto buffer = borrow(kSide);
    buffer.add_(film[i][0]);
    encoded += buffer.mean().item<double>();
  }
  std::cout << "shown " << shown << " encoded " << encoded << " here " << here << " odd " << odd << " not freed "
            << given_memory.size() << '\n';
  return 0;
}
