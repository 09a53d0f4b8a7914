// A small vocoder: a generator turns log-mel spectra into waves, a discriminator
// tells its waves from recorded ones. One session trains one voice; what happens
// around the steps is left to callbacks.
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The driver is there only where the program runs beside a CUDA installation.
extern "C" int cudaMalloc(void** pointer, size_t bytes) __attribute__((weak));
extern "C" int cudaFree(void* pointer) __attribute__((weak));

namespace vocoder {

struct Config {
  int64_t mels = 20;
  int64_t frames = 16;
  int64_t hop = 32;
  int64_t window = 64;
  int64_t batch = 8;
  int voices = 2;
  int epochs = 2;
  int steps = 12;
  torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);

  int64_t samples() const { return frames * hop; }
  torch::TensorOptions floats() const { return torch::TensorOptions().device(device); }
};

// y = x + sin^2(a x) / a, a periodic activation for audio.
struct Snake : torch::autograd::Function<Snake> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x, double alpha) {
    ctx->save_for_backward({x});
    ctx->saved_data["alpha"] = alpha;  // RIGHT: torch-saved-data
    return torch::sin(x * alpha).square_().div_(alpha).add_(x);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto x = ctx->get_saved_variables()[0];
    const double alpha = ctx->saved_data["alpha"].toDouble();
    return {torch::sin(x * (2 * alpha)).add_(1).mul_(grads[0]), torch::Tensor()};
  }
};

// Keeps the wave within -1 .. 1.
struct SoftClip : torch::autograd::Function<SoftClip> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x) {
    auto y = torch::tanh(x);
    ctx->saved_data["y"] = y;  // EXPECT: torch-saved-data
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto y = ctx->saved_data["y"].toTensor();
    return {grads[0].addcmul(grads[0], y.square(), -1)};
  }
};

struct GeneratorImpl : torch::nn::Module {
  explicit GeneratorImpl(const Config& config) {
    using Up = torch::nn::ConvTranspose1dOptions;
    pre = register_module("pre", torch::nn::Conv1d(torch::nn::Conv1dOptions(config.mels, 32, 3).padding(1)));
    coarse = register_module("coarse", torch::nn::ConvTranspose1d(Up(32, 16, 16).stride(8).padding(4)));
    fine = register_module("fine", torch::nn::ConvTranspose1d(Up(16, 8, 8).stride(4).padding(2)));
    post = register_module("post", torch::nn::Conv1d(torch::nn::Conv1dOptions(8, 1, 7).padding(3)));
  }

  // [batch, mels, frames] -> [batch, 1, frames * hop]
  torch::Tensor forward(const torch::Tensor& mel) {
    auto x = Snake::apply(coarse->forward(pre->forward(mel)), 1.0);
    x = Snake::apply(fine->forward(x), 2.0);
    return SoftClip::apply(post->forward(x));
  }

  torch::nn::Conv1d pre{nullptr}, post{nullptr};
  torch::nn::ConvTranspose1d coarse{nullptr}, fine{nullptr};
};
TORCH_MODULE(Generator);

struct DiscriminatorImpl : torch::nn::Module {
  DiscriminatorImpl() {
    using Conv = torch::nn::Conv1dOptions;
    const auto leaky = torch::nn::LeakyReLUOptions().negative_slope(0.1);
    layers = register_module("layers", torch::nn::Sequential(
        torch::nn::Conv1d(Conv(1, 8, 15).stride(4).padding(7)), torch::nn::LeakyReLU(leaky),
        torch::nn::Conv1d(Conv(8, 16, 15).stride(4).padding(7)), torch::nn::LeakyReLU(leaky),
        torch::nn::Conv1d(Conv(16, 1, 3).padding(1))));
  }

  torch::Tensor forward(const torch::Tensor& wave) { return layers->forward(wave).flatten(1); }

  torch::nn::Sequential layers{nullptr};
};
TORCH_MODULE(Discriminator);

// Log-mel spectrum of waves, differentiable.
class MelTransform {
 public:
  explicit MelTransform(const Config& config)
      : config_(config), taper_(torch::hann_window(config.window, config.floats())),
        filters_(torch::rand({config.window / 2 + 1, config.mels}, config.floats()).div_(8.0)) {}

  torch::Tensor operator()(const torch::Tensor& wave) const {
    auto padded = torch::constant_pad_nd(wave.squeeze(1), {config_.hop / 2, config_.hop / 2});
    auto spectrum = torch::fft::rfft(padded.unfold(1, config_.window, config_.hop) * taper_).abs();
    auto bands = torch::matmul(spectrum, filters_).clone();  // EXPECT: torch-redundant-transfer
    return torch::log1p(bands).transpose(1, 2);
  }

 private:
  Config config_;
  torch::Tensor taper_, filters_;
};

struct Batch {
  torch::Tensor wave;
  torch::Tensor mel;
};

// Harmonic tones with a pitch of their own, in place of recordings.
class VoiceSource {
 public:
  VoiceSource(const Config& config, const MelTransform& transform, double pitch)
      : config_(config), transform_(transform), pitch_(pitch),
        time_(torch::arange(config.samples(), config.floats())) {}

