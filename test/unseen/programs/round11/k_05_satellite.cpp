// satseg: land cover from satellite images.
//
//   satseg [train|eval|tile|spectra|bench|all] [--amp] [--device NAME] [--epochs N]
//
// Without a subcommand all of them run one after the other on a synthetic scene.
#include <ATen/DeviceAccelerator.h>
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace satseg {

using Clock = std::chrono::steady_clock;

constexpr int64_t kBands = 4;
constexpr int64_t kClasses = 5;
constexpr int64_t kTile = 32;

struct Args {
  std::string command = "all";
  bool amp = false;
  int epochs = 3;
  int64_t batch = 16;
  int64_t scene_side = 256;
  int64_t samples = 160;
  torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
};

struct Statistics {
  torch::Tensor mean;
  torch::Tensor deviation;
};

// Samples in host memory: reflectance as 16-bit counts, labels as bytes.
struct Samples {
  torch::Tensor images;
  torch::Tensor labels;
};

struct SegNetImpl : torch::nn::Module {
  SegNetImpl() {
    using Conv = torch::nn::Conv2dOptions;
    stem = register_module("stem", torch::nn::Conv2d(Conv(kBands, 12, 3).padding(1).bias(false)));
    norm = register_module("norm", torch::nn::BatchNorm2d(12));
    down = register_module("down", torch::nn::Conv2d(Conv(12, 24, 3).padding(1).stride(2)));
    up = register_module("up", torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(24, 12, 2).stride(2)));
    head = register_module("head", torch::nn::Conv2d(Conv(24, kClasses, 1)));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto fine = norm->forward(stem->forward(x)).relu_();
    auto coarse = up->forward(down->forward(fine).relu_());
    return head->forward(torch::cat({fine, coarse}, 1));
  }

  torch::nn::Conv2d stem{nullptr}, down{nullptr}, head{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::nn::ConvTranspose2d up{nullptr};
};
TORCH_MODULE(SegNet);

struct Session {
  Args args;
  SegNet net;
  torch::Tensor scene;
  Statistics statistics;
  Samples train;
  Samples test;
};

// Autocast for as long as the object lives, for prediction.
class AutocastScope {
 public:
  AutocastScope(torch::DeviceType type, bool on) : type_(type), before_(at::autocast::is_autocast_enabled(type)) {
    at::autocast::set_autocast_enabled(type_, on);
  }
  ~AutocastScope() {
    at::autocast::set_autocast_enabled(type_, before_);
    at::autocast::clear_cache();  // RIGHT: torch-autocast-cache
  }

 private:
  torch::DeviceType type_;
  bool before_;
};

void wait_for(const torch::Device& device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
}

double milliseconds(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

// Counts of a scene as the ground station delivers them: [bands, side, side].
torch::Tensor read_scene(int64_t side, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> noise(0.0f, 60.0f);
  auto counts = std::make_shared<std::vector<int16_t>>(static_cast<size_t>(kBands * side * side));
  for (int64_t i = 0; i < kBands * side * side; ++i) {
    const int64_t band = i / (side * side), y = i / side % side, x = i % side;
    const int64_t cover = (y / 24 + x / 24) % kClasses;
    (*counts)[static_cast<size_t>(i)] = static_cast<int16_t>(800 + 350 * ((cover + band) % kClasses) + noise(rng));
  }
  return torch::from_blob(counts->data(), {kBands, side, side}, [counts](void*) {}, torch::kInt16);  // RIGHT: torch-blob-lifetime
}

Statistics measure(const torch::Tensor& scene) {
  auto values = scene.to(torch::kFloat32);
  return {values.mean({1, 2}, /*keepdim=*/true), values.std({1, 2}, true, true)};
}

torch::Tensor cut_tiles(const torch::Tensor& scene) {
  auto grid = scene.unfold(1, kTile, kTile).unfold(2, kTile, kTile);
  return grid.permute({1, 2, 0, 3, 4}).reshape({-1, scene.size(0), kTile, kTile});
}

Samples draw_samples(const torch::Tensor& scene, int64_t count, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_int_distribution<int64_t> place(0, scene.size(1) - kTile - 1);
  std::vector<torch::Tensor> images, labels;
  auto line = torch::arange(scene.size(1)).div_(24, "floor");
  auto cover = (line.unsqueeze(1) + line).remainder_(kClasses).to(torch::kUInt8);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t y = place(rng), x = place(rng);
    images.push_back(scene.narrow(1, y, kTile).narrow(2, x, kTile));  // RIGHT: torch-view-pins-storage
    labels.push_back(cover.narrow(0, y, kTile).narrow(1, x, kTile));
  }
  return {torch::stack(images), torch::stack(labels)};
}

// Counts on the device become the input of the network.
torch::Tensor to_input(const torch::Tensor& counts, const Statistics& statistics) {
  auto values = counts.to(torch::kFloat32);
  return values.sub_(statistics.mean).div_(statistics.deviation);  // EXPECT: torch-device-mismatch
}

torch::Tensor predict(SegNet& net, const torch::Tensor& input, const torch::Tensor& smoothing, bool amp) {
  torch::Tensor scores;
  {
    AutocastScope scope(input.device().type(), amp);
    scores = net->forward(input);  // RIGHT: torch-missing-no-grad
  }
  return torch::conv2d(scores, smoothing, {}, 1, 1, 1, kClasses);  // EXPECT: torch-autocast-boundary
}

torch::Tensor smoothing_kernel(const torch::Device& device) {
  auto kernel = torch::full({kClasses, 1, 3, 3}, 1.0 / 16.0, torch::TensorOptions().device(device));
  kernel.select(2, 1).select(2, 1).fill_(0.5);
  return kernel;
}

// ---------------------------------------------------------------- subcommands

int train(Session& s) {
  const Args& args = s.args;
  const auto type = args.device.type();
  torch::optim::AdamW optimizer(s.net->parameters(), torch::optim::AdamWOptions(4e-3));
  auto sum = torch::zeros({}, torch::TensorOptions().device(args.device));
  const auto smoothing = torch::tensor(0.05f);
  for (int epoch = 0; epoch < args.epochs; ++epoch) {
    s.net->train();
    sum.zero_();
    wait_for(args.device);
    const auto begin = Clock::now();
    int64_t batches = 0;
    for (const auto& rows : torch::randperm(s.train.images.size(0)).split(args.batch)) {
      auto counts = s.train.images.index_select(0, rows).to(args.device, /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
      auto labels = s.train.labels.index_select(0, rows).to(args.device).to(torch::kLong);
      auto input = to_input(counts, s.statistics);
      optimizer.zero_grad();
      at::autocast::set_autocast_enabled(type, args.amp);  // EXPECT: torch-autocast-cache
      auto scores = s.net->forward(input);
      at::autocast::set_autocast_enabled(type, false);
      auto loss = torch::nn::functional::cross_entropy(scores.to(torch::kFloat32), labels);  // RIGHT: torch-autocast-boundary
      auto spread = scores.square().mean() * smoothing;  // RIGHT: torch-device-mismatch
      (loss + spread).backward();
      optimizer.step();
      sum.add_(loss.detach());
      ++batches;
    }
    wait_for(args.device);
    const auto end = Clock::now();  // RIGHT: torch-timing-without-sync
    std::printf("epoch %d  loss %.4f  %.0f ms\n", epoch, sum.item<double>() / batches, milliseconds(begin, end));
  }
  if (args.device.is_cuda()) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop
  return 0;
}

int evaluate(Session& s) {
  const Args& args = s.args;
  torch::NoGradGuard no_grad;
  s.net->eval();
  const auto smoothing = smoothing_kernel(args.device);
  auto confusion = torch::zeros({kClasses * kClasses}, torch::TensorOptions().dtype(torch::kLong).device(args.device));
  for (int64_t at = 0; at < s.test.images.size(0); at += args.batch) {
    auto counts = s.test.images.slice(0, at, at + args.batch).to(args.device);
    auto labels = s.test.labels.slice(0, at, at + args.batch).to(args.device).to(torch::kLong);
    auto found = predict(s.net, to_input(counts, s.statistics), smoothing, args.amp).argmax(1);
    confusion.add_(torch::bincount(labels.mul_(kClasses).add_(found).flatten(), {}, kClasses * kClasses));
  }
  auto host = confusion.view({kClasses, kClasses}).to(torch::kCPU, /*non_blocking=*/true);  // RIGHT: torch-unsynchronized-copy
  wait_for(args.device);
  const int64_t classes = host.size(0);  // RIGHT: torch-transfer-for-metadata
  const int64_t* cell = host.data_ptr<int64_t>();
  double total = 0.0;
  for (int64_t c = 0; c < classes; ++c) {
    int64_t row = 0, column = 0;
    for (int64_t k = 0; k < classes; ++k) {
      row += cell[c * classes + k];
      column += cell[k * classes + c];
    }
    const int64_t both = cell[c * classes + c];
    total += static_cast<double>(both) / static_cast<double>(std::max<int64_t>(row + column - both, 1));
  }
  std::printf("mean intersection over union %.4f\n", total / classes);
  return 0;
}

// Copies the masks of some tiles to their places in the mosaic.
void paste(std::vector<uint8_t>& mosaic, int64_t width, const uint8_t* mask, int64_t first, int64_t count, int64_t side) {
  const int64_t across = width / side;
  for (int64_t t = 0; t < count; ++t) {
    const int64_t y = (first + t) / across * side, x = (first + t) % across * side;
    for (int64_t row = 0; row < side; ++row) {
      std::memcpy(&mosaic[static_cast<size_t>((y + row) * width + x)], mask + (t * side + row) * side, side);
    }
  }
}

int tile(Session& s) {
  const Args& args = s.args;
  torch::NoGradGuard no_grad;
  s.net->eval();
  const auto smoothing = smoothing_kernel(args.device);
  auto tiles = cut_tiles(s.scene);
  if (args.device.is_cuda()) tiles = tiles.pin_memory();
  std::vector<uint8_t> mosaic(static_cast<size_t>(s.scene.size(1) * s.scene.size(2)));
  for (int64_t at = 0; at < tiles.size(0); at += args.batch) {
    const int64_t count = std::min(args.batch, tiles.size(0) - at);
    auto counts = tiles.slice(0, at, at + count).to(args.device, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer
    auto scores = predict(s.net, to_input(counts, s.statistics), smoothing, args.amp);
    const int64_t side = scores.to(torch::kCPU).size(3);  // EXPECT: torch-transfer-for-metadata
    auto mask = scores.argmax(1).to(torch::kUInt8).to(torch::kCPU, /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
    paste(mosaic, s.scene.size(2), mask.data_ptr<uint8_t>(), at, count, side);
    if (args.device.is_cuda()) at::accelerator::emptyCache();  // EXPECT: torch-empty-cache-in-loop
  }
  std::vector<size_t> area(kClasses, 0);
  for (uint8_t c : mosaic) ++area[c];
  for (size_t c = 0; c < area.size(); ++c) std::printf("class %zu  %zu pixels\n", c, area[c]);
  return 0;
}

torch::Tensor group(const torch::Tensor& points, int64_t groups, int rounds) {
  auto centers = points.slice(0, 0, groups).clone();
  auto sums = torch::zeros_like(centers);
  for (int r = 0; r < rounds; ++r) {
    auto nearest = torch::cdist(points, centers).argmin(1);
    sums.zero_().index_add_(0, nearest, points);
    centers.copy_(sums).div_(torch::bincount(nearest, {}, groups).clamp_min_(1).unsqueeze(1));
  }
  return centers;
}

// Main direction and groups of the spectra of an imaging spectrometer.
int spectra(Session& s) {
  torch::NoGradGuard no_grad;
  auto cube = torch::rand({20000, 32}, torch::TensorOptions().device(s.args.device));
  const auto along = torch::nn::functional::NormalizeFuncOptions().dim(0);
  auto odd = cube.slice(1, 1, 32, 2);
  auto direction = torch::ones({odd.size(1)}, cube.options());
  for (int round = 0; round < 30; ++round) {
    auto image = torch::mv(odd, direction);  // EXPECT: torch-noncontiguous-operand
    direction = torch::nn::functional::normalize(torch::matmul(image, cube).slice(0, 1, 32, 2), along);
  }
  auto even = cube.slice(1, 0, 32, 2).contiguous();  // RIGHT: torch-noncontiguous-operand
  auto centers = group(even, 6, 10);
  std::printf("direction %.4f  centers %.4f\n", direction.amax().item<double>(), centers.mean().item<double>());
  return 0;
}

int bench(Session& s) {
  torch::NoGradGuard no_grad;
  s.net->eval();
  auto input = torch::rand({s.args.batch, kBands, kTile, kTile}, torch::TensorOptions().device(s.args.device));
  for (int i = 0; i < 3; ++i) s.net->forward(input);
  wait_for(s.args.device);
  torch::Tensor scores;
  const auto begin = Clock::now();
  for (int i = 0; i < 20; ++i) scores = s.net->forward(input);
  const auto end = Clock::now();  // EXPECT: torch-timing-without-sync
  std::printf("forward %.3f ms a batch\n", milliseconds(begin, end) / 20.0);
  return scores.defined() ? 0 : 1;
}

}  // namespace satseg

int main(int argc, char** argv) {
  using namespace satseg;
  Session session;
  Args& args = session.args;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--amp") args.amp = true;
    else if (word == "--device" && i + 1 < argc) args.device = torch::Device(argv[++i]);
    else if (word == "--epochs" && i + 1 < argc) args.epochs = std::atoi(argv[++i]);
    else args.command = word;
  }
  torch::set_num_threads(1);
  torch::manual_seed(17);
  session.net->to(args.device);
  session.scene = read_scene(args.scene_side, 1);
  session.statistics = measure(session.scene);
  session.train = draw_samples(session.scene, args.samples, 2);
  session.test = draw_samples(session.scene, 48, 3);

  const std::vector<std::pair<std::string, int (*)(Session&)>> commands = {
      {"train", train}, {"eval", evaluate}, {"tile", tile}, {"spectra", spectra}, {"bench", bench}};
  bool known = false;
  for (const auto& [name, command] : commands) {
    if (args.command != "all" && args.command != name) continue;
    known = true;
    if (const int status = command(session)) return status;
  }
  if (!known) std::fprintf(stderr, "unknown subcommand %s\n", args.command.c_str());
  return known ? 0 : 2;
}
