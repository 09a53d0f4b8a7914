// Synthetic surface defects for an inspection line.
//
// A GAN learns patches of scratched metal; its averaged generator later produces additional
// training patches for the inspection network.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace textures {

struct Config {
  int64_t patches = 128;
  int64_t size = 16;
  int64_t latent = 24;
  int64_t channels = 16;
  int64_t batch = 16;
  int64_t steps = 40;
  int64_t report_every = 10;
  int64_t penalty_every = 4;
  int64_t preview_count = 6;
  double learning_rate = 4e-4;
  double penalty_weight = 2.0;
  double texture_weight = 0.2;
  double average_decay = 0.98;
  std::string checkpoint = "/tmp/defect_textures.pt";
};

torch::Tensor make_patches(const Config& cfg) {
  auto ys = torch::linspace(-1.0, 1.0, cfg.size).view({1, cfg.size, 1});
  auto xs = torch::linspace(-1.0, 1.0, cfg.size).view({1, 1, cfg.size});
  auto angle = torch::rand({cfg.patches, 1, 1}) * M_PI;
  auto offset = torch::rand({cfg.patches, 1, 1}) - 0.5;
  auto distance = (xs * torch::cos(angle) + ys * torch::sin(angle) - offset).abs();
  auto grain = 0.1 * torch::randn({cfg.patches, cfg.size, cfg.size});
  return (torch::exp(-distance * 12.0) * 1.6 - 0.8 + grain).clamp(-1.0, 1.0).unsqueeze(1);
}

class GeneratorImpl : public torch::nn::Module {
 public:
  explicit GeneratorImpl(const Config& cfg)
      : net_(register_module(
            "net",
            torch::nn::Sequential(
                torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(cfg.latent, cfg.channels * 2, 4)),
                torch::nn::GroupNorm(4, cfg.channels * 2), torch::nn::ReLU(),
                torch::nn::ConvTranspose2d(
                    torch::nn::ConvTranspose2dOptions(cfg.channels * 2, cfg.channels, 4).stride(2).padding(1)),
                torch::nn::GroupNorm(4, cfg.channels), torch::nn::ReLU(),
                torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(cfg.channels, 1, 4).stride(2).padding(1)),
                torch::nn::Tanh()))) {}

  torch::Tensor forward(const torch::Tensor& latent) { return net_->forward(latent); }

 private:
  torch::nn::Sequential net_;
};
TORCH_MODULE(Generator);

class CriticImpl : public torch::nn::Module {
 public:
  explicit CriticImpl(const Config& cfg)
      : first_(register_module(
            "first", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, cfg.channels, 4).stride(2).padding(1)))),
        second_(register_module(
            "second",
            torch::nn::Conv2d(torch::nn::Conv2dOptions(cfg.channels, cfg.channels * 2, 4).stride(2).padding(1)))),
        score_(register_module("score", torch::nn::Conv2d(torch::nn::Conv2dOptions(cfg.channels * 2, 1, 4)))) {}

  torch::Tensor forward(const torch::Tensor& patches) {
    auto x = torch::leaky_relu(first_(patches), 0.2);
    return score_(torch::leaky_relu(second_(x), 0.2)).flatten();
  }

 private:
  torch::nn::Conv2d first_, second_, score_;
};
TORCH_MODULE(Critic);

// Random filters whose correlations describe a texture.
class TextureFeaturesImpl : public torch::nn::Module {
 public:
  explicit TextureFeaturesImpl(int64_t filters)
      : filters_(register_module("filters", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, filters, 5).padding(2)))) {
    for (auto& p : parameters()) p.set_requires_grad(false);
  }

  torch::Tensor gram(const torch::Tensor& patches) {
    auto maps = filters_(patches).flatten(2);  // RIGHT: torch-unused-gradients (the constructor froze the filters; the gradient of the patches is wanted)
    return torch::bmm(maps, maps.transpose(1, 2)).mean(0) / static_cast<double>(maps.size(2));
  }

 private:
  torch::nn::Conv2d filters_;
};
TORCH_MODULE(TextureFeatures);

class Frozen {
 public:
  explicit Frozen(torch::nn::Module& module) : module_(module) { set(false); }
  ~Frozen() { set(true); }

 private:
  void set(bool value) {
    for (auto& p : module_.parameters()) p.set_requires_grad(value);
  }
  torch::nn::Module& module_;
};

