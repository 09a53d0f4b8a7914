// Land-cover segmentation of multispectral satellite scenes.
//
// Every scene is cut into overlapping tiles, a small U-Net is trained on them, difficult tiles
// get another pass, and whole scenes are mapped by blending the tile predictions.
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace landcover {

namespace F = torch::nn::functional;
using Clock = std::chrono::steady_clock;

struct Config {
  int64_t bands = 4, classes = 5;
  int64_t scene_size = 160;
  int64_t tile = 32, stride = 24;
  int64_t batch = 8, epochs = 2, scenes = 3;
  size_t hard_capacity = 12;
  int64_t min_region = 6;
  bool mixed_precision = true;
  double learning_rate = 2e-3;
  std::string checkpoint = "/tmp/landcover_best.pt";
};

struct Scene {
  std::string id;
  torch::Tensor image, labels;  // [bands, H, W], [H, W]
};

struct Tile {
  torch::Tensor image, labels;
};

Scene load_scene(const Config& cfg, int64_t index) {
  const auto n = cfg.scene_size;
  auto ys = torch::linspace(0.0, 6.28, n).unsqueeze(1);
  auto xs = torch::linspace(0.0, 6.28, n).unsqueeze(0);
  auto relief = torch::sin(ys * (1.0 + 0.3 * index)) + torch::cos(xs * (1.5 + 0.2 * index));
  auto labels = ((relief + 2.0) / 4.0 * cfg.classes).floor().clamp(0, cfg.classes - 1);
  std::vector<torch::Tensor> bands;
  for (int64_t b = 0; b < cfg.bands; ++b) bands.push_back(relief * (0.5 + 0.2 * b) + 0.1 * torch::randn({n, n}));
  return {"scene-" + std::to_string(index), torch::stack(bands), labels.to(torch::kLong)};
}

Tile cut_tile(const Scene& scene, int64_t y, int64_t x, int64_t size) {
  return {scene.image.slice(1, y, y + size).slice(2, x, x + size),
          scene.labels.slice(0, y, y + size).slice(1, x, x + size)};
}

Tile owned_tile(const Tile& tile, torch::Device device) {
  return {tile.image.to(device, torch::kFloat, /*non_blocking=*/false, /*copy=*/true),
          tile.labels.to(device, torch::kLong, /*non_blocking=*/false, /*copy=*/true)};
}

std::vector<std::pair<int64_t, int64_t>> tile_grid(const Config& cfg, int64_t extent) {
  if (extent < cfg.tile) throw std::invalid_argument("scene smaller than a tile");
  std::vector<int64_t> starts;
  for (int64_t s = 0; s + cfg.tile < extent; s += cfg.stride) starts.push_back(s);
  starts.push_back(extent - cfg.tile);
  std::vector<std::pair<int64_t, int64_t>> grid;
  for (auto y : starts) {
    for (auto x : starts) grid.emplace_back(y, x);
  }
  return grid;
}

Tile collate(const std::vector<Tile>& tiles) {
  std::vector<torch::Tensor> images, labels;
  for (const auto& tile : tiles) {
    images.push_back(tile.image);
    labels.push_back(tile.labels);
  }
  return {torch::stack(images), torch::stack(labels)};
}

class AutocastScope {
 public:
  explicit AutocastScope(bool enabled)
      : enabled_before_(at::autocast::is_autocast_enabled(at::kCUDA)),
        dtype_before_(at::autocast::get_autocast_dtype(at::kCUDA)) {
    at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCUDA, enabled);
    at::autocast::increment_nesting();
  }
  ~AutocastScope() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, enabled_before_);
    at::autocast::set_autocast_dtype(at::kCUDA, dtype_before_);
  }

 private:
  bool enabled_before_;
  at::ScalarType dtype_before_;
};

class InferenceScope {
 public:
  explicit InferenceScope(torch::nn::Module& module)
      : module_(module), was_training_(module.is_training()) {
    module_.eval();  // RIGHT: torch-eval-mode-not-restored (the destructor puts the former mode back)
  }
  ~InferenceScope() { module_.train(was_training_); }

 private:
  torch::nn::Module& module_;
  bool was_training_;
  torch::NoGradGuard no_grad_;
};

torch::nn::Sequential conv_block(int64_t in, int64_t out) {
  return torch::nn::Sequential(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1).bias(false)),
      torch::nn::BatchNorm2d(out), torch::nn::ReLU());
}

