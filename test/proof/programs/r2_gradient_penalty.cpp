#include <torch/torch.h>

#include <cmath>
#include <cstdio>

namespace {

constexpr int64_t kBatch = 128;
constexpr int64_t kLatent = 32;
constexpr int64_t kPoint = 6;

struct SamplerImpl : torch::nn::Module {
  SamplerImpl() {
    body = register_module(
        "body", torch::nn::Sequential(torch::nn::Linear(kLatent, 48), torch::nn::Tanh(),
                                      torch::nn::Linear(48, kPoint)));
  }
  torch::Tensor forward(const torch::Tensor& z) { return body->forward(z); }
  torch::nn::Sequential body{nullptr};
};
TORCH_MODULE(Sampler);

struct CriticImpl : torch::nn::Module {
  CriticImpl()
      : lift(register_module("lift", torch::nn::Linear(kPoint, 40))),
        fold(register_module("fold", torch::nn::Linear(40, 1))) {}
  torch::Tensor forward(const torch::Tensor& x) { return fold(torch::softplus(lift(x))); }
  torch::nn::Linear lift, fold;
};
TORCH_MODULE(Critic);

torch::Tensor slope_penalty(Critic& critic, const torch::Tensor& real, const torch::Tensor& fake) {
  auto mix = torch::rand({real.size(0), 1});
  auto between = (mix * real + (1 - mix) * fake).requires_grad_(true);
  // PLANT innocent torch-missing-no-grad/unused-graph loop=rounds: the slope of the score is taken and trained on
  auto score = critic->forward(between);
  auto slope = torch::autograd::grad({score}, {between}, {torch::ones_like(score)},
                                     /*retain_graph=*/true, /*create_graph=*/true)[0];
  return (slope.norm(2, 1) - 1).pow(2).mean();
}

torch::Tensor ring(int64_t count) {
  auto angle = torch::rand({count, 1}, torch::kFloat64) * (2 * M_PI);
  auto axis = torch::arange(kPoint, torch::kFloat64);
  return torch::sin(angle + axis) + 0.02 * torch::randn({count, kPoint}, torch::kFloat64);
}

struct Tally {
  double critic = 0, sampler = 0, penalty = 0;
};

Tally fit(Sampler& sampler, Critic& critic, const torch::Tensor& points, int rounds) {
  torch::optim::Adam critic_opt(critic->parameters(), torch::optim::AdamOptions(2e-3));
  torch::optim::RMSprop sampler_opt(sampler->parameters(), torch::optim::RMSpropOptions(1e-3));
  Tally tally;

  for (int round = 0; round < rounds; ++round) {  // AT rounds
    auto pick = torch::randint(points.size(0), {kBatch}, torch::kInt64);
    // PLANT true torch-repeated-transfer/converts loop=rounds: all points are converted again though they never change
    auto narrow = points.to(torch::kFloat32);
    auto real = narrow.index_select(0, pick);

    // PLANT true torch-allocation-in-loop/same-shape loop=rounds: scratch of a fixed shape that is filled and used up here
    auto noise = torch::empty({kBatch, kLatent});
    noise.normal_();

    torch::Tensor fake;
    {
      torch::NoGradGuard frozen;
      fake = sampler->forward(noise);
    }
    critic_opt.zero_grad();
    auto penalty = slope_penalty(critic, real, fake);
    auto critic_loss = critic->forward(fake).mean() - critic->forward(real).mean() + 5 * penalty;
    critic_loss.backward();
    critic_opt.step();

    critic_opt.zero_grad();
    auto sampler_loss = -critic->forward(sampler->forward(noise)).mean();
    sampler_loss.backward();
    // PLANT true torch-missing-zero-grad/never-cleared loop=rounds: only the gradients of the critic are cleared
    sampler_opt.step();

    tally.critic += critic_loss.item<double>();
    tally.sampler += sampler_loss.item<double>();
    tally.penalty = penalty.item<double>();
  }
  return tally;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  const auto points = ring(1500);
  Sampler sampler;
  Critic critic;
  const int rounds = 70;
  auto tally = fit(sampler, critic, points, rounds);
  std::printf("critic %.5f sampler %.5f penalty %.5f\n", tally.critic / rounds,
              tally.sampler / rounds, tally.penalty);

  torch::NoGradGuard frozen;
  auto drawn = sampler->forward(torch::randn({256, kLatent}));
  std::printf("spread %.5f\n", drawn.std().item<double>());
  return 0;
}
