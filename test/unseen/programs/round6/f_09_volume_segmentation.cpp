// Segmentation of tissue classes in MR volumes: patch training in mixed precision,
// sliding-window validation with flips, fine-tuning of the decoder for a new scanner.
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct SegConfig {
  int64_t side = 192;
  int64_t patch = 16;
  int64_t classes = 3;
  int64_t base = 8;
  int64_t patchesPerScan = 4;
  int64_t epochs = 2;
  int64_t relaxations = 40;
  int64_t levels = 3;
  double lr = 3e-3;
  double minimumDice = 0.05;
  std::string checkpoint;
};

struct Scan {
  std::string id;
  int64_t side = 0;
  std::vector<int16_t> voxels;
  std::vector<uint8_t> mask;
};

class VolumeDataset {
 public:
  VolumeDataset(const SegConfig& cfg, int64_t count, uint32_t seed) {
    std::mt19937 rng(seed);
    for (int64_t i = 0; i < count; ++i) scans_.push_back(phantom(cfg, "scan-" + std::to_string(i), rng));
  }

  size_t size() const { return scans_.size(); }
  const Scan& operator[](size_t i) const { return scans_[i]; }
  auto begin() const { return scans_.begin(); }
  auto end() const { return scans_.end(); }

 private:
  // Two nested spheres with noise.
  static Scan phantom(const SegConfig& cfg, std::string id, std::mt19937& rng) {
    std::uniform_real_distribution<double> centre(0.4, 0.6);
    std::normal_distribution<double> noise(0.0, 40.0);
    const double cx = centre(rng) * cfg.side, cy = centre(rng) * cfg.side, cz = centre(rng) * cfg.side;
    Scan scan{std::move(id), cfg.side, {}, {}};
    scan.voxels.reserve(cfg.side * cfg.side * cfg.side);
    scan.mask.reserve(scan.voxels.capacity());
    for (int64_t z = 0; z < cfg.side; ++z) {
      for (int64_t y = 0; y < cfg.side; ++y) {
        for (int64_t x = 0; x < cfg.side; ++x) {
          const double r2 = (x - cx) * (x - cx) + (y - cy) * (y - cy) + (z - cz) * (z - cz);
          const double unit = r2 / static_cast<double>(cfg.side * cfg.side);
          const uint8_t label = unit < 0.02 ? 2 : unit < 0.08 ? 1 : 0;
          scan.mask.push_back(label);
          scan.voxels.push_back(static_cast<int16_t>(300.0 * label + noise(rng)));
        }
      }
    }
    return scan;
  }

  std::vector<Scan> scans_;
};

class AutocastScope {
 public:
  explicit AutocastScope(torch::Device device)
      : type_(device.type()),
        enabled_(at::autocast::is_autocast_enabled(type_)),
        dtype_(at::autocast::get_autocast_dtype(type_)) {
    at::autocast::set_autocast_dtype(type_, torch::kBFloat16);
    at::autocast::set_autocast_enabled(type_, true);
    at::autocast::increment_nesting();
  }
  ~AutocastScope() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, enabled_);
    at::autocast::set_autocast_dtype(type_, dtype_);
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  torch::DeviceType type_;
  bool enabled_;
  torch::ScalarType dtype_;
};

class EncoderImpl : public nn::Module {
 public:
  explicit EncoderImpl(int64_t base) {
    stem_ = register_module("stem", nn::Conv3d(nn::Conv3dOptions(1, base, 3).padding(1)));
    stemNorm_ = register_module("stem_norm", nn::BatchNorm3d(base));
    down_ = register_module("down", nn::Conv3d(nn::Conv3dOptions(base, 2 * base, 3).stride(2).padding(1)));
    downNorm_ = register_module("down_norm", nn::BatchNorm3d(2 * base));
  }

  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& x) {
    auto skip = torch::relu(stemNorm_(stem_(x)));
    return {skip, torch::relu(downNorm_(down_(skip)))};
  }

 private:
  nn::Conv3d stem_{nullptr}, down_{nullptr};
  nn::BatchNorm3d stemNorm_{nullptr}, downNorm_{nullptr};
};
TORCH_MODULE(Encoder);

