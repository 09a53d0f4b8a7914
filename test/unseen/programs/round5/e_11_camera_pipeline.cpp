// A camera pipeline: frames from a ring of byte buffers go through a detector on the GPU.
#include <ATen/DeviceAccelerator.h>
#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <optional>
#include <vector>

namespace {

constexpr int64_t kHigh = 64, kWide = 80;

struct Frame {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(kHigh * kWide * 3, 90);
  torch::Tensor view() { return torch::from_blob(bytes.data(), {kHigh, kWide, 3}, torch::kUInt8); }  // RIGHT: torch-blob-lifetime (a member's memory)
};

torch::nn::Sequential detector(torch::Device device) {
  torch::nn::Sequential net(torch::nn::Conv2d(3, 4, 3), torch::nn::ReLU());
  net->to(device);
  net->eval();
  return net;
}

torch::Tensor upload(std::vector<uint8_t>& bytes, torch::Device device) {
  auto raw = torch::from_blob(bytes.data(), {kHigh, kWide, 3}, torch::kUInt8);
  return raw.to(torch::kFloat).to(device);  // EXPECT: torch-convert-before-transfer
}

torch::Tensor uploadBytes(std::vector<uint8_t>& bytes, torch::Device device) {
  auto raw = torch::from_blob(bytes.data(), {kHigh, kWide, 3}, torch::kUInt8);
  return raw.to(device).to(torch::kFloat);  // RIGHT: torch-convert-before-transfer (the bytes go first)
}

torch::Tensor normalized(Frame& frame) {
  auto raw = torch::from_blob(frame.bytes.data(), {kHigh, kWide, 3}, torch::kUInt8);
  return raw.clone().to(torch::kFloat32);  // EXPECT: torch-redundant-transfer
}

std::vector<torch::Tensor> grab(int n) {
  std::vector<torch::Tensor> rows;
  for (int i = 0; i < n; ++i) rows.push_back(torch::rand({3, kHigh, kWide}));
  return rows;
}

float brightest(torch::nn::Sequential& net, int batches, torch::Device device) {
  torch::NoGradGuard off;
  float best = 0;
  for (int b = 0; b < batches; ++b) {
    std::vector<torch::Tensor> rows;
    for (int k = 0; k < 4; ++k) rows.push_back(torch::rand({3, kHigh, kWide}));
    auto pile = torch::stack(rows);
    auto maps = net->forward(pile.to(device, /*non_blocking=*/true));  // EXPECT: torch-pageable-transfer
    auto host = maps.to(torch::kCPU, /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
    best = std::max(best, host.max().item<float>());
  }
  return best;
}

float brightestWaiting(torch::nn::Sequential& net, int batches, torch::Device device) {
  torch::NoGradGuard off;
  float best = 0;
  const auto gains = torch::tensor({0.9f, 1.f, 1.1f, 1.f}).view({4, 1, 1, 1}).to(device, true);  // RIGHT: torch-pageable-transfer (a few bytes, once)
  for (int b = 0; b < batches; ++b) {
    auto maps = net->forward(torch::stack(grab(4)).to(device) * gains);
    auto host = maps.to(torch::kCPU, true);  // RIGHT: torch-unsynchronized-copy (waits below)
    if (torch::cuda::is_available()) torch::cuda::synchronize();
    best = std::max(best, host.max().item<float>());
    if (b % 100 == 99) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop (every so many)
  }
  return best;
}

torch::Tensor crops(torch::nn::Sequential& net, const std::vector<torch::Tensor>& frames, torch::Device device) {
  torch::NoGradGuard off;
  auto sum = torch::zeros({}, device);
  for (const auto& f : frames) {
    auto maps = net->forward(f.to(device));
    auto local = maps.cpu();  // EXPECT: torch-device-round-trip
    auto part = local.slice(2, 0, 32).mul(0.5);
    sum += part.to(device).mean();
  }
  return sum.cpu();
}

torch::Tensor counted(torch::nn::Sequential& net, const std::vector<torch::Tensor>& frames, torch::Device device) {
  torch::NoGradGuard off;
  auto sum = torch::zeros({}, device);
  for (const auto& f : frames) {
    auto maps = net->forward(f.to(device));
    auto local = maps.cpu();  // RIGHT: torch-device-round-trip (the host reads the numbers)
    auto part = local.slice(2, 0, 32).mul(local.max().item<float>());
    sum += part.to(device).mean();
  }
  return sum.cpu();
}

std::array<torch::Tensor, 2> project(torch::nn::Sequential& net, int shots, torch::Device device) {
  torch::NoGradGuard off;
  const auto basis = torch::rand({kWide, 128}, device);
  auto low = torch::zeros({}, device), high = torch::zeros({}, device);
  for (int s = 0; s < shots; ++s) {
    auto shot = torch::rand({3, 96, 128}, device);
    auto centred = shot.div(255.0).sub(0.5).clamp(-1, 1);  // EXPECT: torch-inplace-opportunity
    auto turned = basis.t().contiguous();  // EXPECT: torch-noncontiguous-operand
    low += centred.matmul(turned).mean();
    auto own = shot[0].t().contiguous();  // RIGHT: torch-noncontiguous-operand (another tensor in each iteration)
    high += own.mm(shot[1]).mean();
    if (torch::cuda::is_available()) at::accelerator::emptyCache();  // EXPECT: torch-empty-cache-in-loop
  }
  return {low, high};
}

}  // namespace

int main() {
  torch::manual_seed(14);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  auto net = detector(device);
  std::vector<Frame> ring(4);
  double mean = 0;
  for (auto& frame : ring)
    mean += upload(frame.bytes, device).mean().item<double>() + uploadBytes(frame.bytes, device).mean().item<double>() +
            normalized(frame).mean().item<double>() + frame.view().size(0);
  const auto frames = grab(3);
  std::cout << mean << ' ' << brightest(net, 5, device) << ' ' << brightestWaiting(net, 5, device) << ' '
            << crops(net, frames, device).item<float>() << ' ' << counted(net, frames, device).item<float>() << ' '
            << project(net, 20, device)[0].item<float>() << '\n';
}
