// Video upscaler: adversarial training of a small x2 generator with a
// perceptual term and a larger reference network, plus the export pipeline.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace upscale {

namespace F = torch::nn::functional;

struct Options {
  int64_t epochs = 3;
  int64_t steps = 6;
  int64_t batch = 4;
  int64_t frames = 24;
  int64_t side = 16;
  int64_t sources = 5;
  double lr = 2e-4;
  torch::Device device = torch::kCPU;
};

// Everything that maps a low resolution frame to a high resolution one.
class Upscaler : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(torch::Tensor lr) = 0;
};

class GeneratorImpl : public Upscaler {
 public:
  explicit GeneratorImpl(int64_t width = 12)
      : head_(register_module("head", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, width, 3).padding(1)))),
        norm_(register_module("norm", torch::nn::BatchNorm2d(width))),
        body_(register_module("body", torch::nn::Conv2d(torch::nn::Conv2dOptions(width, width, 3).padding(1)))),
        tail_(register_module("tail", torch::nn::Conv2d(torch::nn::Conv2dOptions(width, 12, 3).padding(1)))) {}

  torch::Tensor forward(torch::Tensor lr) override {
    auto x = torch::relu(norm_(head_(lr)));
    x = x + torch::relu(body_(x));
    return torch::sigmoid(torch::pixel_shuffle(tail_(x), 2));
  }

 private:
  torch::nn::Conv2d head_;
  torch::nn::BatchNorm2d norm_;
  torch::nn::Conv2d body_, tail_;
};
TORCH_MODULE(Generator);

// The slow network of last year's release.
class ReferenceNetImpl : public Upscaler {
 public:
  explicit ReferenceNetImpl(int64_t width = 24)
      : net_(register_module(
            "net", torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, width, 5).padding(2)),
                                         torch::nn::BatchNorm2d(width), torch::nn::ReLU(),
                                         torch::nn::Conv2d(torch::nn::Conv2dOptions(width, 12, 3).padding(1))))) {}

  torch::Tensor forward(torch::Tensor lr) override {
    return torch::sigmoid(torch::pixel_shuffle(net_->forward(lr), 2));
  }

 private:
  torch::nn::Sequential net_;
};
TORCH_MODULE(ReferenceNet);

struct Verdict {
  torch::Tensor realism;  // one per frame
  torch::Tensor source;   // log probabilities over cameras
};

class CriticImpl : public torch::nn::Module {
 public:
  CriticImpl(int64_t width, int64_t sources) {
    conv_ = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, width, 3).stride(2).padding(1)));
    drop_ = register_module("drop", torch::nn::Dropout2d(0.2));
    real_ = register_module("real", torch::nn::Linear(width, 1));
    which_ = register_module("which", torch::nn::Linear(width, sources));
  }

  Verdict forward(const torch::Tensor& hr) {
    auto h = drop_(F::leaky_relu(conv_(hr), F::LeakyReLUFuncOptions().negative_slope(0.2)));
    auto pooled = h.mean({2, 3});
    return {torch::sigmoid(real_(pooled)), torch::log_softmax(which_(pooled), 1)};
  }

 private:
  torch::nn::Conv2d conv_{nullptr};
  torch::nn::Dropout2d drop_{nullptr};
  torch::nn::Linear real_{nullptr}, which_{nullptr};
};
TORCH_MODULE(Critic);

class AdversarialTerm {
 public:
  AdversarialTerm(int64_t batch, torch::Device device)
      : ones_(torch::ones({batch, 1}, device)), zeros_(torch::zeros({batch, 1}, device)) {}

  torch::Tensor genuine(const Verdict& v) const { return score(v, ones_); }
  torch::Tensor forged(const Verdict& v) const { return score(v, zeros_); }

  torch::Tensor camera(const Verdict& v, const torch::Tensor& labels) const {
    return F::nll_loss(v.source, labels);  // RIGHT: torch-loss-input
  }

 private:
  static torch::Tensor score(const Verdict& v, const torch::Tensor& wanted) {
    return F::binary_cross_entropy_with_logits(v.realism, wanted);  // EXPECT: torch-loss-input
  }
  torch::Tensor ones_, zeros_;
};

