#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int64_t kSide = 64;

class Sensor {
 public:
  Sensor() : bytes_(kSide * kSide) {}
  uint8_t* memory() { return bytes_.data(); }
  void expose() {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      seed_ = seed_ * 1664525u + 1013904223u;
      bytes_[i] = static_cast<uint8_t>((seed_ >> 24) / 2 + 100 * ((i + shots_) % 7 == 0));
    }
    ++shots_;
  }

 private:
  std::vector<uint8_t> bytes_;
  uint32_t seed_ = 12345;
  unsigned shots_ = 0;
};

double brightness(Sensor& sensor, int shots) {
  auto window = torch::from_blob(sensor.memory(), {kSide, kSide}, torch::kUInt8);
  double sum = 0;
  for (int shot = 0; shot < shots; ++shot) {  // AT shots
    sensor.expose();
    // PLANT innocent torch-repeated-transfer/converts loop=shots: the sensor writes another picture into this memory each time
    auto picture = window.to(torch::kFloat32);
    sum += picture.div_(255).mean().item<double>();
  }
  return sum / shots;
}

double blend(Sensor& sensor, int shots) {
  sensor.expose();
  auto before = torch::from_blob(sensor.memory(), {kSide, kSide}, torch::kUInt8).clone();
  double sum = 0;
  for (int shot = 0; shot < shots; ++shot) {  // AT blends
    sensor.expose();
    auto now = torch::from_blob(sensor.memory(), {kSide, kSide}, torch::kUInt8).clone();
    // PLANT true torch-discarded-result/conversion loop=blends: the sum below stays in bytes and wraps around
    now.to(torch::kInt32);
    auto both = now + before;
    sum += both.to(torch::kFloat64).mean().item<double>();
    before = now;
  }
  return sum / shots;
}

double motion(int frames) {
  torch::Tensor last;
  double moved = 0;
  for (int f = 0; f < frames; ++f) {  // AT frames
    // PLANT innocent torch-allocation-in-loop/same-shape loop=frames: the next frame is compared with this one
    auto canvas = torch::zeros({kSide, kSide});
    const int64_t at = (f * 5) % (kSide - 8);
    canvas.narrow(0, at, 8).narrow(1, (at * 3) % (kSide - 8), 8).fill_(1 + 0.1 * f);
    if (last.defined()) moved += (canvas - last).abs().sum().item<double>();
    last = canvas;
  }
  return moved / frames;
}

double mosaic(int tiles) {
  const std::vector<int64_t> heights = {32, 64, 128};
  double sum = 0;
  for (int n = 0; n < tiles; ++n) {  // AT tiles
    const int64_t rows = heights[n % heights.size()];
    // PLANT innocent torch-allocation-in-loop/same-shape loop=tiles: tiles are wide, square or high in turn
    auto tile = torch::zeros({rows, 4096 / rows});
    tile.diagonal().add_(n + 1.0);
    tile.select(0, n % rows).add_(0.5);
    sum += tile.sum(0).max().item<double>();
  }
  return sum;
}

int count_peaks(const torch::Tensor& profile, float level) {
  int peaks = 0;
  float left = 0;
  for (int64_t i = 0; i < profile.numel(); ++i) {  // AT profile
    // PLANT true torch-element-access-in-loop/reads loop=profile: the values of one tensor are fetched one at a time
    const auto value = profile[i].item<float>();
    if (value > level && left <= level) ++peaks;
    left = value;
  }
  return peaks;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  Sensor sensor;
  std::printf("brightness %.5f\n", brightness(sensor, 60));
  std::printf("blend %.5f\n", blend(sensor, 50));
  std::printf("motion %.5f\n", motion(64));
  std::printf("mosaic %.5f\n", mosaic(60));
  auto line = torch::sin(torch::arange(400, torch::kFloat32) * 0.15) + 0.1 * torch::randn({400});
  std::printf("peaks %d\n", count_peaks(line, 0.5f));
  return 0;
}
