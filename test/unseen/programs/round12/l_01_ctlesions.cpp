// Segmentation of liver lesions in abdominal CT: a small 2-D U-Net over axial slices,
// with an auxiliary head that tells whether a slice holds a lesion at all.
#include <torch/torch.h>

#include <ATen/autocast_mode.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ct {

struct Config {
  int studies = 4;
  int size = 32;
  int channels = 8;
  int epochs = 2;
  int batch = 4;
  int workers = 2;
  double lr = 2e-3;
  bool amp = false;
  std::string device = "auto";
  std::string raw_file;
};

Config parse(int argc, char** argv) {
  Config c;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--epochs") c.epochs = std::stoi(value);
    else if (key == "--studies") c.studies = std::stoi(value);
    else if (key == "--workers") c.workers = std::stoi(value);
    else if (key == "--amp") c.amp = value == "1";
    else if (key == "--device") c.device = value;
    else if (key == "--raw") c.raw_file = value;
    else throw std::invalid_argument("unknown option " + key);
  }
  return c;
}

torch::Device pick_device(const std::string& name) {
  if (name != "auto") return torch::Device(name);
  return torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
}

// One axial slice as the scanner delivers it: Hounsfield units and the radiologist's mask.
struct Slice {
  std::vector<int16_t> hu;
  std::vector<uint8_t> mask;
};

struct Study {
  int id = 0;
  int size = 0;
  std::vector<Slice> slices;
};

Study make_phantom(int id, int size, std::mt19937& rng) {
  std::normal_distribution<float> noise(0.f, 12.f);
  std::uniform_int_distribution<int> where(size / 4, 3 * size / 4);
  Study study{id, size, {}};
  const int depth = 5 + id % 3;
  const int cx = where(rng), cy = where(rng);
  for (int z = 0; z < depth; ++z) {
    Slice s;
    s.hu.resize(size * size);
    s.mask.resize(size * size);
    const int radius = (z > 0 && z + 1 < depth) ? size / 8 : 0;
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const bool lesion = (x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius;
        s.hu[y * size + x] = static_cast<int16_t>((lesion ? 30.f : 110.f) + noise(rng));
        s.mask[y * size + x] = lesion ? 1 : 0;
      }
    }
    study.slices.push_back(std::move(s));
  }
  return study;
}

// A raw export of the workstation: `depth` slices of int16 without a header.
torch::Tensor read_raw(const std::string& path, int64_t depth, int64_t size) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path);
  std::vector<int16_t> buffer(depth * size * size);
  in.read(reinterpret_cast<char*>(buffer.data()), buffer.size() * sizeof(int16_t));
  return torch::from_blob(buffer.data(), {depth, size, size}, torch::kInt16);  // EXPECT: torch-blob-lifetime
}

torch::Tensor assemble(const Study& study) {
  const int64_t n = study.size;
  auto volume = torch::empty({static_cast<int64_t>(study.slices.size()), n, n}, torch::kInt16);
  for (size_t z = 0; z < study.slices.size(); ++z) {
    auto* hu = const_cast<int16_t*>(study.slices[z].hu.data());
    volume[z].copy_(torch::from_blob(hu, {n, n}, torch::kInt16));  // RIGHT: torch-blob-lifetime (read at once)
  }
  return volume;
}

// What the work list shows of each study while the rest is being computed.
class Overview {
 public:
  void add(const Study& study) {
    const auto volume = assemble(study);
    middle_[study.id] = volume.select(0, volume.size(0) / 2);  // EXPECT: torch-view-pins-storage
    histogram_ += volume.to(torch::kFloat).histc(16, -200, 300);
    corner_[study.id] = volume.select(0, 0).narrow(0, 0, 4).clone();  // RIGHT: torch-view-pins-storage (cloned)
  }

  void start_new_day() {
    histogram_.zero_();  // RIGHT: torch-zero-grad-in-place (a histogram, no gradient)
    middle_.clear();
    corner_.clear();
  }

  size_t size() const { return middle_.size(); }
  double mean_count() const { return histogram_.mean().item<double>(); }

 private:
  std::map<int, torch::Tensor> middle_;
  std::map<int, torch::Tensor> corner_;
  torch::Tensor histogram_ = torch::zeros({16});
};

class SliceSet : public torch::data::datasets::Dataset<SliceSet> {
 public:
  SliceSet(std::vector<Study> studies, int64_t n) : n_(n) {
    for (auto& study : studies) {
      for (auto& s : study.slices) slices_.push_back(std::move(s));
    }
  }

  torch::data::Example<> get(size_t i) override {
    auto& s = slices_[i];
    auto hu = torch::from_blob(s.hu.data(), {1, n_, n_}, torch::kInt16).clone();  // RIGHT: torch-blob-lifetime (cloned)
    auto mask = torch::from_blob(s.mask.data(), {1, n_, n_}, torch::kUInt8).clone();
    return {hu, mask};
  }