torch::Tensor realness_loss(const torch::Tensor& scores, const torch::Tensor& target) {
  auto probability = torch::sigmoid(scores);
  return torch::binary_cross_entropy(probability, target);  // EXPECT: torch-unfused-operation
}

class RunningMean {
 public:
  void add(double value) {
    mean_ = count_ == 0 ? value : 0.9 * mean_ + 0.1 * value;
    ++count_;
  }
  double value() const { return mean_; }

 private:
  double mean_ = 0.0;
  int64_t count_ = 0;
};

struct StepRecord {
  int64_t step = 0;
  torch::Tensor critic;
  torch::Tensor generator;
};

class AveragedGenerator {
 public:
  AveragedGenerator(const Config& cfg, Generator& source, torch::Device device) : decay_(cfg.average_decay), net_(cfg) {
    net_->to(device);
    net_->eval();  // RIGHT: torch-eval-mode-not-restored (the average is never trained)
    restart(source);
  }

  void restart(Generator& source) {
    torch::NoGradGuard no_grad;
    auto from = source->parameters();
    auto to = net_->parameters();
    for (size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i]);  // RIGHT: torch-parameter-copy (written through the handles), torch-leaf-inplace (guarded)
  }

  void update(Generator& source) {
    torch::NoGradGuard no_grad;
    auto from = source->parameters();
    auto to = net_->parameters();
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = to[i] * decay_ + from[i] * (1.0 - decay_);  // EXPECT: torch-parameter-copy
    }
  }

  torch::Tensor sample(const torch::Tensor& latent) {
    torch::NoGradGuard no_grad;
    return net_->forward(latent);
  }

  const Generator& net() const { return net_; }

 private:
  double decay_;
  Generator net_;
};

class GanTrainer {
 public:
  using Listener = std::function<void(int64_t, double, double)>;

  GanTrainer(const Config& cfg, torch::Device device, Listener listener)
      : cfg_(cfg),
        device_(device),
        listener_(std::move(listener)),
        generator_(on_device(Generator(cfg))),
        critic_(on_device(Critic(cfg))),
        texture_(on_device(TextureFeatures(8))),
        average_(cfg, generator_, device),
        generator_optimizer_(generator_->parameters(), torch::optim::AdamOptions(cfg.learning_rate).betas({0.5, 0.99})),
        critic_optimizer_(critic_->parameters(), torch::optim::AdamOptions(cfg.learning_rate).betas({0.5, 0.99})) {
    real_target_ = torch::full({cfg.batch}, 0.9, torch::TensorOptions().device(device_));
    fake_target_ = torch::zeros({cfg.batch}, torch::TensorOptions().device(device_));
    ones_target_ = torch::ones({cfg.batch}, torch::TensorOptions().device(device_));
    preview_latent_ = torch::randn({cfg.preview_count, cfg.latent, 1, 1}).to(device_);  // RIGHT: torch-allocate-on-device (once per trainer)
  }

  void fit(const torch::Tensor& patches) {
    if (patches.size(0) < cfg_.batch) throw std::invalid_argument("not enough patches");
    const auto data = patches.to(device_);
    const auto wanted = texture_->gram(data);
    const auto index_options = torch::TensorOptions().dtype(torch::kLong).device(device_);
    for (int64_t step = 0; step < cfg_.steps; ++step) {
      const auto pick = torch::randint(data.size(0), {cfg_.batch}, index_options);
      const auto real = data.index_select(0, pick);
      auto critic_loss = critic_step(real);
      critic_mean_.add(critic_loss.item<double>());  // EXPECT: torch-sync-in-loop
      if (step % cfg_.penalty_every == 0) penalty_step(real);
      auto generator_loss = generator_step(wanted);
      average_.update(generator_);
      history_.push_back({step, critic_loss.detach(), generator_loss});  // EXPECT: torch-retained-graph
      if ((step + 1) % cfg_.report_every == 0) {
        listener_(step, critic_mean_.value(), generator_loss.item<double>());  // RIGHT: torch-sync-in-loop (every report_every steps only)
        previews_.push_back(average_.sample(preview_latent_).cpu());  // RIGHT: torch-missing-no-grad (sample holds the guard), torch-retained-graph (no graph there)
      }
    }
    torch::save(average_.net(), cfg_.checkpoint);
  }

  torch::Tensor history() const {
    std::vector<torch::Tensor> rows;
    for (const auto& record : history_) rows.push_back(torch::stack({record.critic, record.generator}));
    return torch::stack(rows).detach().cpu();  // RIGHT: torch-cat-in-loop (one stack after the loop)
  }