class DecoderImpl : public nn::Module {
 public:
  DecoderImpl(int64_t base, int64_t classes) {
    up_ = register_module("up", nn::ConvTranspose3d(nn::ConvTranspose3dOptions(2 * base, base, 2).stride(2)));
    fuse_ = register_module("fuse", nn::Conv3d(nn::Conv3dOptions(2 * base, base, 3).padding(1)));
    norm_ = register_module("norm", nn::BatchNorm3d(base));
    drop_ = register_module("drop", nn::Dropout3d(0.2));
    head_ = register_module("head", nn::Conv3d(nn::Conv3dOptions(base, classes, 1)));
  }

  torch::Tensor forward(const torch::Tensor& skip, const torch::Tensor& deep) {
    auto h = torch::cat({skip, up_(deep)}, 1);
    return head_(drop_(torch::relu(norm_(fuse_(h)))));
  }

 private:
  nn::ConvTranspose3d up_{nullptr};
  nn::Conv3d fuse_{nullptr}, head_{nullptr};
  nn::BatchNorm3d norm_{nullptr};
  nn::Dropout3d drop_{nullptr};
};
TORCH_MODULE(Decoder);

struct SegNetImpl : nn::Module {
  explicit SegNetImpl(const SegConfig& cfg)
      : encoder(register_module("encoder", Encoder(cfg.base))),
        decoder(register_module("decoder", Decoder(cfg.base, cfg.classes))),
        prior(register_buffer("prior", torch::zeros({cfg.classes, cfg.patch, cfg.patch, cfg.patch}))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    auto [skip, deep] = encoder->forward(x);
    auto logits = decoder->forward(skip, deep).to(torch::kFloat32);
    return logits + prior.unsqueeze(0).repeat({x.size(0), 1, 1, 1, 1});  // EXPECT: torch-repeat-for-broadcast
  }

  Encoder encoder;
  Decoder decoder;
  torch::Tensor prior;
};
TORCH_MODULE(SegNet);

// Slow intensity drift along the sagittal axis.
torch::Tensor biasField(const torch::Tensor& volume, int64_t iterations) {
  const auto sagittal = volume.permute({2, 1, 0});
  auto field = torch::zeros(sagittal.sizes(), volume.options());
  auto step = torch::empty(sagittal.sizes(), volume.options());
  for (int64_t i = 0; i < iterations; ++i) {
    torch::sub_out(step, sagittal, field);  // EXPECT: torch-noncontiguous-operand
    step.clamp_(-0.02, 0.02);
    field.add_(step, 0.1);
  }
  return field.permute({2, 1, 0});
}

torch::Tensor reorient(const torch::Tensor& volume) { return volume.permute({1, 0, 2}).contiguous(); }

torch::Tensor noiseFloor(const torch::Tensor& volume, int64_t iterations) {
  const auto coronal = reorient(volume);
  auto level = torch::zeros_like(coronal);
  auto step = torch::empty_like(coronal);
  for (int64_t i = 0; i < iterations; ++i) {
    torch::sub_out(step, coronal, level);  // RIGHT: torch-noncontiguous-operand (reorient() made a contiguous copy)
    step.clamp_(-0.01, 0.002);
    level.add_(step, 0.1);
  }
  return level.mean();
}

// Progressively damped copies of a volume, for the registration tool.
std::vector<torch::Tensor> dampedLevels(const torch::Tensor& volume, int64_t levels) {
  torch::NoGradGuard noGrad;
  std::vector<torch::Tensor> stack;
  auto level = volume;
  for (int64_t i = 0; i < levels; ++i) {
    level = level * 0.5;  // RIGHT: torch-inplace-opportunity (every level is kept)
    stack.push_back(level);
  }
  return stack;
}

struct Case {
  torch::Tensor image, target;
};

Case loadCase(const Scan& scan, const SegConfig& cfg, torch::Device device) {
  const std::vector<int64_t> shape{scan.side, scan.side, scan.side};
  auto voxels = torch::from_blob(const_cast<int16_t*>(scan.voxels.data()), shape, torch::kShort);
  auto mask = torch::from_blob(const_cast<uint8_t*>(scan.mask.data()), shape, torch::kByte);
  Case out;
  out.image = voxels.to(device).to(torch::kFloat32).div_(300.0);  // RIGHT: torch-blob-lifetime (the conversion copies; the scan outlives the view)
  out.image.sub_(biasField(out.image, cfg.relaxations)).sub_(noiseFloor(out.image, cfg.relaxations));
  out.target = mask.to(device).to(torch::kLong);
  return out;
}

struct PatchBatch {
  torch::Tensor images, targets;
};

