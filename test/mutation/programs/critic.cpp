// A generator of points on rings against a critic with a clipped range of weights: five steps of
// the critic for each of the generator, an average of the generator's weights for the samples,
// the distance to the real points every hundred steps.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int64_t kLatent = 8;

torch::nn::Sequential mlp(int64_t in, int64_t hidden, int64_t out, double drop) {
  torch::nn::Sequential layers(torch::nn::Linear(in, hidden), torch::nn::LeakyReLU());
  if (drop > 0)
    layers->push_back(torch::nn::Dropout(drop));
  layers->push_back(torch::nn::Linear(hidden, hidden));
  layers->push_back(torch::nn::BatchNorm1d(hidden));
  layers->push_back(torch::nn::LeakyReLU());
  layers->push_back(torch::nn::Linear(hidden, out));
  return layers;
}

torch::Tensor rings(int64_t count, torch::Device device) {
  auto angle = torch::rand({count}, device) * 2 * M_PI;
  auto radius = torch::randint(1, 3, {count}, device).to(torch::kFloat) +
                0.05 * torch::randn({count}, device);
  return torch::stack({radius * torch::cos(angle), radius * torch::sin(angle)}, 1);
}

class Rings {
public:
  explicit Rings(torch::Device device)
      : device_(device), generator_(mlp(kLatent, 64, 2, 0)), critic_(mlp(2, 64, 1, 0.2)),
        average_(mlp(kLatent, 64, 2, 0)),
        generator_optimizer_(generator_->parameters(), torch::optim::RMSpropOptions(5e-4)),
        critic_optimizer_(critic_->parameters(), torch::optim::RMSpropOptions(5e-4)) {
    for (auto *each : {&generator_, &critic_, &average_})
      (*each)->to(device_);
    average_->eval();
  }

  void fit(int64_t steps, int64_t batch) {
    for (int64_t step = 1; step <= steps; ++step) {
      for (int inner = 0; inner < 5; ++inner)
        critic_loss_ += criticStep(batch);
      generatorStep(batch);
      follow(0.99);
      if (step % 100 == 0) {
        std::printf("%lld: critic %.4f, distance %.4f\n", static_cast<long long>(step),
                    critic_loss_ / 500, distance(1024));
        critic_loss_ = 0;
      }
    }
  }

  double distance(int64_t count) {
    torch::NoGradGuard no_grad;
    generator_->eval();
    auto made = generator_->forward(torch::randn({count, kLatent}, device_));
    auto real = rings(count, device_);
    double result = torch::cdist(made, real).amin(1).mean().item<double>();
    generator_->train();
    return result;
  }

private:
  double criticStep(int64_t batch) {
    auto real = rings(batch, device_);
    auto made = generator_->forward(torch::randn({batch, kLatent}, device_));
    auto loss = critic_->forward(made.detach()).mean() - critic_->forward(real).mean();
    critic_optimizer_.zero_grad();
    loss.backward();
    critic_optimizer_.step();
    torch::NoGradGuard no_grad;
    for (auto &p : critic_->parameters())
      p.clamp_(-0.05, 0.05);
    return loss.item<double>();
  }

  void generatorStep(int64_t batch) {
    auto made = generator_->forward(torch::randn({batch, kLatent}, device_));
    auto loss = -critic_->forward(made).mean();
    generator_optimizer_.zero_grad();
    loss.backward();
    generator_optimizer_.step();
  }

  void follow(double keep) {
    torch::NoGradGuard no_grad;
    auto from = generator_->parameters(), to = average_->parameters();
    for (size_t i = 0; i < from.size(); ++i)
      to[i].mul_(keep).add_(from[i], 1 - keep);
  }

  torch::Device device_;
  torch::nn::Sequential generator_, critic_, average_;
  torch::optim::RMSprop generator_optimizer_, critic_optimizer_;
  double critic_loss_ = 0;
};

} // namespace

int main() {
  torch::manual_seed(3);
  Rings rings(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  rings.fit(1000, 128);
  return rings.distance(4096) < 1 ? 0 : 1;
}
