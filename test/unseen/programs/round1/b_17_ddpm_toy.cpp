// Denoising diffusion on 2-d point clouds ("two moons"), with ancestral sampling.
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

using torch::indexing::None;
using torch::indexing::Slice;

namespace ddpm {

struct Schedule {
  int64_t steps;
  torch::Tensor beta, alpha, alpha_bar;  // kept in double on the host
};

Schedule cosineSchedule(int64_t steps) {
  auto t = torch::arange(steps + 1, torch::kDouble) / double(steps);
  auto f = torch::cos((t + 0.008) / 1.008 * M_PI / 2).square();
  auto beta = (1 - f.index({Slice(1, None)}) / f.index({Slice(None, -1)})).clamp(0.0, 0.999);
  return {steps, beta, 1 - beta, torch::cumprod(1 - beta, 0)};
}

class DenoiserImpl : public torch::nn::Module {
 public:
  explicit DenoiserImpl(int64_t width) {
    net = register_module("net", torch::nn::Sequential(torch::nn::Linear(2 + 2 * kFreq, width), torch::nn::SiLU(),
                                                       torch::nn::Linear(width, width), torch::nn::SiLU(),
                                                       torch::nn::Linear(width, 2)));
    freq = register_buffer("freq", torch::exp(torch::arange(kFreq) * (-std::log(100.0) / kFreq)));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& t) {
    auto phase = t.unsqueeze(1) * freq.to(x.device());  // RIGHT: torch-repeated-transfer (a registered buffer that is there already)
    return net->forward(torch::cat({x, phase.sin(), phase.cos()}, 1));
  }

 private:
  static constexpr int64_t kFreq = 16;
  torch::nn::Sequential net{nullptr};
  torch::Tensor freq;
};
TORCH_MODULE(Denoiser);

torch::Tensor moons(int64_t n) {
  auto a = torch::rand({n}) * M_PI;
  auto upper = torch::rand({n}) < 0.5;
  auto x = torch::where(upper, a.cos(), 1 - a.cos()), y = torch::where(upper, a.sin(), 0.5 - a.sin());
  return torch::stack({x, y}, 1) + 0.03 * torch::randn({n, 2});
}

torch::Tensor sample(Denoiser& model, const Schedule& s, int64_t n, torch::Device device) {
  model->eval();
  auto x = torch::randn({n, 2}, device);
  for (int64_t t = s.steps - 1; t >= 0; --t) {
    auto when = torch::full({n}, double(t) / s.steps, device);  // RIGHT: torch-allocation-in-loop (another value in each iteration)
    auto eps = model->forward(x, when);  // EXPECT: torch-missing-no-grad
    auto a = s.alpha[t].item<double>(), ab = s.alpha_bar[t].item<double>(), b = s.beta[t].item<double>();
    auto sigma = t > 0 ? std::sqrt(b) : 0.0;
    x = (x - b / std::sqrt(1 - ab) * eps) / std::sqrt(a) + sigma * torch::randn_like(x);  // EXPECT: torch-undetached-hidden-state
  }
  model->train();
  return x;
}

torch::Tensor interpolate(Denoiser& model, const Schedule& s, torch::Tensor x, torch::Device device) {
  torch::NoGradGuard no_grad;
  for (int64_t t = s.steps - 1; t >= 0; t -= 4) {
    auto ab = s.alpha_bar[t].item<double>();
    auto next = t >= 4 ? s.alpha_bar[t - 4].item<double>() : 1.0;
    auto eps = model->forward(x, torch::full({x.size(0)}, double(t) / s.steps, device));  // RIGHT: torch-missing-no-grad (under the guard)
    auto x0 = (x - std::sqrt(1 - ab) * eps) / std::sqrt(ab);
    x = std::sqrt(next) * x0 + std::sqrt(1 - next) * eps;  // RIGHT: torch-undetached-hidden-state (no graph under the guard)
  }
  return x;
}

}  // namespace ddpm

int main() {
  torch::manual_seed(6);
  torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);

  const auto schedule = ddpm::cosineSchedule(64);
  ddpm::Denoiser model(96);
  model->to(device);
  torch::optim::Adam optimizer(model->parameters(), 2e-3);

  auto cloud = ddpm::moons(32768).to(torch::kDouble);  // as it comes from the simulation
  double smooth = 0;
  for (int it = 0; it < 250; ++it) {
    auto pool = cloud.to(device, torch::kFloat);  // EXPECT: torch-repeated-transfer
    auto x0 = pool.index_select(0, torch::randint(pool.size(0), {256}, torch::dtype(torch::kLong).device(device)));
    auto t = torch::randint(schedule.steps, {256}, torch::dtype(torch::kLong).device(device));
    auto ab = schedule.alpha_bar.to(device).index_select(0, t).to(torch::kFloat).unsqueeze(1);  // EXPECT: torch-repeated-transfer
    auto noise = torch::randn_like(x0);
    auto xt = ab.sqrt() * x0 + (1 - ab).sqrt() * noise;
    auto loss = torch::mse_loss(model->forward(xt, t.to(torch::kFloat) / double(schedule.steps)), noise);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    smooth = it ? 0.95 * smooth + 0.05 * loss.item<double>() : loss.item<double>();
  }

  auto points = ddpm::sample(model, schedule, 256, device).detach().cpu();
  auto morph = ddpm::interpolate(model, schedule, torch::randn({64, 2}, device), device).cpu();
  std::cout << "loss " << smooth << " mean " << points.mean(0) << " spread " << morph.std().item<double>() << std::endl;
}