torch::Tensor crop(const torch::Tensor& volume, int64_t z, int64_t y, int64_t x, int64_t side) {
  return volume.narrow(0, z, side).narrow(1, y, side).narrow(2, x, side);
}

class PatchSampler {
 public:
  PatchSampler(const SegConfig& cfg, uint32_t seed) : cfg_(cfg), rng_(seed) {}

  PatchBatch sample(const Case& item) {
    std::uniform_int_distribution<int64_t> corner(0, item.image.size(0) - cfg_.patch);
    std::vector<torch::Tensor> images, targets;
    for (int64_t i = 0; i < cfg_.patchesPerScan; ++i) {
      const int64_t z = corner(rng_), y = corner(rng_), x = corner(rng_);
      images.push_back(crop(item.image, z, y, x, cfg_.patch));
      targets.push_back(crop(item.target, z, y, x, cfg_.patch));
    }
    PatchBatch batch{torch::stack(images).unsqueeze_(1), torch::stack(targets)};
    batch.images.mul_(gridMask(item.image.device()));
    return batch;
  }

 private:
  // A periodic pattern of erased voxels.
  torch::Tensor gridMask(torch::Device device) const {
    const auto cell = torch::empty({4, 4, 4}, device).bernoulli_(0.95);
    const int64_t tiles = cfg_.patch / 4;
    return cell.repeat({tiles, tiles, tiles});  // RIGHT: torch-repeat-for-broadcast (tiles a pattern, no dimension has size one)
  }

  const SegConfig cfg_;
  std::mt19937 rng_;
};

struct Report {
  std::vector<torch::Tensor> previews, overlays;
  std::vector<double> dice;
};

class Experiment {
 public:
  Experiment(const SegConfig& cfg, VolumeDataset train, torch::Device device)  // RIGHT: torch-dataset-copied (the caller moves it in and it is moved on)
      : cfg_(cfg), train_(std::move(train)), device_(device), net_(cfg), sampler_(cfg, 19) {
    net_->to(device_);
  }

