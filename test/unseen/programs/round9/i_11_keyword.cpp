// Keyword spotting: log-mel front end, small residual encoder, mixed precision
// training, head fine-tuning on speaker data and a streaming detector.
#include <ATen/DeviceAccelerator.h>
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kws {

struct Setup {
  int64_t rate = 800;  // samples per clip
  int64_t clips = 32;
  int64_t words = 6;
  int64_t width = 16;
  int64_t batch = 8;
  int epochs = 3;
  bool adaptive = false;
  bool probe = false;
  torch::Device device{torch::kCPU};
};

// ------------------------------------------------------------------- data

class Clips : public torch::data::Dataset<Clips> {
 public:
  Clips(const Setup& s, int seed) {
    pcm_.resize(s.clips);
    for (int64_t i = 0; i < s.clips; ++i) {
      const int64_t word = (i * 7 + seed) % s.words;
      pcm_[i].resize(s.rate);
      for (int64_t t = 0; t < s.rate; ++t)
        pcm_[i][t] = static_cast<int16_t>(9000 * std::sin(0.05 * (word + 1) * t) + (t * 31 + i) % 97);
      labels_.push_back(word);
    }
  }

  torch::data::Example<> get(size_t i) override {
    auto wave = torch::from_blob(pcm_[i].data(), {static_cast<int64_t>(pcm_[i].size())}, torch::kShort);
    return {wave.clone(), torch::tensor(labels_[i])};
  }

  torch::optional<size_t> size() const override { return pcm_.size(); }

  const std::vector<int64_t>& labels() const { return labels_; }

 private:
  std::vector<std::vector<int16_t>> pcm_;
  std::vector<int64_t> labels_;
};

// Recordings of one speaker; several views of it are around at a time.
class SpeakerClips : public torch::data::Dataset<SpeakerClips> {
 public:
  explicit SpeakerClips(std::shared_ptr<Clips> all, size_t every) : all_(std::move(all)), every_(every) {}
  torch::data::Example<> get(size_t i) override { return all_->get(i * every_); }
  torch::optional<size_t> size() const override { return *all_->size() / every_; }

 private:
  std::shared_ptr<Clips> all_;
  size_t every_;
};

// ------------------------------------------------------------------- model

struct FrontEndImpl : torch::nn::Module {
  explicit FrontEndImpl(int64_t mels) {
    mel_ = register_buffer("mel", torch::rand({mels, 33}) / 33);
    taper_ = torch::hann_window(64);
  }

  torch::Tensor forward(const torch::Tensor& wave) {
    auto frames = wave.unfold(1, 64, 32) * taper_;  // EXPECT: torch-device-mismatch
    auto power = torch::fft_rfft(frames).abs().square_();
    return torch::matmul(power, mel_.t()).add_(1e-5).log_().transpose(1, 2);  // RIGHT: torch-device-mismatch
  }

  torch::Tensor mel_, taper_;
};
TORCH_MODULE(FrontEnd);

struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t in, int64_t out) {
    conv_ = register_module("conv", torch::nn::Conv1d(torch::nn::Conv1dOptions(in, out, 3).padding(1)));
    norm_ = register_module("norm", torch::nn::GroupNorm(4, out));
    if (in != out) {
      skip_ = torch::nn::Conv1d(torch::nn::Conv1dOptions(in, out, 1));  // EXPECT: torch-unregistered-module
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = norm_(conv_(x));
    return torch::relu(y + (skip_ ? skip_(x) : x));
  }

  torch::nn::Conv1d conv_{nullptr}, skip_{nullptr};
  torch::nn::GroupNorm norm_{nullptr};
};
TORCH_MODULE(Block);

struct EncoderImpl : torch::nn::Module {
  EncoderImpl(int64_t in, int64_t width) {
    const std::vector<std::pair<int64_t, int64_t>> plan{{in, width}, {width, width}, {width, width}};
    for (const auto& [a, b] : plan) {
      Block block(a, b);
      stages_.push_back(register_module("stage" + std::to_string(stages_.size()), block));  // RIGHT: torch-unregistered-module
    }
    proj_ = register_module("proj", torch::nn::Linear(width, width));
  }

  torch::Tensor forward(torch::Tensor x) {
    for (auto& s : stages_) x = s->forward(x);
    return proj_(x.mean(2));
  }