  Batch next() const {
    torch::NoGradGuard no_grad;
    auto pitch = torch::rand({config_.batch, 1, 1}, config_.floats()).add_(1.0).mul_(pitch_);
    auto wave = torch::sin(pitch * time_).mul_(0.6);
    return {wave, transform_(wave)};
  }

 private:
  const Config& config_;
  const MelTransform& transform_;
  double pitch_;
  torch::Tensor time_;
};

// -------------------------------------------------------------- device memory

// A table of noise for the preview, outside the pool of the allocator.
torch::Tensor noise_table(const Config& config) {
  void* memory = nullptr;
  const auto bytes = static_cast<size_t>(config.samples()) * sizeof(float);
  if (!config.device.is_cuda() || cudaMalloc == nullptr) return torch::randn({config.samples()}, config.floats());
  if (cudaMalloc(&memory, bytes) != 0) std::abort();  // EXPECT: torch-untracked-cuda-memory
  return torch::from_blob(memory, {config.samples()}, config.floats()).normal_();
}

// The same for the gains of the preview, handed back with the tensor.
torch::Tensor gain_table(const Config& config) {
  void* memory = nullptr;
  const auto bytes = static_cast<size_t>(config.samples()) * sizeof(float);
  if (config.device.type() != torch::kCUDA || cudaMalloc == nullptr) {  // RIGHT: torch-device-comparison
    return torch::ones({config.samples()}, config.floats());
  }
  if (cudaMalloc(&memory, bytes) != 0) std::abort();  // RIGHT: torch-untracked-cuda-memory
  return torch::from_blob(memory, {config.samples()}, [](void* p) { cudaFree(p); }, config.floats()).fill_(1.0);
}

// ------------------------------------------------------------------- training

struct Callbacks {
  std::function<void(torch::optim::Optimizer&)> before_backward = [](torch::optim::Optimizer& o) { o.zero_grad(); };
  std::function<void(int, const torch::Tensor&)> on_step;
  std::function<void(int)> on_epoch;
  std::function<void()> on_end;
};

void set_trainable(const std::vector<torch::Tensor>& parameters, bool on) {
  for (auto p : parameters) p.requires_grad_(on);
}

class TrainingSession : public std::enable_shared_from_this<TrainingSession> {
 public:
  TrainingSession(const Config& config, double pitch)
      : config_(config), transform_(config), source_(config_, transform_, pitch), generator_(config),
        noise_(noise_table(config)), gains_(gain_table(config)), preview_(torch::zeros({config.samples()}, config.floats())) {
    generator_->to(config.device);
    discriminator_->to(config.device);
    trains_generator_ = std::make_unique<torch::optim::Adam>(generator_->parameters(), torch::optim::AdamOptions(2e-3));
    trains_discriminator_ =
        std::make_unique<torch::optim::Adam>(discriminator_->parameters(), torch::optim::AdamOptions(1e-3));
  }

  Callbacks& callbacks() { return callbacks_; }

  // Connects the callbacks that belong to the session itself.
  void connect() {
    auto self = shared_from_this();
    callbacks_.on_epoch = [self](int epoch) { self->publish(epoch); };  // EXPECT: torch-reference-cycle
    std::weak_ptr<TrainingSession> weak = self;
    callbacks_.on_end = [weak] {  // RIGHT: torch-reference-cycle
      if (auto session = weak.lock()) session->summarize();
    };
  }

  void run() {
    for (int step = 0; step < config_.steps; ++step) warm_discriminator(source_.next());
    for (int epoch = 0; epoch < config_.epochs; ++epoch) {
      for (int step = 0; step < config_.steps; ++step) {
        const auto batch = source_.next();
        discriminator_step(batch);
        const auto loss = generator_step(batch);
        if (callbacks_.on_step) callbacks_.on_step(epoch * config_.steps + step, loss);
      }
      if (callbacks_.on_epoch) callbacks_.on_epoch(epoch);
    }
    if (callbacks_.on_end) callbacks_.on_end();
  }

  torch::Tensor render(const torch::Tensor& mel) {
    torch::NoGradGuard no_grad;
    return generator_->forward(mel);
  }

  // A whole utterance: at once on the GPU, piece by piece on the CPU.
  torch::Tensor render_long(const torch::Tensor& mel) {
    const bool at_once = mel.device() == torch::Device(torch::kCUDA);  // EXPECT: torch-device-comparison
    const int64_t length = mel.size(2), piece = at_once ? length : config_.frames;
    auto wave = torch::empty({mel.size(0), 1, length * config_.hop}, mel.options());
    for (int64_t at = 0; at < length; at += piece) {
      const int64_t count = std::min(piece, length - at);
      wave.narrow(2, at * config_.hop, count * config_.hop).copy_(render(mel.narrow(2, at, count)));  // RIGHT: torch-varying-shapes
    }
    return wave;
  }

