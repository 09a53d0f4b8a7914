// Keyword spotting on short commands: training on fixed windows, tuning on full
// recordings, and per-speaker adaptation on a continuous stream.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

// The CUDA toolkit headers are installed on the training hosts only.
namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
}

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct SpotterConfig {
  int64_t sampleRate = 16000;
  int64_t windowSamples = 8000;
  int64_t frame = 400;
  int64_t hop = 160;
  int64_t mels = 40;
  std::vector<int64_t> widths{64, 64};
  int64_t hidden = 48;
  int64_t classes = 6;
  int64_t batch = 12;
  int64_t chunk = 4000;
  int64_t epochs = 2;
  int64_t logEvery = 25;
  double lr = 2e-3;
  std::string checkpoint;
};

struct Utterance {
  torch::Tensor pcm;  // int16, one dimension
  int64_t label = 0;
};

struct Batch {
  torch::Tensor pcm;
  torch::Tensor labels;
};

// Synthetic commands: a tone per class with some noise, between 0.25 s and 0.75 s.
class CommandCorpus {
 public:
  CommandCorpus(const SpotterConfig& cfg, int64_t count, uint64_t seed) : rng_(seed) {
    std::uniform_int_distribution<int64_t> length(cfg.sampleRate / 4, cfg.sampleRate * 3 / 4);
    items_.reserve(count);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t label = i % cfg.classes;
      items_.push_back({synthesize(cfg, label, length(rng_)), label});
    }
  }

  int64_t size() const { return static_cast<int64_t>(items_.size()); }
  const Utterance& operator[](int64_t i) const { return items_[i]; }

  std::vector<const Utterance*> pick(const std::vector<int64_t>& order, int64_t start, int64_t count) const {
    std::vector<const Utterance*> out;
    for (int64_t i = start; i < start + count; ++i) out.push_back(&items_[order[i]]);
    return out;
  }

  std::vector<int64_t> shuffled() {
    std::vector<int64_t> order(items_.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng_);
    return order;
  }

 private:
  static torch::Tensor synthesize(const SpotterConfig& cfg, int64_t label, int64_t samples) {
    const double step = 2.0 * M_PI * (220.0 + 110.0 * label) / cfg.sampleRate;
    auto tone = torch::arange(samples, torch::kFloat32).mul_(step).sin_();
    tone.add_(torch::randn({samples}), 0.1).mul_(8000.0);
    return tone.clamp_(-32768, 32767).to(torch::kShort);
  }

  std::mt19937_64 rng_;
  std::vector<Utterance> items_;
};

void fillBatch(Batch& out, const std::vector<const Utterance*>& items) {
  auto labels = out.labels.accessor<int64_t, 1>();
  const int64_t room = out.pcm.size(1);
  for (size_t i = 0; i < items.size(); ++i) {
    const auto samples = std::min(room, items[i]->pcm.size(0));
    out.pcm[i].narrow(0, 0, samples).copy_(items[i]->pcm.narrow(0, 0, samples));
    labels[i] = items[i]->label;
  }
}

Batch collateWindow(const std::vector<const Utterance*>& items, const SpotterConfig& cfg, bool pinned) {
  const auto rows = static_cast<int64_t>(items.size());
  const auto opts = torch::TensorOptions().pinned_memory(pinned);
  Batch out;
  out.pcm = torch::zeros({rows, cfg.windowSamples}, opts.dtype(torch::kShort));  // RIGHT: torch-varying-shapes (every clip is cut or padded to the window), torch-allocation-in-loop (written in place and handed out)
  out.labels = torch::empty({rows}, opts.dtype(torch::kLong));
  fillBatch(out, items);
  return out;
}

Batch collateWhole(const std::vector<const Utterance*>& items) {
  int64_t samples = 0;
  for (const auto* item : items) samples = std::max(samples, item->pcm.size(0));
  const auto rows = static_cast<int64_t>(items.size());
  Batch out;
  out.pcm = torch::zeros({rows, samples}, torch::kShort);  // EXPECT: torch-varying-shapes
  out.labels = torch::empty({rows}, torch::kLong);
  fillBatch(out, items);
  return out;
}

torch::Tensor toUnitRange(const torch::Tensor& pcm) { return pcm.to(torch::kFloat32).div_(32768.0); }