  torch::Tensor previews() const { return previews_.empty() ? torch::Tensor() : torch::cat(previews_); }

 private:
  template <typename Holder>
  Holder on_device(Holder module) {
    module->to(device_);
    return module;
  }

  torch::Tensor sample_latent(int64_t count) const {
    return torch::randn({count, cfg_.latent, 1, 1}).to(device_);  // EXPECT: torch-allocate-on-device
  }

  torch::Tensor generated_without_grad(int64_t count) {
    torch::NoGradGuard no_grad;
    return generator_->forward(sample_latent(count));
  }

  torch::Tensor critic_step(const torch::Tensor& real) {
    critic_optimizer_.zero_grad();
    auto fake = generator_->forward(sample_latent(real.size(0)));
    auto real_loss = realness_loss(critic_->forward(real), real_target_);
    auto fake_loss = realness_loss(critic_->forward(fake), fake_target_);  // EXPECT: torch-undetached-generator-output
    auto loss = real_loss + fake_loss;
    loss.backward();
    critic_optimizer_.step();
    return loss;
  }

  // Keeps the critic smooth between real and generated patches.
  void penalty_step(const torch::Tensor& real) {
    critic_optimizer_.zero_grad();
    auto fake = generated_without_grad(real.size(0));
    auto mix = torch::rand({real.size(0), 1, 1, 1}, real.options());
    auto between = torch::lerp(fake, real, mix).requires_grad_(true);
    auto scores = critic_->forward(between);  // RIGHT: torch-undetached-generator-output (fake was made without a graph)
    auto slope = torch::autograd::grad({scores.sum()}, {between}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];  // RIGHT: torch-retain-graph-in-loop (the penalty differentiates the gradient)
    auto penalty = (slope.flatten(1).norm(2, 1) - 1.0).square().mean() * cfg_.penalty_weight;
    penalty.backward();
    critic_optimizer_.step();
  }

  torch::Tensor generator_step(const torch::Tensor& wanted) {
    Frozen frozen(*critic_);
    generator_optimizer_.zero_grad(/*set_to_none=*/false);  // EXPECT: torch-zero-grad-in-place
    auto fake = generator_->forward(sample_latent(cfg_.batch));
    auto loss = realness_loss(critic_->forward(fake), ones_target_);  // RIGHT: torch-undetached-generator-output (the generator learns through the critic), torch-unused-gradients (the critic is frozen here)
    loss = loss + cfg_.texture_weight * torch::mse_loss(texture_->gram(fake), wanted);
    loss.backward();
    generator_optimizer_.step();
    return loss;
  }

  Config cfg_;
  torch::Device device_;
  Listener listener_;
  Generator generator_;
  Critic critic_;
  TextureFeatures texture_;
  AveragedGenerator average_;
  torch::optim::Adam generator_optimizer_, critic_optimizer_;
  torch::Tensor real_target_, fake_target_, ones_target_, preview_latent_;
  RunningMean critic_mean_;
  std::vector<StepRecord> history_;
  std::vector<torch::Tensor> previews_;
};

// Statistics by which the inspection team accepts a batch of patches.
std::map<std::string, double> quality(const torch::Tensor& generated, const torch::Tensor& real) {
  std::map<std::string, double> out;
  out["mean gap"] = (generated.mean() - real.mean()).abs().item<double>();
  out["contrast gap"] = (generated.flatten(1).std(1).mean() - real.flatten(1).std(1).mean()).abs().item<double>();
  auto rows = generated.diff(1, -1).abs().mean();
  out["roughness gap"] = (rows - real.diff(1, -1).abs().mean()).abs().item<double>();
  return out;
}

}  // namespace textures

int main() {
  torch::manual_seed(17);
  const textures::Config cfg;
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const auto patches = textures::make_patches(cfg);
  try {
    textures::GanTrainer trainer(cfg, device, [](int64_t step, double critic, double generator) {
      std::cout << "step " << step << " critic " << critic << " generator " << generator << "\n";
    });
    trainer.fit(patches);
    const auto history = trainer.history();
    std::cout << "mean losses " << history.mean(0) << "\n";
    for (const auto& [name, value] : textures::quality(trainer.previews(), patches)) {
      std::cout << name << ": " << value << "\n";
    }
  } catch (const std::exception& error) {
    std::cerr << "training failed: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
