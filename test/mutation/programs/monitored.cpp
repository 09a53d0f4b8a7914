// Fits one small regression after another, as a search over noise levels does. A monitor
// watches gradients by hooks, and callbacks tell a progress object what has happened.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Progress {
  int64_t reported = 0;
  double best = 1e9;
};

class Fit : public std::enable_shared_from_this<Fit> {
public:
  explicit Fit(double noise) : noise_(noise) {}

  double run(int64_t steps) {
    auto x = torch::linspace(-1, 1, 64).unsqueeze(1);
    auto y = torch::sin(3 * x) + noise_ * torch::randn_like(x);
    torch::optim::Adam adam(net_->parameters(), 0.02);
    double last = 0;
    for (int64_t step = 0; step < steps; ++step) {
      auto loss = torch::mse_loss(net_->forward(x), y);
      adam.zero_grad();
      loss.backward();
      adam.step();
      last = loss.item<double>();
      if (on_step)
        on_step(step, last);
    }
    if (on_end)
      on_end(last);
    return last;
  }

  void note(double loss) { losses_.push_back(loss); }
  size_t noted() const { return losses_.size(); }

  std::function<void(int64_t, double)> on_step;
  std::function<void(double)> on_end;

private:
  double noise_;
  std::vector<double> losses_;
  torch::nn::Sequential net_{torch::nn::Linear(1, 32), torch::nn::Tanh(),
                             torch::nn::Linear(32, 1)};
};

double fitted(double noise, Progress &progress) {
  auto fit = std::make_shared<Fit>(noise);
  std::weak_ptr<Fit> watched = fit;
  fit->on_step = [watched](int64_t step, double loss) {
    if (auto alive = watched.lock(); alive && step % 10 == 0)
      alive->note(loss);
  };
  fit->on_end = [&progress](double loss) {
    ++progress.reported;
    progress.best = std::min(progress.best, loss);
  };
  return fit->run(100) / static_cast<double>(fit->noted());
}

// How strongly each input bends the output: a hook scales what flows back.
torch::Tensor sensitivity(const torch::Tensor &inputs) {
  auto scale = torch::ones({inputs.size(1)}, torch::requires_grad());
  scale.register_hook(
      [level = scale.detach()](torch::Tensor grad) { return grad / (level + 1e-3); });
  auto bent = torch::tanh(inputs * scale);
  bent.register_hook([](torch::Tensor grad) { return grad.clamp(-1, 1); });
  bent.sum().backward();
  return scale.grad().abs();
}

} // namespace

int main() {
  torch::manual_seed(4);
  Progress progress;
  double sum = 0;
  for (double noise : {0.0, 0.05, 0.1, 0.2})
    sum += fitted(noise, progress);
  auto bends = sensitivity(torch::randn({128, 6}));
  std::printf("%lld fits, best %.4f, mean %.5f, bends %.3f\n",
              static_cast<long long>(progress.reported), progress.best, sum / 4,
              bends.mean().item<double>());
  return std::isfinite(sum) ? 0 : 1;
}
