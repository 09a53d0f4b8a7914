// Tandem mass spectra: a denoising encoder, a fingerprint predictor trained on measured
// spectra, and the search of a spectral library for the compounds behind an unknown sample.
#include <torch/torch.h>

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace massspec {

struct DataConfig {
  int64_t spectra = 320;
  int64_t bins = 128;
  int64_t bits = 32;
  double noise = 0.02;
};

struct TrainConfig {
  int epochs = 3;
  int64_t batch = 32;
  double lr = 2e-3;
  bool amp = false;
  bool joint = false;
  int validate_every = 0;
  std::optional<double> shrink;
};

struct Config {
  DataConfig data;
  TrainConfig train;
  torch::Device device{torch::kCPU};
};

// Counts as the detector gives them, one row for each spectrum, and the known structure bits.
struct Measured {
  torch::Tensor counts;       // uint8 on the host
  torch::Tensor fingerprint;  // float on the device
};

Measured synthesise(const DataConfig& c, torch::Device device) {
  auto fingerprint = torch::rand({c.spectra, c.bits}).gt(0.75).to(torch::kFloat);
  auto fragments = torch::rand({c.bits, c.bins}).pow(8);
  auto intensity = fingerprint.mm(fragments) + c.noise * torch::rand({c.spectra, c.bins});
  auto scaled = intensity / intensity.amax(1, true).clamp_min(1e-6) * 255;
  return {scaled.to(torch::kUInt8), fingerprint.to(device)};
}

struct EncoderImpl : torch::nn::Module {
  EncoderImpl(int64_t bins, int64_t width)
      : in(register_module("in", torch::nn::Linear(bins, width))),
        mid(register_module("mid", torch::nn::Linear(width, width))),
        drop(register_module("drop", torch::nn::Dropout(0.1))) {}

  torch::Tensor forward(const torch::Tensor& x) { return torch::relu(mid->forward(drop->forward(torch::relu(in->forward(x))))); }

  torch::nn::Linear in, mid;
  torch::nn::Dropout drop;
};
TORCH_MODULE(Encoder);

// Mixes neighbouring bins before the encoder, one small filter for each group of bins.
struct BinMixerImpl : torch::nn::Module {
  BinMixerImpl(int64_t bins, int64_t groups) : groups_(groups) {
    kernel = register_parameter("kernel", 0.05 * torch::randn({bins / groups, bins / groups}));
    gain = register_parameter("gain", torch::ones({groups}));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto parts = x.view({x.size(0), groups_, -1});
    auto mixed = torch::matmul(parts, kernel.t().contiguous());  // EXPECT: torch-noncontiguous-operand
    auto turned = mixed.mul(gain.view({-1, 1})).transpose(1, 2).contiguous();  // RIGHT: torch-noncontiguous-operand (view() below needs it)
    return x + turned.view({x.size(0), -1});
  }

  int64_t groups_;
  torch::Tensor kernel, gain;
};
TORCH_MODULE(BinMixer);

struct NetImpl : torch::nn::Module {
  NetImpl(const DataConfig& c, int64_t width)
      : mixer(register_module("mixer", BinMixer(c.bins, 8))),
        encoder(register_module("encoder", Encoder(c.bins, width))),
        bits(register_module("bits", torch::nn::Linear(width, c.bits))),
        rebuild(register_module("rebuild", torch::nn::Linear(width, c.bins))) {}

  torch::Tensor embed(const torch::Tensor& x) { return encoder->forward(mixer->forward(x)); }

  BinMixer mixer;
  Encoder encoder;
  torch::nn::Linear bits, rebuild;
};
TORCH_MODULE(Net);

// Autocast for a scope. The cache of converted weights goes when the outermost scope ends.
class Mixed {
 public:
  Mixed(torch::Device device, bool on) : type_(device.type()), before_(at::autocast::is_autocast_enabled(type_)) {
    at::autocast::set_autocast_enabled(type_, on);
    at::autocast::increment_nesting();
  }
  ~Mixed() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, before_);
  }
  Mixed(const Mixed&) = delete;

 private:
  at::DeviceType type_;
  bool before_;
};

class Study {
 public:
  explicit Study(const Config& config)
      : config_(config), device_(config.device), measured_(synthesise(config.data, device_)), net_(config.data, 64) {
    net_->to(device_);
    const int64_t held = config.data.spectra / 5;
    train_counts_ = measured_.counts.slice(0, held);
    held_counts_ = measured_.counts.slice(0, 0, held);
    train_x_ = spectra(train_counts_);
    train_y_ = measured_.fingerprint.slice(0, held);
    held_y_ = measured_.fingerprint.slice(0, 0, held);
  }