class LogMelImpl : public nn::Module {
 public:
  explicit LogMelImpl(const SpotterConfig& cfg) : frame_(cfg.frame), hop_(cfg.hop) {
    window_ = register_buffer("window", torch::hann_window(cfg.frame));
    const int64_t bins = cfg.frame / 2 + 1;
    auto centers = torch::linspace(0, bins - 1, cfg.mels).unsqueeze(1);
    auto distance = torch::arange(bins, torch::kFloat32).unsqueeze(0).sub(centers).abs_();
    filters_ = register_buffer("filters", torch::relu(1.0 - distance / (2.0 * bins / cfg.mels)));
  }

  torch::Tensor forward(const torch::Tensor& wave) {
    auto spectrum = wave.stft(frame_, hop_, frame_, window_, /*center=*/true, "reflect",
                              /*normalized=*/false, /*onesided=*/true, /*return_complex=*/true);
    return torch::matmul(filters_, spectrum.abs().square_()).clamp_min_(1e-6).log_();
  }

 private:
  int64_t frame_, hop_;
  torch::Tensor window_, filters_;
};
TORCH_MODULE(LogMel);

class ConvBlockImpl : public nn::Module {
 public:
  ConvBlockImpl(int64_t in, int64_t out)
      : conv_(register_module("conv", nn::Conv1d(nn::Conv1dOptions(in, out, 3).padding(1).bias(false)))),
        norm_(register_module("norm", nn::BatchNorm1d(out))) {}

  torch::Tensor forward(const torch::Tensor& x) { return torch::relu(norm_(conv_(x))); }

 private:
  nn::Conv1d conv_;
  nn::BatchNorm1d norm_;
};
TORCH_MODULE(ConvBlock);

nn::Conv1d makeProjection(int64_t in, int64_t out) {
  nn::Conv1d conv(nn::Conv1dOptions(in, out, 1));
  nn::init::kaiming_normal_(conv->weight);
  return conv;
}

class SpotterImpl : public nn::Module {
 public:
  explicit SpotterImpl(const SpotterConfig& cfg) : logmel_(register_module("logmel", LogMel(cfg))) {
    int64_t in = cfg.mels;
    for (size_t i = 0; i < cfg.widths.size(); ++i) {
      ConvBlock block(in, cfg.widths[i]);
      in = cfg.widths[i];
      blocks_.push_back(register_module("block" + std::to_string(i), block));  // RIGHT: torch-unregistered-module (each element is registered under its own name)
    }
    shortcut_ = makeProjection(cfg.mels, in);  // EXPECT: torch-unregistered-module
    gru_ = register_module("gru", nn::GRU(nn::GRUOptions(in, cfg.hidden).batch_first(true)));
    head_ = register_module("head", nn::Linear(cfg.hidden, cfg.classes));
  }

  // Logits and the recurrent state after the last frame.
  std::tuple<torch::Tensor, torch::Tensor> forward(const torch::Tensor& wave, const torch::Tensor& hidden = {}) {
    auto features = logmel_(wave);
    auto x = features;
    for (auto& block : blocks_) x = block(x);
    x = x + shortcut_(features);  // RIGHT: torch-inplace-opportunity (relu saved its result for backward)
    auto [frames, last] = gru_->forward(x.transpose(1, 2), hidden);
    return {head_(frames.mean(1)), last};
  }

 private:
  LogMel logmel_;
  std::vector<ConvBlock> blocks_;
  nn::Conv1d shortcut_{nullptr};
  nn::GRU gru_{nullptr};
  nn::Linear head_{nullptr};
};
TORCH_MODULE(Spotter);

class EvalScope {
 public:
  explicit EvalScope(nn::Module& module) : module_(module), before_(module.is_training()) {
    module_.eval();  // RIGHT: torch-eval-mode-not-restored (the destructor restores the mode)
  }
  ~EvalScope() { module_.train(before_); }
  EvalScope(const EvalScope&) = delete;
  EvalScope& operator=(const EvalScope&) = delete;

 private:
  nn::Module& module_;
  bool before_;
};

struct StreamState {
  torch::Tensor hidden;
  int64_t samples = 0;
};

torch::Tensor carry(const torch::Tensor& hidden) { return hidden.defined() ? hidden.detach() : hidden; }