class SegNetImpl : public torch::nn::Module {
 public:
  SegNetImpl(int64_t bands, int64_t classes)
      : stem_(register_module("stem", conv_block(bands, 16))),
        deep_(register_module("deep", conv_block(16, 32))),
        up_(register_module(
            "up", torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(32, 16, 2).stride(2)))),
        fuse_(register_module("fuse", conv_block(32, 16))),
        drop_(register_module("drop", torch::nn::Dropout2d(0.1))),
        head_(register_module("head", torch::nn::Conv2d(torch::nn::Conv2dOptions(16, classes, 1)))) {}

  torch::Tensor encode(const torch::Tensor& x) { return deep_->forward(torch::max_pool2d(stem_->forward(x), 2)); }

  torch::Tensor forward(const torch::Tensor& x) {
    auto fine = stem_->forward(x);
    auto coarse = up_(deep_->forward(torch::max_pool2d(fine, 2)));
    return head_(drop_(fuse_->forward(torch::cat({fine, coarse}, 1))));
  }

 private:
  torch::nn::Sequential stem_, deep_;
  torch::nn::ConvTranspose2d up_;
  torch::nn::Sequential fuse_;
  torch::nn::Dropout2d drop_;
  torch::nn::Conv2d head_;
};
TORCH_MODULE(SegNet);

torch::Tensor confusion_matrix(const torch::Tensor& predicted, const torch::Tensor& target, int64_t classes) {
  auto cells = (target * classes + predicted).flatten();
  auto counts = torch::bincount(cells.cpu(), {}, classes * classes).to(cells.device());  // EXPECT: torch-device-round-trip
  return counts.view({classes, classes});
}

double mean_iou(const torch::Tensor& confusion) {
  auto m = confusion.to(torch::kDouble);
  auto hits = m.diagonal();
  auto joined = m.sum(0) + m.sum(1) - hits;
  return (hits / joined.clamp_min(1.0)).mean().item<double>();
}

// Replaces connected regions of fewer than `min_region` pixels by the class left of them.
torch::Tensor drop_small_regions(const torch::Tensor& map, int64_t min_region) {
  auto host = map.to(torch::kCPU, torch::kLong, /*non_blocking=*/false, /*copy=*/true).contiguous();
  auto cells = host.accessor<int64_t, 2>();
  const int64_t h = host.size(0), w = host.size(1);
  std::vector<char> seen(static_cast<size_t>(h * w), 0);
  std::vector<std::pair<int64_t, int64_t>> region;
  for (int64_t start = 0; start < h * w; ++start) {
    if (seen[start]) continue;
    const int64_t label = cells[start / w][start % w];  // RIGHT: torch-element-access-in-loop (an accessor over host memory)
    region.assign(1, {start / w, start % w});
    seen[start] = 1;
    for (size_t i = 0; i < region.size(); ++i) {
      const auto [cy, cx] = region[i];
      for (auto [dy, dx] : {std::pair<int, int>{0, 1}, {1, 0}, {0, -1}, {-1, 0}}) {
        const int64_t ny = cy + dy, nx = cx + dx;
        if (ny < 0 || nx < 0 || ny >= h || nx >= w) continue;
        if (seen[ny * w + nx] || cells[ny][nx] != label) continue;
        seen[ny * w + nx] = 1;
        region.emplace_back(ny, nx);
      }
    }
    if (static_cast<int64_t>(region.size()) >= min_region || start % w == 0) continue;
    const int64_t replacement = cells[start / w][start % w - 1];
    for (const auto& [y, x] : region) cells[y][x] = replacement;
  }
  return host.to(map.device());  // RIGHT: torch-device-round-trip (the region growing exists on the host only)
}

SegNet build_model(const Config& cfg, torch::Device device) {
  SegNet model(cfg.bands, cfg.classes);
  model->to(device);
  return model;
}

class Trainer {
 public:
  Trainer(const Config& cfg, torch::Device device)
      : cfg_(cfg),
        device_(device),
        model_(build_model(cfg, device)),
        optimizer_(model_->parameters(), torch::optim::AdamWOptions(cfg.learning_rate)) {
    auto edge = torch::hann_window(cfg.tile, /*periodic=*/false).clamp_min(1e-2);
    window_ = torch::outer(edge, edge).to(device_);  // RIGHT: torch-allocate-on-device (once per trainer)
  }

  void set_class_frequencies(const torch::Tensor& labels) {
    auto counts = torch::bincount(labels.flatten(), {}, cfg_.classes).to(torch::kFloat);
    class_weights_ = counts.sum() / (counts + 1.0);
    class_weights_ /= class_weights_.sum();
  }

