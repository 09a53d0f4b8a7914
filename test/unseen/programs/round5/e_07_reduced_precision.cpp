// Training in reduced precision on the CPU, with validation and a small benchmark.
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <vector>

namespace {
using Clock = std::chrono::steady_clock;
void reducedOn() { at::autocast::set_autocast_enabled(at::kCPU, true); }
void reducedOff() { at::autocast::set_autocast_enabled(at::kCPU, false); }

class Reduced {
 public:
  Reduced() { at::autocast::set_autocast_enabled(at::kCPU, true); }
  ~Reduced() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
  }
};

struct TrunkImpl : torch::nn::Module {
  TrunkImpl() {
    stem = register_module("stem", torch::nn::Conv1d(2, 6, 3));
    head = register_module("head", torch::nn::Linear(6, 3));
  }
  torch::Tensor forward(const torch::Tensor& x) { return head(torch::relu(stem(x)).mean(2)); }
  torch::nn::Conv1d stem{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Trunk);
struct Sample {
  torch::Tensor wave, label;
};

double validate(Trunk& net, const std::vector<Sample>& held) {
  torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
  double worst = 0;
  for (const auto& s : held) {
    const double top = net->forward(s.wave).abs().max().item<double>();
    if (!std::isfinite(top)) return top;
    worst = std::max(worst, top);
  }
  torch::GradMode::set_enabled(true);
  return worst;
}

double validateAgain(Trunk& net, const std::vector<Sample>& held) {
  const bool before = torch::GradMode::is_enabled();
  torch::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored (what was before comes back)
  double worst = 0;
  for (const auto& s : held) worst = std::max(worst, net->forward(s.wave).abs().max().item<double>());  // RIGHT: torch-missing-no-grad (grad mode is off)
  torch::GradMode::set_enabled(before);
  return worst;
}

double train(Trunk& net, const std::vector<Sample>& samples, int epochs) {
  torch::optim::AdamW opt(net->parameters(), torch::optim::AdamWOptions(1e-2));
  double range = 0;
  for (int e = 0; e < epochs; ++e) {
    for (const auto& s : samples) {
      opt.zero_grad();
      reducedOn();
      auto loss = torch::cross_entropy_loss(net->forward(s.wave), s.label);
      reducedOff();
      loss.backward();
      opt.step();  // EXPECT: torch-autocast-cache
    }
    range = validate(net, samples);
  }
  return range;
}

double trainScoped(Trunk& net, const std::vector<Sample>& samples, int epochs) {
  torch::optim::AdamW opt(net->parameters(), torch::optim::AdamWOptions(1e-2));
  for (int e = 0; e < epochs; ++e)
    for (const auto& s : samples) {
      torch::Tensor logits;
      {
        Reduced scope;
        logits = net->forward(s.wave);
      }
      auto loss = torch::cross_entropy_loss(logits, s.label);  // RIGHT: torch-autocast-boundary (a loss that takes it)
      opt.zero_grad();
      loss.backward();
      opt.step();  // RIGHT: torch-autocast-cache (the guard's destructor empties it)
    }
  return validateAgain(net, samples);
}

torch::Tensor estimate(torch::nn::Linear& probe, const torch::Tensor& x) {
  Reduced scope;
  return probe->forward(x);
}

void regress(torch::nn::Linear& probe, int steps, bool wide) {
  torch::optim::SGD opt(probe->parameters(), 0.01);
  for (int s = 0; s < steps; ++s) {
    const auto x = torch::randn({32, 10});
    const auto length = torch::rand({32, 1});
    opt.zero_grad();
    if (wide) {
      auto ok = torch::mse_loss(estimate(probe, x).to(torch::kFloat), length);  // RIGHT: torch-autocast-boundary (converted)
      ok.backward();
    } else {
      auto guess = estimate(probe, x);
      auto loss = torch::mse_loss(guess, length);  // EXPECT: torch-autocast-boundary
      loss.backward();
    }
    opt.step();
  }
}

std::pair<double, double> benchmark(torch::Device device, int rounds) {
  torch::NoGradGuard off;
  torch::nn::Linear big(256, 256);
  big->to(device);
  const auto x = torch::rand({64, 256}, device);
  torch::Tensor y;
  const auto begin = Clock::now();
  for (int r = 0; r < rounds; ++r) y = big->forward(x);
  const std::chrono::duration<double> quick = Clock::now() - begin;  // EXPECT: torch-timing-without-sync
  if (torch::cuda::is_available()) torch::cuda::synchronize();
  const auto again = Clock::now();
  for (int r = 0; r < rounds; ++r) y = big->forward(x);
  if (torch::cuda::is_available()) torch::cuda::synchronize();
  const std::chrono::duration<double> whole = Clock::now() - again;  // RIGHT: torch-timing-without-sync (it waits)
  return {quick.count(), whole.count()};
}

}  // namespace

int main() {
  torch::manual_seed(9);
  std::vector<Sample> samples;
  for (int i = 0; i < 10; ++i) samples.push_back({torch::randn({8, 2, 20}), torch::randint(3, {8}, torch::kLong)});
  Trunk first, second;
  std::cout << train(first, samples, 2) << ' ' << trainScoped(second, samples, 2) << '\n';
  torch::nn::Linear probe(10, 1);
  regress(probe, 5, true);
  try {
    regress(probe, 5, false);
  } catch (const c10::Error& e) {
    std::cout << "regression: " << e.what_without_backtrace() << '\n';
  }
  const auto [quick, whole] = benchmark(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU, 20);
  std::cout << quick << " s, " << whole << " s\n";
}