torch::Tensor classWeights(const CommandCorpus& corpus, const SpotterConfig& cfg, torch::Device device) {
  std::vector<double> counts(cfg.classes, 1.0);
  for (int64_t i = 0; i < corpus.size(); ++i) counts[corpus[i].label] += 1.0;
  auto weights = torch::tensor(counts, torch::kFloat64).reciprocal_();
  weights.div_(weights.mean());
  return weights.to(torch::kFloat32).to(device);  // RIGHT: torch-convert-before-transfer (narrowed: half the bytes are copied)
}

void releaseScratch(torch::Device device) {
  if (device.is_cuda()) c10::cuda::CUDACachingAllocator::emptyCache();
}

class Trainer {
 public:
  Trainer(const SpotterConfig& cfg, Spotter model, torch::Tensor weights, torch::Device device)
      : cfg_(cfg),
        model_(std::move(model)),
        weights_(std::move(weights)),
        device_(device),
        opt_(model_->parameters(), torch::optim::AdamWOptions(cfg.lr).weight_decay(1e-4)) {}

  void fit(CommandCorpus& corpus) {
    model_->train();
    for (int64_t epoch = 0; epoch < cfg_.epochs; ++epoch) {
      const double loss = runEpoch(corpus);
      std::cout << "epoch " << epoch << " loss " << loss << "\n";
    }
    releaseScratch(device_);  // RIGHT: torch-empty-cache-in-loop (once, after the last epoch)
  }

  // Second phase: whole recordings instead of windows.
  void tune(CommandCorpus& corpus) {
    const auto order = corpus.shuffled();
    for (int64_t start = 0; start + cfg_.batch <= corpus.size(); start += cfg_.batch) {
      auto batch = collateWhole(corpus.pick(order, start, cfg_.batch));
      auto wave = toUnitRange(batch.pcm).to(device_);  // EXPECT: torch-convert-before-transfer
      auto logits = std::get<0>(model_->forward(wave));
      auto loss = classLoss(logits, batch.labels.to(device_));
      opt_.zero_grad();
      loss.backward();
      opt_.step();
      releaseScratch(device_);  // EXPECT: torch-empty-cache-in-loop
    }
  }

  // Truncated backpropagation over a long recording of one command.
  void trainContinuous(const torch::Tensor& recording, int64_t label) {
    const auto resident = recording.to(device_);
    const auto target = torch::full({1}, label, torch::TensorOptions(torch::kLong).device(device_));
    StreamState state;
    while (state.samples + cfg_.chunk <= resident.size(0)) {
      auto piece = toUnitRange(resident.narrow(0, state.samples, cfg_.chunk)).unsqueeze_(0);
      auto [logits, last] = model_->forward(piece, state.hidden);
      opt_.zero_grad();
      classLoss(logits, target).backward();
      opt_.step();
      state.hidden = carry(last);  // RIGHT: torch-undetached-hidden-state (carry() detaches it)
      state.samples += cfg_.chunk;
    }
  }