  void reserve_validation(const Scene& scene) {
    for (const auto& [y, x] : tile_grid(cfg_, scene.image.size(1))) {
      if ((y / cfg_.stride + x / cfg_.stride) % 4 != 0) continue;
      validation_.push_back(owned_tile(cut_tile(scene, y, x, cfg_.tile), device_));  // RIGHT: torch-view-pins-storage (owned_tile copies)
    }
  }

  void fit() {
    model_->train();
    for (int64_t epoch = 0; epoch < cfg_.epochs; ++epoch) {
      for (int64_t s = 0; s < cfg_.scenes; ++s) {
        const Scene scene = load_scene(cfg_, s);
        const double loss = train_on_scene(scene);
        collect_hard_tiles(scene);
        std::cout << scene.id << " loss " << loss << "\n";
      }
      if (!hard_tiles_.empty()) step(collate(hard_tiles_));
      const double iou = evaluate(validation_);
      std::cout << "epoch " << epoch << " mIoU " << iou << "\n";
      if (iou > best_iou_) {
        best_iou_ = iou;
        torch::save(model_, cfg_.checkpoint);
      }
    }
  }

  double evaluate(const std::vector<Tile>& tiles) {
    torch::NoGradGuard no_grad;
    model_->eval();  // EXPECT: torch-eval-mode-not-restored
    auto confusion = torch::zeros(
        {cfg_.classes, cfg_.classes}, torch::TensorOptions().dtype(torch::kLong).device(device_));
    for (const auto& tile : tiles) {
      auto predicted = forward_mixed(tile.image.unsqueeze(0)).argmax(1).squeeze(0);
      confusion += confusion_matrix(predicted, tile.labels, cfg_.classes);
    }
    return mean_iou(confusion);
  }

  torch::Tensor map_scene(const Scene& scene) {
    InferenceScope scope(*model_);
    auto image = scene.image.to(device_);
    const auto h = image.size(1), w = image.size(2);
    auto votes = torch::zeros({cfg_.classes, h, w}).to(device_);  // EXPECT: torch-allocate-on-device
    auto coverage = torch::zeros({h, w}, votes.options());
    for (const auto& [y, x] : tile_grid(cfg_, h)) {
      auto patch = image.slice(1, y, y + cfg_.tile).slice(2, x, x + cfg_.tile).unsqueeze(0);
      auto scores = torch::softmax(forward_mixed(patch), 1).squeeze(0);
      votes.slice(1, y, y + cfg_.tile).slice(2, x, x + cfg_.tile).add_(scores * window_);
      coverage.slice(0, y, y + cfg_.tile).slice(1, x, x + cfg_.tile).add_(window_);
    }
    return drop_small_regions((votes / coverage).argmax(0), cfg_.min_region);
  }

  double forward_milliseconds(int64_t repeats) {
    InferenceScope scope(*model_);
    auto sample = torch::rand({cfg_.batch, cfg_.bands, cfg_.tile, cfg_.tile}, torch::TensorOptions().device(device_));
    forward_mixed(sample);
    const auto begin = Clock::now();
    for (int64_t i = 0; i < repeats; ++i) forward_mixed(sample);
    const std::chrono::duration<double, std::milli> spent = Clock::now() - begin;  // EXPECT: torch-timing-without-sync
    return spent.count() / static_cast<double>(repeats);
  }

  double mapping_milliseconds(const Scene& scene) {
    finish_device_work();
    const auto begin = Clock::now();
    map_scene(scene);
    finish_device_work();
    const std::chrono::duration<double, std::milli> spent = Clock::now() - begin;  // RIGHT: torch-timing-without-sync (finish_device_work synchronizes)
    return spent.count();
  }

  double embedding_entropy(const Scene& scene) {
    InferenceScope scope(*model_);
    auto batch = collate({cut_tile(scene, 0, 0, cfg_.tile), cut_tile(scene, cfg_.stride, cfg_.stride, cfg_.tile)});
    auto spectrum = torch::linalg_eigvalsh(embedding_gram(batch.image.to(device_)));  // EXPECT: torch-autocast-boundary
    auto share = spectrum.clamp_min(1e-9) / spectrum.clamp_min(1e-9).sum();
    return -(share * share.log()).sum().item<double>();
  }