  torch::optional<size_t> size() const override { return slices_.size(); }

 private:
  int64_t n_;
  std::vector<Slice> slices_;
};

struct AutocastScope {
  AutocastScope(at::DeviceType type, bool enabled) : type_(type), before_(at::autocast::is_autocast_enabled(type)) {
    at::autocast::increment_nesting();
    at::autocast::set_autocast_enabled(type_, enabled);
  }
  ~AutocastScope() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, before_);
  }
  at::DeviceType type_;
  bool before_;
};

torch::nn::Sequential conv_block(int64_t in, int64_t out) {
  return torch::nn::Sequential(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1).bias(false)), torch::nn::BatchNorm2d(out),
      torch::nn::ReLU(torch::nn::ReLUOptions(true)));
}

// Lets the decoder choose what it wants of the skip connection.
struct AttentionUpImpl : torch::nn::Module {
  AttentionUpImpl(int64_t low, int64_t skip) {
    up = register_module("up", torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(low, skip, 2).stride(2)));
    fuse = register_module("fuse", conv_block(2 * skip, skip));
    gate = torch::nn::Conv2d(torch::nn::Conv2dOptions(2 * skip, 1, 1));  // EXPECT: torch-unregistered-module
  }

  torch::Tensor forward(const torch::Tensor& low, const torch::Tensor& skip) {
    auto x = up->forward(low);
    auto weight = torch::sigmoid(gate->forward(torch::cat({x, skip}, 1)));
    return fuse->forward(torch::cat({x, skip * weight}, 1));
  }

  torch::nn::ConvTranspose2d up{nullptr};
  torch::nn::Sequential fuse{nullptr};
  torch::nn::Conv2d gate{nullptr};
};
TORCH_MODULE(AttentionUp);

struct UNetImpl : torch::nn::Module {
  explicit UNetImpl(int64_t c) {
    int64_t in = 1;
    for (int level = 0; level < 3; ++level) {
      down_.push_back(register_module("down" + std::to_string(level), conv_block(in, c << level)));  // RIGHT: torch-unregistered-module (registered here)
      in = c << level;
    }
    up2_ = register_module("up2", AttentionUp(c << 2, c << 1));
    up1_ = register_module("up1", AttentionUp(c << 1, c));
    head_ = register_module("head", torch::nn::Conv2d(torch::nn::Conv2dOptions(c, 1, 1)));
  }

  struct Output {
    torch::Tensor logits;
    torch::Tensor deep;
  };

  Output forward(const torch::Tensor& x) {
    auto d1 = down_[0]->forward(x);
    auto d2 = down_[1]->forward(torch::max_pool2d(d1, 2));
    auto d3 = down_[2]->forward(torch::max_pool2d(d2, 2));
    auto u = up1_->forward(up2_->forward(d3, d2), d1);
    return {head_->forward(u), d3};
  }

 private:
  std::vector<torch::nn::Sequential> down_;
  AttentionUp up2_{nullptr}, up1_{nullptr};
  torch::nn::Conv2d head_{nullptr};
};
TORCH_MODULE(UNet);

torch::Tensor soft_dice_loss(const torch::Tensor& probability, const torch::Tensor& mask) {
  auto overlap = (probability * mask).sum({1, 2, 3});
  auto total = probability.sum({1, 2, 3}) + mask.sum({1, 2, 3});
  return 1 - ((2 * overlap + 1) / (total + 1)).mean();
}

// Puts a network into eval mode for as long as the scope lasts.
struct EvalScope {
  explicit EvalScope(torch::nn::Module& m) : module(m), was_training(m.is_training()) { module.eval(); }  // RIGHT: torch-eval-mode-not-restored (the destructor restores it)
  ~EvalScope() { module.train(was_training); }
  torch::nn::Module& module;
  bool was_training;
};

class Trainer {
 public:
  Trainer(const Config& config, torch::Device device)
      : config_(config),
        device_(device),
        net_(config.channels),
        present_(config.channels * 4, 1),
        optimizer_(net_->parameters(), torch::optim::AdamOptions(config.lr)) {
    net_->to(device_);
    present_->to(device_);
    optimizer_.add_param_group(torch::optim::OptimizerParamGroup(present_->parameters()));
  }