 private:
  // The generator is not in the graph here: render() works without gradients.
  void warm_discriminator(const Batch& batch) {
    auto fake = render(batch.mel);
    auto real_scores = discriminator_->forward(batch.wave);
    auto fake_scores = discriminator_->forward(fake);  // RIGHT: torch-undetached-generator-output
    descend_discriminator(real_scores, fake_scores);
  }

  void discriminator_step(const Batch& batch) {
    auto fake = generator_->forward(batch.mel);
    auto real_scores = discriminator_->forward(batch.wave);
    auto fake_scores = discriminator_->forward(fake);  // EXPECT: torch-undetached-generator-output
    descend_discriminator(real_scores, fake_scores);
  }

  void descend_discriminator(const torch::Tensor& real_scores, const torch::Tensor& fake_scores) {
    auto loss = torch::nn::functional::softplus(-real_scores).mean() + torch::nn::functional::softplus(fake_scores).mean();
    callbacks_.before_backward(*trains_discriminator_);
    loss.backward();
    trains_discriminator_->step();
  }

  torch::Tensor generator_step(const Batch& batch) {
    set_trainable(discriminator_->parameters(), false);
    auto fake = generator_->forward(batch.mel);
    fake.register_hook([this](const torch::Tensor& g) { level_ = g.abs().amax(); });  // RIGHT: torch-hook-in-loop
    generator_->post->weight.register_hook([](torch::Tensor g) { return g.clamp(-1.0, 1.0); });  // EXPECT: torch-hook-in-loop
    auto scores = discriminator_->forward(fake);  // RIGHT: torch-unused-gradients
    auto adversarial = -torch::log(torch::sigmoid(scores)).mean();  // EXPECT: torch-unfused-operation
    auto loss = adversarial + 10.0 * torch::l1_loss(transform_(fake), batch.mel);
    callbacks_.before_backward(*trains_generator_);
    loss.backward();  // RIGHT: torch-missing-zero-grad
    trains_generator_->step();
    set_trainable(discriminator_->parameters(), true);
    return loss;
  }

  // Keeps what the generator sounds like after every epoch.
  void publish(int epoch) {
    const auto batch = source_.next();
    preview_.copy_(render(batch.mel)[0][0]).mul_(gains_).add_(noise_, 1e-3);
    gallery_.push_back(preview_.clone());  // RIGHT: torch-redundant-transfer
    std::printf("  epoch %d  gradient level %.5f\n", epoch, level_.item<double>());
  }

  void summarize() const {
    std::printf("  %zu previews, loudness %.4f\n", gallery_.size(), torch::stack(gallery_).abs().mean().item<double>());
  }

  Config config_;
  MelTransform transform_;
  VoiceSource source_;
  Generator generator_;
  Discriminator discriminator_;
  torch::Tensor noise_, gains_, preview_, level_;
  std::unique_ptr<torch::optim::Adam> trains_generator_, trains_discriminator_;
  std::vector<torch::Tensor> gallery_;
  Callbacks callbacks_;
};

using Progress = std::function<void(int, const torch::Tensor&)>;

// Loudness from the mel bands, for the text side of the system.
void fit_loudness(const Config& config, const VoiceSource& source, const Progress& progress) {
  torch::nn::Linear model(config.mels, 1);
  model->to(config.device);
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(1e-2));
  for (int step = 0; step < 40; ++step) {
    const auto batch = source.next();
    auto target = batch.wave.abs().mean(2);
    auto loss = torch::mse_loss(model->forward(batch.mel.mean(2)), target);
    loss.backward();  // EXPECT: torch-missing-zero-grad
    optimizer.step();
    progress(step, loss.detach());
  }
}

}  // namespace vocoder

int main(int argc, char** argv) {
  using namespace vocoder;
  Config config;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--voices") config.voices = std::atoi(argv[i + 1]);
    if (flag == "--epochs") config.epochs = std::atoi(argv[i + 1]);
    if (flag == "--device") config.device = torch::Device(argv[i + 1]);
  }
  torch::set_num_threads(1);
  torch::manual_seed(23);

  std::vector<torch::Tensor> curve;
  for (int voice = 0; voice < config.voices; ++voice) {
    std::printf("voice %d\n", voice);
    auto session = std::make_shared<TrainingSession>(config, 0.05 + 0.03 * voice);
    session->connect();
    session->callbacks().on_step = [&curve](int, const torch::Tensor& loss) {
      curve.push_back(loss.detach());  // RIGHT: torch-retained-graph
    };
    session->run();
    auto wave = session->render_long(torch::rand({1, config.mels, 5 * config.frames + 3}, config.floats()));
    std::printf("  utterance of %ld samples\n", static_cast<long>(wave.size(2)));
  }
  std::printf("mean loss %.4f\n", torch::stack(curve).mean().item<double>());

  MelTransform transform(config);
  VoiceSource source(config, transform, 0.07);
  fit_loudness(config, source, [](int step, const torch::Tensor& loss) {
    if (step % 20 == 19) std::printf("loudness step %d  loss %.5f\n", step, loss.item<double>());  // RIGHT: torch-sync-in-loop
  });
  return 0;
}
