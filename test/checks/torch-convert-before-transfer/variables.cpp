// RUN: %check_torch %s torch-convert-before-transfer %t -still-warns
//
// A variable between the two, and other shapes of the same elements.

#include <torch/torch.h>

using torch::Tensor;

struct Segment {
  Tensor counts;
};
static Tensor use(const Tensor &x) { return x * 2; }

static Tensor assignedBack(const Segment &s, torch::Device device, const Tensor &gain) {
  auto wave = s.counts.to(torch::kFloat32);
  wave = wave.to(device) * gain;
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: this tensor is converted to a wider type on the host and moved then: 4 times as many bytes go to the device; move it first and convert it there [torch-convert-before-transfer]
  return wave;
}
static Tensor flattened(const Tensor &bytes, torch::Device device) {
  const auto scaled = bytes.to(torch::kFloat32).div_(255.0);
  return use(scaled.flatten(1).to(device));
  // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: this tensor is converted to a wider type on the host and moved then: 4 times as many bytes go to the device; move it first and convert it there, and compute with it then
}
static Tensor inOne(const Tensor &bytes, torch::Device device) {
  return bytes.to(torch::kFloat32).unsqueeze(0).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:49: warning: this tensor is converted to a wider type on the host
}

// A part of it; used on the host as well, also beside the move.
static Tensor part(const Tensor &bytes, torch::Device device) {
  const auto scaled = bytes.to(torch::kFloat32);
  return scaled.narrow(0, 0, 2).to(device) + bytes.to(torch::kFloat32)[0].to(device);
}
static Tensor onHost(const Tensor &bytes, torch::Device device) {
  const auto scaled = bytes.to(torch::kFloat32).div_(255.0);
  std::cout << scaled.mean();
  return scaled.flatten(1).to(device);
}
static Tensor besideTheMove(const Tensor &bytes, torch::Device device) {
  auto wave = bytes.to(torch::kFloat32);
  wave = wave.to(device) * wave.max().item<float>();
  return wave;
}
static Tensor inLoop(const Tensor &bytes, torch::Device device) {
  auto scaled = bytes.to(torch::kFloat32);
  Tensor sum;
  for (int i = 0; i < 3; ++i)
    sum = scaled.flatten(1).to(device) + i;
  return sum;
}

int main() {
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const auto bytes = torch::randint(0, 255, {100, 3, 640}, torch::kByte);
  const Segment s{bytes};
  const auto gain = torch::ones({3, 640}, device);
  for (int i = 0; i < 10; ++i) {
    std::cout << assignedBack(s, device, gain) << flattened(bytes, device) << inOne(bytes, device);
    std::cout << part(bytes, device) << onHost(bytes, device) << besideTheMove(bytes, device) << inLoop(bytes, device);
  }
}