  // Adaptation to one speaker while the audio comes in.
  StreamState adapt(const std::vector<torch::Tensor>& chunks, int64_t label) {
    const auto target = torch::full({1}, label, torch::TensorOptions(torch::kLong).device(device_));
    StreamState state;
    for (const auto& chunk : chunks) {
      if (chunk.size(0) < cfg_.frame) continue;
      auto pcm = chunk.to(device_, /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
      auto [logits, last] = model_->forward(toUnitRange(pcm).unsqueeze_(0), state.hidden);
      opt_.zero_grad();
      classLoss(logits, target).backward();
      opt_.step();
      state.hidden = last;  // EXPECT: torch-undetached-hidden-state
      state.samples += chunk.size(0);
    }
    return state;
  }

  double accuracy(const CommandCorpus& corpus) {
    torch::NoGradGuard noGrad;
    EvalScope scope(*model_);
    auto hits = torch::zeros({}, torch::TensorOptions(torch::kLong).device(device_));
    std::vector<int64_t> order(corpus.size());
    std::iota(order.begin(), order.end(), 0);
    int64_t seen = 0;
    for (int64_t start = 0; start + cfg_.batch <= corpus.size(); start += cfg_.batch, seen += cfg_.batch) {
      auto batch = collateWindow(corpus.pick(order, start, cfg_.batch), cfg_, device_.is_cuda());
      auto wave = toUnitRange(batch.pcm.to(device_, /*non_blocking=*/true));
      auto logits = std::get<0>(model_->forward(wave));
      hits.add_(logits.argmax(1).eq(batch.labels.to(device_, /*non_blocking=*/true)).sum());
    }
    return seen == 0 ? 0.0 : hits.item<double>() / static_cast<double>(seen);
  }

  int64_t recognize(const torch::Tensor& recording) {
    torch::NoGradGuard noGrad;
    EvalScope scope(*model_);
    return decode(recording.to(device_));
  }

 private:
  double runEpoch(CommandCorpus& corpus) {
    auto total = torch::zeros({}, device_);
    int64_t steps = 0;
    const auto order = corpus.shuffled();
    for (int64_t start = 0; start + cfg_.batch <= corpus.size(); start += cfg_.batch) {
      auto batch = collateWindow(corpus.pick(order, start, cfg_.batch), cfg_, device_.is_cuda());
      auto wave = toUnitRange(batch.pcm.to(device_, /*non_blocking=*/true));  // RIGHT: torch-pageable-transfer (the collate function pins its memory)
      auto labels = batch.labels.to(device_, /*non_blocking=*/true);
      resetGradients();
      auto loss = classLoss(std::get<0>(model_->forward(wave)), labels);
      loss.backward();
      opt_.step();
      total.add_(loss.detach());
      if (++steps % cfg_.logEvery == 0) {
        std::cout << "  step " << steps << " loss " << loss.item<double>() << "\n";  // RIGHT: torch-sync-in-loop (every 25th step only)
      }
    }
    return steps == 0 ? 0.0 : total.item<double>() / static_cast<double>(steps);
  }

  void resetGradients() {
    for (auto& p : model_->parameters()) {
      if (p.grad().defined()) p.mutable_grad().zero_();  // EXPECT: torch-zero-grad-in-place
    }
  }

  torch::Tensor classLoss(const torch::Tensor& logits, const torch::Tensor& target) const {
    return F::cross_entropy(logits, target, F::CrossEntropyFuncOptions().weight(weights_));
  }

  int64_t decode(const torch::Tensor& pcm) {
    torch::Tensor votes;
    StreamState state;
    for (; state.samples + cfg_.chunk <= pcm.size(0); state.samples += cfg_.chunk) {
      auto piece = toUnitRange(pcm.narrow(0, state.samples, cfg_.chunk)).unsqueeze_(0);
      auto [logits, last] = model_->forward(piece, state.hidden);
      state.hidden = last;  // RIGHT: torch-undetached-hidden-state (the caller holds a NoGradGuard: there is no graph)
      auto p = logits.softmax(1);
      votes = votes.defined() ? votes.add_(p) : p;
    }
    return votes.defined() ? votes.argmax(1).item<int64_t>() : -1;
  }

  const SpotterConfig cfg_;
  Spotter model_;
  torch::Tensor weights_;
  torch::Device device_;
  torch::optim::AdamW opt_;
};

int main(int argc, char** argv) {
  torch::manual_seed(7);
  SpotterConfig cfg;
  if (argc > 1) cfg.checkpoint = argv[1];
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  if (device.is_cuda()) at::globalContext().setBenchmarkCuDNN(true);

  CommandCorpus train(cfg, 96, 11), test(cfg, 36, 12);
  Spotter model(cfg);
  model->to(device);
  Trainer trainer(cfg, model, classWeights(train, cfg, device), device);
  try {
    trainer.fit(train);
    trainer.tune(train);
    std::vector<torch::Tensor> parts;
    for (int64_t i = 0; i < 24; i += cfg.classes) parts.push_back(train[i].pcm);
    const auto recording = torch::cat(parts);
    trainer.trainContinuous(recording, 0);
    std::cout << "accuracy " << trainer.accuracy(test) << " decoded " << trainer.recognize(recording) << "\n";
    const auto state = trainer.adapt(recording.split(cfg.chunk), 0);
    std::cout << "adapted on " << state.samples << " samples\n";
  } catch (const c10::Error& e) {
    std::cerr << "training failed: " << e.what_without_backtrace() << "\n";
    return 1;
  }
  if (!cfg.checkpoint.empty()) torch::save(model, cfg.checkpoint);
  return 0;
}