  bool run(const VolumeDataset& heldOut) {
    torch::optim::Adam opt(net_->parameters(), torch::optim::AdamOptions(cfg_.lr));
    for (int64_t epoch = 0; epoch < cfg_.epochs; ++epoch) {
      const double loss = trainEpoch(opt);
      const double dice = validate(heldOut);
      report_.dice.push_back(dice);
      std::cout << "epoch " << epoch << " loss " << loss << " dice " << dice << "\n";
      if (dice < cfg_.minimumDice && epoch > 2) {
        std::cerr << "validation collapsed\n";
        return false;
      }
    }
    if (!cfg_.checkpoint.empty()) torch::save(net_, cfg_.checkpoint);
    return true;
  }
  // The decoder only: the features of the encoder stay as they are.
  double adaptDecoder(const VolumeDataset& data, int64_t rounds) {
    for (auto& p : net_->encoder->parameters()) p.requires_grad_(false);
    net_->train();
    net_->encoder->eval();  // RIGHT: torch-partial-eval-mode (frozen: its running statistics must not move while the decoder trains)
    torch::optim::SGD opt(net_->decoder->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
    auto total = torch::zeros({}, device_);
    int64_t steps = 0;
    for (int64_t round = 0; round < rounds; ++round) {
      for (const auto& scan : data) {
        const auto batch = sampler_.sample(loadCase(scan, cfg_, device_));
        torch::Tensor loss;
        {
          AutocastScope amp(device_);  // RIGHT: torch-autocast-cache (it ends, and clears the cache, before the step)
          loss = F::cross_entropy(net_->forward(batch.images), batch.targets);
        }
        opt.zero_grad();
        loss.backward();
        opt.step();
        total.add_(loss.detach());
        ++steps;
      }
    }
    for (auto& p : net_->encoder->parameters()) p.requires_grad_(true);
    net_->encoder->train();
    return steps > 0 ? total.item<double>() / static_cast<double>(steps) : 0.0;
  }

  const Report& report() const { return report_; }

 private:
  double trainEpoch(torch::optim::Optimizer& opt) {
    net_->train();
    AutocastScope amp(device_);  // EXPECT: torch-autocast-cache
    auto total = torch::zeros({}, device_);
    for (const auto& scan : train_) {
      const auto batch = sampler_.sample(loadCase(scan, cfg_, device_));
      opt.zero_grad();
      auto loss = F::cross_entropy(net_->forward(batch.images), batch.targets);
      loss.backward();
      opt.step();
      total.add_(loss.detach());
    }
    return total.item<double>() / static_cast<double>(std::max<size_t>(1, train_.size()));
  }

  double validate(VolumeDataset data) {  // EXPECT: torch-dataset-copied
    torch::NoGradGuard noGrad;
    net_->encoder->eval();  // EXPECT: torch-partial-eval-mode
    auto confusion = torch::zeros({cfg_.classes, cfg_.classes}, torch::TensorOptions(torch::kLong).device(device_));
    for (size_t i = 0; i < data.size(); ++i) {
      const auto item = loadCase(data[i], cfg_, device_);
      const auto labels = probabilities(item.image).argmax(0);
      const auto pairs = item.target.mul(cfg_.classes).add_(labels).flatten();
      confusion.add_(torch::bincount(pairs, {}, cfg_.classes * cfg_.classes).view_as(confusion));
      if (i == 0) keepExamples(item.image, labels);
    }
    net_->encoder->train();
    const auto hits = confusion.diagonal().to(torch::kFloat64);
    const auto sizes = confusion.sum(0).add(confusion.sum(1)).to(torch::kFloat64);
    return hits.mul(2.0).div(sizes.clamp_min(1.0)).mean().item<double>();
  }

  void keepExamples(const torch::Tensor& image, const torch::Tensor& labels) {
    const int64_t middle = image.size(0) / 2, from = std::max<int64_t>(0, middle - 12);
    report_.previews.push_back(image[middle].narrow(0, from, 24).narrow(1, from, 24));  // EXPECT: torch-view-pins-storage
    report_.overlays.push_back(labels[middle].to(torch::kByte));  // RIGHT: torch-view-pins-storage (the conversion copies the slice)
  }

  // Class probabilities of a volume, averaged over flips.
  torch::Tensor probabilities(const torch::Tensor& volume) {
    const std::vector<std::vector<int64_t>> flips{{}, {1}, {2}, {3}};
    torch::Tensor average = torch::zeros({cfg_.classes, volume.size(0), volume.size(1), volume.size(2)}, device_);
    for (const auto& axes : flips) {
      const auto one = slidingWindow(volume.unsqueeze(0).flip(axes)[0]).flip(axes);
      average = average + one / static_cast<double>(flips.size());  // EXPECT: torch-inplace-opportunity
    }
    return average;
  }

  torch::Tensor slidingWindow(const torch::Tensor& volume) {
    AutocastScope amp(device_);  // RIGHT: torch-autocast-cache (the weights do not change in here)
    auto out = torch::empty({cfg_.classes, volume.size(0), volume.size(1), volume.size(2)}, device_);
    const int64_t p = cfg_.patch;
    for (int64_t z = 0; z + p <= volume.size(0); z += p) {
      for (int64_t y = 0; y + p <= volume.size(1); y += p) {
        for (int64_t x = 0; x + p <= volume.size(2); x += p) {
          const auto window = crop(volume, z, y, x, p);
          const auto logits = net_->forward(window.unsqueeze(0).unsqueeze(0));  // RIGHT: torch-missing-no-grad (validate() holds the guard)
          out.narrow(1, z, p).narrow(2, y, p).narrow(3, x, p).copy_(logits[0].softmax(0));
        }
      }
    }
    return out;
  }

  const SegConfig cfg_;
  const VolumeDataset train_;
  torch::Device device_;
  SegNet net_;
  PatchSampler sampler_;
  Report report_;
};

int main(int argc, char** argv) {
  torch::manual_seed(23);
  SegConfig cfg;
  cfg.side = 48;
  if (argc > 1) cfg.checkpoint = argv[1];
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  VolumeDataset train(cfg, 5, 101);
  const VolumeDataset heldOut(cfg, 2, 102), otherScanner(cfg, 2, 103);
  Experiment experiment(cfg, std::move(train), device);
  if (!experiment.run(heldOut)) return 1;
  std::cout << "decoder loss " << experiment.adaptDecoder(otherScanner, 2) << "\n";
  const auto levels = dampedLevels(loadCase(heldOut[0], cfg, device).image, cfg.levels);
  std::cout << levels.size() << " levels, " << experiment.report().previews.size() << " previews of "
            << experiment.report().previews.front().sizes() << "\n";
  return 0;
}