  // Learns to rebuild clean spectra from spectra with lost peaks.
  void pretrain() {
    torch::optim::Adam optimizer(net_->parameters(), torch::optim::AdamOptions(config_.train.lr));
    auto keep = torch::empty({config_.train.batch, config_.data.bins}, device_);
    net_->train();
    for (int epoch = 0; epoch < config_.train.epochs; ++epoch) {
      for_batches([&](const torch::Tensor& x, const torch::Tensor&) {
        Mixed mixed(device_, config_.train.amp);  // RIGHT: torch-autocast-cache (a scope for each step)
        keep.bernoulli_(0.85);
        auto rebuilt = net_->rebuild->forward(net_->embed(x * keep));
        auto loss = torch::mse_loss(rebuilt.to(torch::kFloat), x);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
      });
    }
  }

  void train() {
    torch::optim::Adam optimizer(net_->parameters(), torch::optim::AdamOptions(config_.train.lr));
    auto total = torch::zeros({}, device_);
    for (int epoch = 0; epoch < config_.train.epochs; ++epoch) {
      net_->train();
      total.zero_();
      int64_t steps = 0;
      Mixed mixed(device_, config_.train.amp);  // EXPECT: torch-autocast-cache
      for_batches([&](const torch::Tensor& x, const torch::Tensor& y) {
        auto scores = net_->bits->forward(net_->embed(x)).to(torch::kFloat);  // RIGHT: torch-autocast-boundary (widened before the loss)
        auto loss = torch::binary_cross_entropy_with_logits(scores, y);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        total += loss.detach();
        ++steps;
      });
      if (config_.train.shrink) shrink_output(*config_.train.shrink);
      std::cout << "epoch " << epoch << " loss " << total.item<double>() / steps << "\n";  // RIGHT: torch-sync-in-loop (once an epoch)
      if (config_.train.validate_every > 0 && epoch % config_.train.validate_every == 0) std::cout << "held out " << validate() << "\n";
    }
  }

  // Bits and spectrum together; the two heads have their own step sizes.
  void train_joint() {
    torch::optim::Adam bits_opt(with_trunk(*net_->bits), torch::optim::AdamOptions(1e-3));
    torch::optim::Adam rebuild_opt(with_trunk(*net_->rebuild), torch::optim::AdamOptions(3e-4));
    net_->train();
    for_batches([&](const torch::Tensor& x, const torch::Tensor& y) {
      auto h = net_->embed(x);
      auto bits_loss = torch::binary_cross_entropy_with_logits(net_->bits->forward(h), y);
      auto rebuild_loss = torch::mse_loss(net_->rebuild->forward(h), x);
      bits_opt.zero_grad();
      bits_loss.backward({}, /*retain_graph=*/true);  // RIGHT: torch-retain-graph-in-loop (the second loss shares the trunk)
      bits_opt.step();
      rebuild_opt.zero_grad();
      rebuild_loss.backward();  // EXPECT: torch-stale-graph
      rebuild_opt.step();
    });
  }

  // Adapts the last layer to the instrument of a customer, alternating between two aims.
  void adapt(int rounds) {
    torch::optim::SGD optimizer(net_->bits->parameters(), torch::optim::SGDOptions(5e-2));
    torch::Tensor h;
    net_->eval();
    {
      torch::NoGradGuard no_grad;
      h = net_->embed(train_x_);
    }
    net_->train();
    for (int i = 0; i < rounds; ++i) {
      auto first = torch::binary_cross_entropy_with_logits(net_->bits->forward(h), train_y_);
      optimizer.zero_grad();
      first.backward();
      optimizer.step();
      auto second = net_->bits->forward(h).mean().square();
      optimizer.zero_grad();
      second.backward();  // RIGHT: torch-stale-graph (its forward pass is after the step)
      optimizer.step();
    }
  }

  // Mean number of wrong bits on the spectra that were held out.
  double validate() {
    net_->eval();  // RIGHT: torch-eval-mode-not-restored (each epoch sets the mode)
    torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    auto found = net_->bits->forward(net_->embed(spectra(held_counts_))).gt(0).to(torch::kFloat);
    return (found - held_y_).abs().sum(1).mean().item<double>();
  }

  // Bits that are set with at least the given confidence, for the report.
  double confident(double threshold) {
    const bool before = torch::GradMode::is_enabled();
    torch::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored (restored below)
    net_->eval();
    auto belief = torch::sigmoid(net_->bits->forward(net_->embed(spectra(held_counts_))));
    auto share = (belief - 0.5).abs().gt(threshold).to(torch::kFloat).mean();
    torch::GradMode::set_enabled(before);
    return share.item<double>();
  }

  // Spectra of samples are compared in the space of the encoder, with the noise floor taken off.
  torch::Tensor signature(const torch::Tensor& counts) {
    torch::NoGradGuard no_grad;
    net_->eval();
    auto h = net_->embed(spectra(counts));
    auto floor = std::get<0>(h.median(0, true));
    auto lifted = (h - floor).to(torch::kCPU).clamp_min(0).to(device_);  // EXPECT: torch-device-round-trip
    return torch::nn::functional::normalize(lifted, torch::nn::functional::NormalizeFuncOptions().dim(1));
  }