// Raw clips come as bytes, [frame, row, column, channel].
struct Clip {
  torch::Tensor bytes;
  torch::Tensor camera;
};

Clip synthesise_clip(const Options& o) {
  Clip c;
  c.bytes = torch::randint(0, 256, {o.frames, o.side, o.side, 3}, torch::kByte);
  c.camera = torch::randint(0, o.sources, {o.frames}, torch::kLong);
  return c;
}

class FrameStore {
 public:
  FrameStore(const Clip& train, const Clip& held_out, torch::Device device) {
    nhwc_ = train.bytes.to(torch::kFloat).div_(255).to(device);  // EXPECT: torch-convert-before-transfer
    camera_ = train.camera.to(device);
    auto held = held_out.bytes.to(device).to(torch::kFloat).div_(255);  // RIGHT: torch-convert-before-transfer
    held_ = held.permute({0, 3, 1, 2}).contiguous();  // RIGHT: torch-noncontiguous-operand
  }

  std::pair<torch::Tensor, torch::Tensor> draw(int64_t n) const {
    auto pick = torch::randint(0, nhwc_.size(0), {n}, torch::dtype(torch::kLong).device(nhwc_.device()));
    auto planes = nhwc_.permute({0, 3, 1, 2}).contiguous();  // EXPECT: torch-noncontiguous-operand
    return {planes.index_select(0, pick), camera_.index_select(0, pick)};
  }

  const torch::Tensor& held_out() const { return held_; }

 private:
  torch::Tensor nhwc_, camera_, held_;
};

torch::nn::Sequential make_perceptual() {
  torch::nn::Sequential s(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).padding(1)), torch::nn::ReLU(),
                          torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 8, 3).stride(2)));
  for (auto& p : s->parameters()) p.set_requires_grad(false);
  s->eval();
  return s;
}

class Trainer {
 public:
  Trainer(const Options& o, FrameStore& store)
      : o_(o),
        store_(store),
        critic_(16, o.sources),
        perceptual_(make_perceptual()),
        term_(o.batch, o.device) {
    reference_ = std::make_shared<ReferenceNetImpl>(24);
    generator_->to(o_.device);
    critic_->to(o_.device);
    perceptual_->to(o_.device);
    reference_->to(o_.device);
    reference_->eval();  // RIGHT: torch-partial-eval-mode
    opt_g_ = std::make_unique<torch::optim::Adam>(generator_->parameters(),
                                                  torch::optim::AdamOptions(o_.lr).betas({0.5, 0.99}));
    opt_d_ = std::make_unique<torch::optim::Adam>(critic_->parameters(),
                                                  torch::optim::AdamOptions(o_.lr).betas({0.5, 0.99}));
    smooth_ = torch::zeros({}, o_.device);
    residual_ = torch::zeros({}, o_.device);
  }

  void run() {
    generator_->train();
    critic_->train();
    auto critic_sum = torch::zeros({}, o_.device);
    for (int64_t epoch = 0; epoch < o_.epochs; ++epoch) {
      residual_.zero_();
      critic_sum.zero_();
      for (int64_t s = 0; s < o_.steps; ++s) {
        auto [hr, cam] = store_.draw(o_.batch);
        auto lr = torch::avg_pool2d(hr, 2);
        critic_sum += improve_critic(lr, hr, cam);
        improve_generator(lr, hr);
      }
      std::printf("epoch %ld critic %.4f gen %.4f residual %.4f\n", static_cast<long>(epoch),
                  critic_sum.item<double>() / o_.steps,  // RIGHT: torch-sync-in-loop
                  smooth_.item<double>(), residual_.item<double>());
      std::printf("  psnr %.2f dB, trusted %.2f\n", psnr(), trusted());
    }
  }

  Generator& generator() { return generator_; }
  const std::vector<float>& history() const { return history_; }

 private:
  torch::Tensor improve_critic(const torch::Tensor& lr, const torch::Tensor& hr, const torch::Tensor& cam) {
    opt_d_->zero_grad();
    auto on_real = critic_->forward(hr);
    auto on_fake = critic_->forward(generator_->forward(lr));  // EXPECT: torch-undetached-generator-output
    auto loss = term_.genuine(on_real) + term_.forged(on_fake) + 0.1 * term_.camera(on_real, cam);
    loss.backward();
    opt_d_->step();
    return loss.detach();
  }

