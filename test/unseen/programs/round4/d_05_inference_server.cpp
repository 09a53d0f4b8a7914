// Serves two scripted parts one after the other: a detector finds, a ranker scores.
#include <torch/script.h>
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace {
constexpr int64_t kWidth = 96;

struct Frame {
  int64_t rows = 0, columns = 0;
  std::vector<uint8_t> pixels;
  std::vector<double> gains;
};

std::string export_part(const std::string& name, double drop) {
  torch::jit::Module part(name);
  part.register_parameter("w", torch::randn({kWidth, kWidth}) / 10, false);
  part.register_attribute("p", c10::FloatType::get(), drop);
  part.register_attribute("training", c10::BoolType::get(), true);
  part.define(R"JIT(
    def forward(self, x):
      return torch.dropout(torch.tanh(torch.matmul(x, self.w)), self.p, self.training)
  )JIT");
  const auto path = std::filesystem::temp_directory_path() / (name + "_round4.pt");
  part.save(path.string());
  return path.string();
}

class Server {
 public:
  Server(const std::string& detector_path, const std::string& ranker_path, torch::Device device) : device_(device) {
    detector_ = torch::jit::load(detector_path, device_);
    detector_.eval();
    ranker_ = torch::jit::load(ranker_path, device_);
    detector_.eval();  // EXPECT: torch-partial-eval-mode
  }

  float best_score(Frame& frame) {
    torch::NoGradGuard no_grad;
    auto host = ranker_.forward({refine(upload(frame))}).toTensor().to(torch::kCPU, /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
    return host.max().item<float>();
  }

  float mean_score(Frame& frame) {
    torch::NoGradGuard no_grad;
    auto scores = ranker_.forward({upload(frame)}).toTensor();
    auto host = scores.to(torch::kCPU);  // RIGHT: torch-unsynchronized-copy this one blocks
    return host.mean().item<float>();
  }

 private:
  torch::Tensor upload(Frame& frame) {
    auto image = torch::from_blob(frame.pixels.data(), {frame.rows, frame.columns}, torch::kUInt8);  // RIGHT: torch-blob-dtype bytes are read as bytes
    auto input = image.to(torch::kFloat).to(device_);  // EXPECT: torch-convert-before-transfer
    auto gains = torch::from_blob(frame.gains.data(), {frame.columns}).to(device_);  // EXPECT: torch-blob-dtype
    return input * gains;
  }

  torch::Tensor refine(const torch::Tensor& input) {
    auto found = detector_.forward({input}).toTensor();
    auto here = found.to(torch::kCPU);  // EXPECT: torch-device-round-trip
    auto upper = here.slice(0, 0, here.size(0) / 2) * 0.5;
    return upper.to(device_);
  }

  torch::Device device_;
  torch::jit::Module detector_, ranker_;
};

class Stereo {
 public:
  Stereo(const std::string& path, torch::Device device) : device_(device) {
    left_ = torch::jit::load(path, device_);
    right_ = torch::jit::load(path, device_);
    left_.eval();
    right_.eval();  // RIGHT: torch-partial-eval-mode each part gets its own
  }

  int64_t bright(Frame& frame, float threshold) {
    torch::NoGradGuard no_grad;
    auto image = torch::from_blob(frame.pixels.data(), {frame.rows, frame.columns}, torch::kUInt8);  // RIGHT: torch-blob-lifetime the frame outlives the call
    auto input = image.to(device_).to(torch::kFloat);  // RIGHT: torch-convert-before-transfer bytes are sent
    auto gains = torch::from_blob(frame.gains.data(), {frame.columns}, torch::kDouble).to(torch::kFloat);  // RIGHT: torch-blob-dtype doubles are read as doubles
    auto both = left_.forward({input}).toTensor() + right_.forward({input * gains.to(device_)}).toTensor();
    auto here = both.to(torch::kCPU);  // RIGHT: torch-device-round-trip the host reads the numbers
    auto cells = here.accessor<float, 2>();
    int64_t count = 0;
    for (int64_t r = 0; r < cells.size(0); ++r)
      for (int64_t c = 0; c < cells.size(1); ++c) count += cells[r][c] > threshold;
    return count;
  }

 private:
  torch::Device device_;
  torch::jit::Module left_, right_;
};

struct Latency {
  double queued = 0, done = 0;
};

Latency measure(const torch::Tensor& sample, const torch::Tensor& weights, torch::Device device, int rounds) {
  using Clock = std::chrono::steady_clock;
  Latency latency;
  auto x = sample.to(device), w = weights.to(device);
  const auto begin = Clock::now();
  for (int i = 0; i < rounds; ++i) x = x.matmul(w);
  const auto end = Clock::now();  // EXPECT: torch-timing-without-sync
  latency.queued = std::chrono::duration<double>(end - begin).count();

  const auto again = Clock::now();
  for (int i = 0; i < rounds; ++i) x = x.matmul(w);
  const float sum = x.sum().item<float>();
  const auto finish = Clock::now();  // RIGHT: torch-timing-without-sync item() has waited
  latency.done = std::chrono::duration<double>(finish - again).count() + 0 * sum;
  return latency;
}

Frame capture(int number) {
  Frame frame;
  frame.rows = 64;
  frame.columns = kWidth;
  for (int64_t i = 0; i < frame.rows * frame.columns; ++i) frame.pixels.push_back(uint8_t(i * (number + 3)));
  for (int64_t i = 0; i < frame.columns; ++i) frame.gains.push_back(1.0 / (1 + i));
  return frame;
}
}  // namespace

int main() {
  torch::manual_seed(9);
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  const auto detector = export_part("detector", 0.2), ranker = export_part("ranker", 0.3);
  Server server(detector, ranker, device);
  Stereo stereo(ranker, device);
  for (int number = 0; number < 20; ++number) {
    auto frame = capture(number);
    const float best = server.best_score(frame), mean = server.mean_score(frame);
    if (number % 5 == 0) std::cout << best << ' ' << mean << ' ' << stereo.bright(frame, 0.5f) << '\n';
  }
  const auto latency = measure(torch::rand({kWidth, kWidth}), torch::eye(kWidth), device, 30);
  std::cout << (latency.queued >= 0) << (latency.done >= 0) << '\n';
  std::remove(detector.c_str());
  std::remove(ranker.c_str());
}