  const torch::Tensor& held_counts() const { return held_counts_; }
  const torch::Tensor& train_counts() const { return train_counts_; }

 private:
  template <typename Step>
  void for_batches(Step&& step) {
    const int64_t n = train_x_.size(0), batch = config_.train.batch;
    auto order = torch::randperm(n, torch::TensorOptions().dtype(torch::kLong).device(device_));
    for (int64_t from = 0; from + batch <= n; from += batch) {
      auto pick = order.narrow(0, from, batch);
      step(train_x_.index_select(0, pick), train_y_.index_select(0, pick));
    }
  }

  std::vector<torch::Tensor> with_trunk(const torch::nn::Module& head) const {
    auto all = net_->mixer->parameters();
    for (auto& p : net_->encoder->parameters()) all.push_back(p);
    for (auto& p : head.parameters()) all.push_back(p);
    return all;
  }

  torch::Tensor spectra(const torch::Tensor& counts) const {
    return counts.to(torch::kFloat).to(device_).div_(255).sqrt_();  // EXPECT: torch-convert-before-transfer
  }

  // Pulls the output layer towards zero; an alternative to weight decay.
  void shrink_output(double rate) {
    net_->bits->weight.mul_(1 - rate);  // EXPECT: torch-leaf-inplace
    torch::NoGradGuard no_grad;
    net_->bits->bias.mul_(1 - rate);  // RIGHT: torch-leaf-inplace (grad mode is off)
  }

  Config config_;
  torch::Device device_;
  Measured measured_;
  Net net_;
  torch::Tensor train_counts_, held_counts_, train_x_, train_y_, held_y_;
};

// The library: signatures of known compounds, kept on the host as half floats.
class Library {
 public:
  Library(torch::Tensor signatures, torch::Device device) : device_(device), signatures_(signatures.to(torch::kHalf).to(torch::kCPU)) {}  // RIGHT: torch-convert-before-transfer (narrowed, then to the host)

  // Best entry for each query, in blocks of queries so that the scores fit into memory.
  std::vector<int64_t> search(const torch::Tensor& queries, int64_t block) const {
    torch::NoGradGuard no_grad;
    std::vector<torch::Tensor> best;
    for (int64_t from = 0; from < queries.size(0); from += block) {
      auto known = signatures_.to(device_).to(torch::kFloat);  // EXPECT: torch-repeated-transfer
      auto scores = queries.slice(0, from, from + block).mm(known.t());  // RIGHT: torch-noncontiguous-operand (mm takes the transposed as it is)
      best.push_back(scores.argmax(1));
    }
    auto host = torch::cat(best).to(torch::kCPU);
    return std::vector<int64_t>(host.data_ptr<int64_t>(), host.data_ptr<int64_t>() + host.numel());
  }

  // How much of the library each class of compounds has; class weights for the report.
  torch::Tensor coverage(const torch::Tensor& fingerprint_class, int64_t classes) const {
    torch::NoGradGuard no_grad;
    auto counts = torch::zeros({classes}).to(device_);  // EXPECT: torch-allocate-on-device
    auto prior = torch::full({classes}, 0.5, device_);
    counts.scatter_add_(0, fingerprint_class, torch::ones({fingerprint_class.size(0)}, device_));  // RIGHT: torch-allocate-on-device (made on the device)
    return (counts + prior) / (counts.sum() + 0.5 * classes);
  }

 private:
  torch::Device device_;
  torch::Tensor signatures_;
};

}  // namespace massspec

int main(int argc, char** argv) {
  using namespace massspec;
  torch::manual_seed(17);
  Config config;
  config.device = torch::Device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "--amp") config.train.amp = true;
    else if (key == "--joint") config.train.joint = true;
    else if (key == "--epochs") config.train.epochs = std::stoi(value);
    else if (key == "--validate-every") config.train.validate_every = std::stoi(value);
    else if (key == "--shrink") config.train.shrink = std::stod(value);
    else if (key == "--device") config.device = torch::Device(value);
  }

  Study study(config);
  study.pretrain();
  study.train();
  if (config.train.joint) study.train_joint();
  study.adapt(10);
  std::cout << "confident bits " << study.confident(0.4) << "\n";

  Library library(study.signature(study.train_counts()), config.device);
  const auto matches = library.search(study.signature(study.held_counts()), 16);
  std::cout << "best matches";
  for (size_t i = 0; i < std::min<size_t>(8, matches.size()); ++i) std::cout << ' ' << matches[i];
  std::cout << "\n";
  auto kind = torch::randint(5, {64}, torch::TensorOptions().dtype(torch::kLong).device(config.device));
  std::cout << "largest class " << library.coverage(kind, 5).max().item<double>() << "\n";
  std::cout << "wrong bits " << study.validate() << "\n";
  return 0;
}
