// A generative adversarial network that learns to paint ripples: concentric
// waves around a random centre. The discriminator gets a head start, a moving
// average of the generator is kept once it has settled, and the last few
// sample sheets are held for a comparison at the end.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kSide = 24;
constexpr int64_t kLatent = 32;
constexpr int64_t kBatch = 48;
constexpr int64_t kEpoch = 25;
constexpr int64_t kHeadStart = 20;
constexpr int64_t kSettled = 60;
constexpr size_t kSheets = 3;

torch::Tensor realRipples(int64_t count) {
  const torch::Tensor axis = torch::linspace(-1.0, 1.0, kSide);
  const torch::Tensor x = axis.view({1, 1, 1, kSide});
  const torch::Tensor y = axis.view({1, 1, kSide, 1});
  const torch::Tensor cx = torch::rand({count, 1, 1, 1}) - 0.5;
  const torch::Tensor cy = torch::rand({count, 1, 1, 1}) - 0.5;
  const torch::Tensor pace = torch::rand({count, 1, 1, 1}) * 6.0 + 6.0;
  const torch::Tensor r = ((x - cx).square() + (y - cy).square()).sqrt();
  return torch::cos(r * pace) * torch::exp(-r);
}

struct GeneratorImpl : torch::nn::Module {
  GeneratorImpl()
      : seed(kLatent, 48 * 6 * 6),
        up(torch::nn::ConvTranspose2dOptions(48, 32, 4).stride(2).padding(1)),
        paint(torch::nn::ConvTranspose2dOptions(32, 1, 4).stride(2).padding(1)),
        norm(32) {
    register_module("seed", seed);
    register_module("up", up);
    register_module("paint", paint);
    register_module("norm", norm);
  }

  torch::Tensor forward(const torch::Tensor &z) {
    torch::Tensor x = torch::relu(seed(z)).view({-1, 48, 6, 6});
    x = torch::relu(norm(up(x)));
    return torch::tanh(paint(x));
  }

  torch::nn::Linear seed;
  torch::nn::ConvTranspose2d up, paint;
  torch::nn::BatchNorm2d norm;
};
TORCH_MODULE(Generator);

torch::nn::Sequential makeDiscriminator() {
  using torch::nn::Conv2dOptions;
  return torch::nn::Sequential(
      torch::nn::Conv2d(Conv2dOptions(1, 24, 4).stride(2).padding(1)),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      torch::nn::Conv2d(Conv2dOptions(24, 48, 4).stride(2).padding(1)),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      torch::nn::Flatten(), torch::nn::Linear(48 * 6 * 6, 1));
}

// A slow copy of a generator.
class SlowGenerator {
public:
  void update(const Generator &source, double keep) {
    torch::NoGradGuard guard;
    if (copy_.is_empty()) {
      copy_ = Generator();
      keep = 0.0;
    }
    blend(copy_->parameters(), source->parameters(), keep);
    blend(copy_->buffers(), source->buffers(), keep);
  }

  bool exists() const { return !copy_.is_empty(); }

  torch::Tensor sample(const torch::Tensor &z) {
    torch::NoGradGuard guard;
    copy_->eval();
    return copy_->forward(z);
  }

private:
  static void blend(const std::vector<torch::Tensor> &to,
                    const std::vector<torch::Tensor> &from, double keep) {
    for (size_t i = 0; i < to.size(); ++i)
      if (to[i].is_floating_point())
        to[i].mul_(keep).add_(from[i], 1.0 - keep);
  }

  Generator copy_{nullptr};
};

// Losses of the running epoch. They stay tensors until the epoch is over, so
// that a step does not wait for a number.
class EpochMean {
public:
  void add(const torch::Tensor &loss) { losses_.push_back(loss.detach()); }

  double take() {
    if (losses_.empty())
      return 0.0;
    const double mean = torch::stack(losses_).mean().item<double>();
    losses_.clear();
    return mean;
  }

private:
  std::vector<torch::Tensor> losses_;
};

torch::Tensor against(const torch::Tensor &scores, double label) {
  return torch::binary_cross_entropy_with_logits(
      scores, torch::full_like(scores, label));
}

} // namespace

int main(int argc, char **argv) {
  int64_t iterations = 300;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--iterations") == 0)
      iterations = std::atoll(argv[i + 1]);

  torch::manual_seed(64);
  Generator generator;
  torch::nn::Sequential discriminator = makeDiscriminator();
  const auto options = torch::optim::AdamOptions(4e-4).betas({0.5, 0.99});
  torch::optim::Adam generator_optimizer(generator->parameters(), options);
  torch::optim::Adam discriminator_optimizer(discriminator->parameters(),
                                             options);
  SlowGenerator slow;
  const torch::Tensor fixed = torch::randn({256, kLatent});
  std::deque<std::pair<int64_t, torch::Tensor>> sheets;
  EpochMean generator_mean, discriminator_mean;

  for (int64_t step = 1; step <= iterations; ++step) {
    const torch::Tensor real = realRipples(kBatch);
    const torch::Tensor fake =
        generator->forward(torch::randn({kBatch, kLatent}));

    discriminator_optimizer.zero_grad();
    const torch::Tensor d_loss =
        against(discriminator->forward(real), 0.9) +
        against(discriminator->forward(fake.detach()), 0.0);
    d_loss.backward();
    discriminator_optimizer.step();
    discriminator_mean.add(d_loss);

    if (step > kHeadStart) {
      generator_optimizer.zero_grad();
      const torch::Tensor g_loss = against(discriminator->forward(fake), 1.0);
      g_loss.backward();
      generator_optimizer.step();
      generator_mean.add(g_loss);
    }
    if (step > kSettled)
      slow.update(generator, 0.98);

    if (step % kEpoch == 0) {
      std::printf("step %4lld  discriminator %.4f  generator %.4f\n",
                  static_cast<long long>(step), discriminator_mean.take(),
                  generator_mean.take());
      if (slow.exists())
        sheets.emplace_back(step, slow.sample(fixed));
      if (sheets.size() > kSheets)
        sheets.pop_front();
    }
  }

  for (size_t i = 1; i < sheets.size(); ++i)
    std::printf(
        "sheets %lld and %lld differ by %.5f\n",
        static_cast<long long>(sheets[i - 1].first),
        static_cast<long long>(sheets[i].first),
        torch::mse_loss(sheets[i - 1].second, sheets[i].second).item<double>());
  return 0;
}