  void fit(std::vector<Study> studies, std::vector<Study> held_out) {
    auto options = torch::data::DataLoaderOptions().batch_size(config_.batch).workers(config_.workers);
    auto stacked = SliceSet(std::move(studies), config_.size).map(torch::data::transforms::Stack<>());
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(stacked), options);  // EXPECT: torch-dataset-copied
    auto val_set = SliceSet(std::move(held_out), config_.size).map(torch::data::transforms::Stack<>());
    auto val_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(val_set), config_.batch);  // RIGHT: torch-dataset-copied (no workers: moved in)

    net_->train();
    present_->train();
    for (int epoch = 0; epoch < config_.epochs; ++epoch) {
      double running = 0;
      int steps = 0;
      for (auto& batch : *loader) {
        auto loss = step(batch);
        running += loss.item<double>();  // EXPECT: torch-sync-in-loop
        ++steps;
      }
      std::cout << "epoch " << epoch << " loss " << running / steps << " dice " << validate(*val_loader) << "\n";
    }
  }

  // Number of lesion pixels in each slice of a study.
  std::vector<int> measure(const Study& study) {
    torch::NoGradGuard no_grad;
    EvalScope eval(*net_);
    auto x = window(assemble(study).unsqueeze(1).to(device_));
    auto found = (net_->forward(x).logits > 0).squeeze(1).to(torch::kCPU);
    std::vector<int> pixels(found.size(0), 0);
    auto lesion = found.accessor<bool, 3>();
    for (int64_t z = 0; z < found.size(0); ++z) {
      for (int64_t y = 0; y < found.size(1); ++y) {
        for (int64_t c = 0; c < found.size(2); ++c) pixels[z] += lesion[z][y][c];  // RIGHT: torch-element-access-in-loop (accessor, host memory)
      }
    }
    return pixels;
  }

 private:
  // The liver window: 40 HU in the middle, 400 HU wide.
  static torch::Tensor window(const torch::Tensor& hu) {
    return hu.to(torch::kFloat).sub_(40).div_(200).clamp_(-1, 1);  // RIGHT: torch-convert-before-transfer (hu is on the device already)
  }

  torch::Tensor step(const torch::data::Example<>& batch) {
    auto x = window(batch.data.to(device_));
    auto mask = batch.target.to(device_).to(torch::kFloat);
    torch::Tensor logits, deep;
    {
      AutocastScope amp(device_.type(), config_.amp);
      auto out = net_->forward(x);
      logits = out.logits;
      deep = out.deep.mean({2, 3});
    }
    auto present = present_->forward(deep);  // EXPECT: torch-autocast-boundary
    auto probability = torch::sigmoid(logits.to(torch::kFloat));  // RIGHT: torch-autocast-boundary (widened first)
    auto dice = soft_dice_loss(probability, mask);  // RIGHT: torch-loss-input (dice is of probabilities)
    auto label = mask.amax({1, 2, 3}).unsqueeze(1);
    auto loss = dice + 0.2 * torch::binary_cross_entropy_with_logits(present, label);
    optimizer_.zero_grad(/*set_to_none=*/false);  // EXPECT: torch-zero-grad-in-place
    loss.backward();
    optimizer_.step();
    return loss.detach();
  }

  template <typename Loader>
  double validate(Loader& loader) {
    torch::NoGradGuard no_grad;
    net_->eval();  // EXPECT: torch-eval-mode-not-restored
    auto dice_sum = torch::zeros({}, device_);
    int64_t cases = 0;
    for (auto& batch : loader) {
      auto mask = batch.target.to(device_).to(torch::kFloat);
      auto found = (net_->forward(window(batch.data.to(device_))).logits > 0).to(torch::kFloat);
      const int64_t in_batch = found.to(torch::kCPU).size(0);  // EXPECT: torch-transfer-for-metadata
      dice_sum += (1 - soft_dice_loss(found, mask)) * in_batch;
      cases += in_batch;
    }
    return dice_sum.item<double>() / cases;  // RIGHT: torch-sync-in-loop (once, after the loop)
  }

  Config config_;
  torch::Device device_;
  UNet net_;
  torch::nn::Linear present_;
  torch::optim::Adam optimizer_;
};

}  // namespace ct

int main(int argc, char** argv) {
  torch::manual_seed(7);
  const auto config = ct::parse(argc, argv);
  const auto device = ct::pick_device(config.device);
  if (!config.raw_file.empty()) {
    auto volume = ct::read_raw(config.raw_file, 16, 512);
    std::cout << "mean HU " << volume.to(torch::kFloat).mean().item<float>() << "\n";
    return 0;
  }

  std::mt19937 rng(7);
  std::vector<ct::Study> train, held_out;
  ct::Overview overview;
  for (int i = 0; i < config.studies; ++i) {
    auto study = ct::make_phantom(i, config.size, rng);
    overview.add(study);
    (i % 4 == 3 ? held_out : train).push_back(std::move(study));
  }
  const auto last = held_out.empty() ? train.back() : held_out.back();
  std::cout << "studies " << overview.size() << " pixels per bin " << overview.mean_count() << "\n";

  ct::Trainer trainer(config, device);
  trainer.fit(std::move(train), std::move(held_out));
  for (int pixels : trainer.measure(last)) std::cout << pixels << ' ';
  std::cout << "lesion pixels\n";
  overview.start_new_day();
  return 0;
}