 private:
  torch::Tensor forward_mixed(const torch::Tensor& images) {
    torch::Tensor logits;
    {
      AutocastScope amp(cfg_.mixed_precision && device_.is_cuda());
      logits = model_->forward(images);
    }
    return logits.to(torch::kFloat);  // RIGHT: torch-autocast-boundary (float before anything outside uses it)
  }

  torch::Tensor embedding_gram(const torch::Tensor& images) {
    AutocastScope amp(cfg_.mixed_precision && device_.is_cuda());
    auto features = model_->encode(images).mean({2, 3});  // RIGHT: torch-missing-no-grad (the only caller holds an InferenceScope)
    return features.t().mm(features) / features.size(0);
  }

  torch::Tensor segmentation_loss(const torch::Tensor& logits, const torch::Tensor& target) const {
    auto options = F::CrossEntropyFuncOptions().weight(class_weights_.to(device_));  // EXPECT: torch-repeated-transfer
    return F::cross_entropy(logits, target, options);
  }

  torch::Tensor step(const Tile& batch) {
    auto images = batch.image.to(device_);  // RIGHT: torch-repeated-transfer (every batch is new data)
    auto target = batch.labels.to(device_);
    optimizer_.zero_grad();
    auto loss = segmentation_loss(forward_mixed(images), target);
    loss.backward();
    optimizer_.step();
    return loss.detach();
  }

  double train_on_scene(const Scene& scene) {
    std::vector<Tile> pending;
    auto total = torch::zeros({}, torch::TensorOptions().device(device_));
    int64_t steps = 0;
    for (const auto& [y, x] : tile_grid(cfg_, scene.image.size(1))) {
      pending.push_back(cut_tile(scene, y, x, cfg_.tile));
      if (static_cast<int64_t>(pending.size()) < cfg_.batch) continue;
      total += step(collate(pending));  // RIGHT: torch-retained-graph (step returns the loss detached)
      ++steps;
      pending.clear();
    }
    return total.item<double>() / std::max<int64_t>(steps, 1);  // RIGHT: torch-sync-in-loop (one read per scene)
  }

  void collect_hard_tiles(const Scene& scene) {
    InferenceScope scope(*model_);
    const auto grid = tile_grid(cfg_, scene.image.size(1));
    std::vector<Tile> tiles;
    for (const auto& [y, x] : grid) tiles.push_back(cut_tile(scene, y, x, cfg_.tile));
    const Tile batch = collate(tiles);
    auto losses = F::cross_entropy(forward_mixed(batch.image.to(device_)), batch.labels.to(device_),
                                   F::CrossEntropyFuncOptions().reduction(torch::kNone));
    auto order = losses.mean({1, 2}).argsort(0, /*descending=*/true).cpu();
    auto ranks = order.accessor<int64_t, 1>();
    for (int64_t i = 0; i < std::min<int64_t>(2, order.size(0)); ++i) {
      const auto [y, x] = grid[ranks[i]];
      hard_tiles_.push_back(cut_tile(scene, y, x, cfg_.tile));  // EXPECT: torch-view-pins-storage
    }
    while (hard_tiles_.size() > cfg_.hard_capacity) hard_tiles_.erase(hard_tiles_.begin());
  }

  void finish_device_work() const {
    if (device_.is_cuda()) torch::cuda::synchronize();
  }

  Config cfg_;
  torch::Device device_;
  SegNet model_;
  torch::optim::AdamW optimizer_;
  torch::Tensor window_, class_weights_;
  std::vector<Tile> validation_, hard_tiles_;
  double best_iou_ = -1.0;
};

}  // namespace landcover

int main() {
  torch::manual_seed(11);
  const landcover::Config cfg;
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  landcover::Trainer trainer(cfg, device);
  const auto reference = landcover::load_scene(cfg, cfg.scenes);
  trainer.set_class_frequencies(reference.labels);
  trainer.reserve_validation(reference);
  try {
    trainer.fit();
    for (int64_t s = 0; s < cfg.scenes; ++s) {
      const auto scene = landcover::load_scene(cfg, s);
      const auto map = trainer.map_scene(scene);
      std::cout << scene.id << " classes " << std::get<0>(torch::_unique(map)).numel() << "\n";
    }
    std::cout << "forward ms " << trainer.forward_milliseconds(5) << ", scene ms "
              << trainer.mapping_milliseconds(reference) << ", entropy "
              << trainer.embedding_entropy(reference) << "\n";
  } catch (const c10::Error& error) {
    std::cerr << "run failed: " << error.what_without_backtrace() << "\n";
    return 1;
  }
  return 0;
}