  std::vector<Block> stages_;
  torch::nn::Linear proj_{nullptr};
};
TORCH_MODULE(Encoder);

class HalfScope {
 public:
  explicit HalfScope(torch::Device d) : type_(d.type()) { at::autocast::set_autocast_enabled(type_, true); }
  ~HalfScope() {
    at::autocast::set_autocast_enabled(type_, false);
    at::autocast::clear_cache();
  }

 private:
  at::DeviceType type_;
};

// ----------------------------------------------------------------- training

class Spotter {
 public:
  explicit Spotter(const Setup& s)
      : s_(s), front_(20), encoder_(20, s.width), head_(torch::nn::LinearOptions(s.width, s.words)) {
    front_->to(s.device);
    encoder_->to(s.device);
    head_->to(s.device);
    at::autocast::set_autocast_dtype(s.device.type(), torch::kBFloat16);
    auto quiet = torch::randn({1, s.rate}, s.device) * 1e-3;
    floor_ = profile(quiet);
    gain_ = profile(quiet * 10).clone();
  }

  void fit(Clips& clips) {
    auto params = encoder_->parameters();
    for (auto& p : head_->parameters()) params.push_back(p);
    torch::optim::Adam opt(params, 3e-3);
    const auto weights = balance(clips.labels());
    auto total = torch::zeros({}, s_.device);
    for (int e = 0; e < s_.epochs; ++e) {
      auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
          clips.map(torch::data::transforms::Stack<>()),  // EXPECT: torch-dataset-copied
          torch::data::DataLoaderOptions().batch_size(s_.batch).workers(2));
      total.zero_();
      int64_t batches = 0;
      for (auto& b : *loader) {
        auto mel = features(augment(load(b.data)));
        auto labels = b.target.to(s_.device);
        opt.zero_grad();
        at::autocast::set_autocast_enabled(s_.device.type(), true);  // EXPECT: torch-autocast-cache
        auto logits = head_(encoder_->forward(mel));
        at::autocast::set_autocast_enabled(s_.device.type(), false);
        auto loss = torch::nn::functional::cross_entropy(
            logits.to(torch::kFloat), labels,  // RIGHT: torch-autocast-boundary
            torch::nn::functional::CrossEntropyFuncOptions().weight(weights));
        loss.backward();
        opt.step();
        total += loss.detach();
        ++batches;
        if (s_.device.is_cuda()) at::accelerator::emptyCache();  // EXPECT: torch-empty-cache-in-loop
      }
      std::cout << "epoch " << e << " loss " << total.item<double>() / batches << "\n";
    }
    if (s_.device.is_cuda()) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop
  }

  // A few passes over one speaker, the encoder stays as it is.
  void adapt(SpeakerClips speaker) {
    torch::optim::Adam opt(head_->parameters(), 1e-3);
    auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
        speaker.map(torch::data::transforms::Stack<>()),  // RIGHT: torch-dataset-copied
        torch::data::DataLoaderOptions().batch_size(s_.batch).workers(2));
    for (int pass = 0; pass < 2; ++pass) {
      for (auto& b : *loader) {
        auto e = embed(features(load(b.data)));
        opt.zero_grad();
        torch::Tensor logits;
        {
          HalfScope half(s_.device);  // RIGHT: torch-autocast-cache
          logits = head_(e);
        }
        auto loss = torch::cross_entropy_loss(logits.to(torch::kFloat), b.target.to(s_.device));
        loss.backward();
        opt.step();
      }
    }
  }

  // Linear probe for the weekly sheet: how much is in the embedding?
  double probe(Clips& clips) {
    std::vector<torch::Tensor> waves, marks;
    for (size_t i = 0; i < *clips.size(); ++i) {
      auto ex = clips.get(i);
      waves.push_back(ex.data);
      marks.push_back(ex.target);
    }
    auto e = embed(features(load(torch::stack(waves))));
    auto labels = torch::stack(marks).to(s_.device);
    torch::nn::Linear lin(s_.width, s_.words);
    lin->to(s_.device);
    torch::optim::Adam opt(lin->parameters(), 1e-2);
    auto loss = torch::zeros({}, s_.device);
    for (int i = 0; i < 30; ++i) {
      opt.zero_grad();
      loss = torch::cross_entropy_loss(lin(e), labels);  // EXPECT: torch-autocast-boundary
      loss.backward();
      opt.step();
    }
    return loss.item<double>();
  }

  double spread(const torch::Tensor& wave) {
    auto e = embed(features(wave.to(s_.device)));
    auto centre = gain_.mean();
    return (e - centre).norm().item<double>();  // RIGHT: torch-autocast-boundary
  }

  // Feeds a long recording to the detector, as the phone would.
  std::vector<float> listen(const torch::Tensor& recording) {
    torch::InferenceMode guard;
    std::vector<float> scores;
    const int64_t hop = s_.rate / 2;
    for (int64_t end = s_.rate; end <= recording.size(0); end += hop) {
      auto heard = recording.slice(0, 0, end).to(s_.device);  // EXPECT: torch-varying-shapes
      auto p = head_(encoder_->forward(features(heard.unsqueeze(0)))).softmax(1);
      scores.push_back(p.max().item<float>());
    }
    return scores;
  }

  int64_t confident_windows(const torch::Tensor& recording) {
    torch::InferenceMode guard;
    int64_t n = 0;
    for (int64_t end = s_.rate; end <= recording.size(0); end += s_.rate) {
      auto window = recording.slice(0, end - s_.rate, end).to(s_.device);  // RIGHT: torch-varying-shapes
      auto p = head_(encoder_->forward(features(window.unsqueeze(0)))).softmax(1);
      n += p.max().item<float>() > 0.5f;
    }
    return n;
  }

  void raise_gain(double factor) {
    gain_.mul_(factor);  // RIGHT: torch-inference-tensor
  }

 private:
  torch::Tensor profile(const torch::Tensor& wave) {
    torch::InferenceMode guard;
    return front_->forward(wave).mean({-3, -1});
  }

  torch::Tensor load(const torch::Tensor& pcm) const {
    return pcm.to(s_.device).to(torch::kFloat).div_(32768);  // RIGHT: torch-convert-before-transfer
  }

  torch::Tensor features(const torch::Tensor& wave) {
    torch::NoGradGuard guard;
    auto mel = front_->forward(wave);
    if (s_.adaptive) {
      floor_.lerp_(mel.mean({-3, -1}), 0.01);  // EXPECT: torch-inference-tensor
    }
    return (mel - floor_.view({1, -1, 1})).mul_(0.3);
  }

  torch::Tensor augment(const torch::Tensor& wave) const {
    auto hiss = torch::randn(wave.sizes()).to(wave.device());  // EXPECT: torch-allocate-on-device
    return wave.add(hiss, 0.003);
  }

  torch::Tensor embed(const torch::Tensor& mel) {
    torch::NoGradGuard guard;
    HalfScope half(s_.device);
    return encoder_->forward(mel);
  }

  torch::Tensor balance(const std::vector<int64_t>& labels) const {
    std::vector<float> count(s_.words, 1.f);
    for (auto l : labels) count[l] += 1.f;
    auto w = torch::tensor(count).reciprocal_().to(s_.device);  // RIGHT: torch-allocate-on-device
    return w / w.mean();
  }

  Setup s_;
  FrontEnd front_;
  Encoder encoder_;
  torch::nn::Linear head_;
  torch::Tensor floor_, gain_;
};

}  // namespace kws

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(21);
  kws::Setup s;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    s.adaptive |= a == "--adaptive";
    s.probe |= a == "--probe";
  }
  if (torch::cuda::is_available()) {
    s.device = torch::Device(torch::kCUDA, 0);
    s.rate = 16000;
    s.clips = 60000;
    s.width = 128;
    s.batch = 256;
    s.epochs = 30;
  }
  auto clips = std::make_shared<kws::Clips>(s, 1);
  kws::Spotter spotter(s);
  spotter.fit(*clips);
  spotter.raise_gain(1.1);
  spotter.adapt(kws::SpeakerClips(clips, 4));

  auto recording = torch::randn({s.rate * 6}) * 0.1;
  const auto scores = spotter.listen(recording);
  std::cout << "scores " << scores.size() << " last " << scores.back() << " confident "
            << spotter.confident_windows(recording) << " spread "
            << spotter.spread(recording.view({6, s.rate})) << "\n";
  if (s.probe) {
    kws::Clips fresh(s, 2);
    std::cout << "probe " << spotter.probe(fresh) << "\n";
  }
  return 0;
}