  void improve_generator(const torch::Tensor& lr, const torch::Tensor& hr) {
    opt_g_->zero_grad();
    auto fake = generator_->forward(lr);
    auto verdict = critic_->forward(fake);  // RIGHT: torch-undetached-generator-output
    auto old = reference_->forward(lr);  // EXPECT: torch-unused-gradients
    auto seen = perceptual_->forward(fake);  // RIGHT: torch-unused-gradients
    auto wanted = perceptual_->forward(hr);
    auto pixel = torch::l1_loss(fake, hr);
    auto loss = pixel + 0.05 * torch::mse_loss(seen, wanted) + 0.2 * torch::mse_loss(fake, old) +
                1e-3 * term_.genuine(verdict);
    loss.backward();
    opt_g_->step();

    residual_ += pixel.detach();  // RIGHT: torch-retained-graph
    smooth_ = smooth_ * 0.98 + loss * 0.02;  // EXPECT: torch-retained-graph
    history_.push_back(loss.item<float>());  // EXPECT: torch-sync-in-loop
  }

  double psnr() {
    torch::NoGradGuard off;
    generator_->eval();  // EXPECT: torch-eval-mode-not-restored
    const auto& hr = store_.held_out();
    auto mse = torch::mse_loss(generator_->forward(torch::avg_pool2d(hr, 2)), hr);
    return -10.0 * std::log10(mse.item<double>());
  }

  double trusted() {
    torch::NoGradGuard off;
    critic_->eval();  // RIGHT: torch-eval-mode-not-restored
    const auto& hr = store_.held_out();
    auto share = critic_->forward(hr).realism.gt(0.5);
    const double r = share.to(torch::kFloat).mean().item<double>();
    critic_->train();
    return r;
  }

  Options o_;
  FrameStore& store_;
  Generator generator_;
  Critic critic_;
  torch::nn::Sequential perceptual_;
  AdversarialTerm term_;
  std::shared_ptr<Upscaler> reference_;
  std::unique_ptr<torch::optim::Adam> opt_g_, opt_d_;
  torch::Tensor smooth_, residual_;
  std::vector<float> history_;
};

// --- export -----------------------------------------------------------------

struct CleanerImpl : torch::nn::Module {
  CleanerImpl() {
    conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 3, 3).padding(1)));
    drop = register_module("drop", torch::nn::Dropout(0.1));
  }
  torch::Tensor forward(const torch::Tensor& x) { return x + drop(conv(x)); }
  torch::nn::Conv2d conv{nullptr};
  torch::nn::Dropout drop{nullptr};
};
TORCH_MODULE(Cleaner);

class Pipeline {
 public:
  Pipeline(std::istream& weights, torch::Device device) : device_(device) {
    torch::load(net_, weights);
    cleaner_->to(device_);
    cleaner_->eval();

    net_->to(device_);
    cleaner_->eval();  // EXPECT: torch-partial-eval-mode
  }

  torch::Tensor process(const torch::Tensor& lr) {
    torch::InferenceMode guard;
    return net_->forward(cleaner_->forward(lr.to(device_))).clamp(0, 1);
  }

 private:
  torch::Device device_;
  Cleaner cleaner_;
  Generator net_;
};

}  // namespace upscale

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(11);
  upscale::Options o;
  if (torch::cuda::is_available()) {
    o.device = torch::Device(torch::kCUDA, 0);
    o.batch = 32;
    o.frames = 2048;
    o.side = 96;
    o.steps = 400;
  }
  upscale::FrameStore store(upscale::synthesise_clip(o), upscale::synthesise_clip(o), o.device);
  upscale::Trainer trainer(o, store);
  trainer.run();

  std::stringstream file;
  torch::save(trainer.generator(), file);
  upscale::Pipeline pipeline(file, o.device);
  auto out = pipeline.process(torch::rand({2, 3, o.side / 2, o.side / 2}));
  std::cout << "exported frame " << out.sizes() << ", " << trainer.history().size() << " losses\n";
  return 0;
}
