// STD: c++20
#include <torch/torch.h>

#include <concepts>
#include <iostream>
#include <ranges>
#include <sstream>
#include <string>
#include <vector>

// A VAE on drawn strokes: gradient accumulation, warm-up schedule, averaged weights,
// checkpoint in memory, latent walk.

namespace vae {

struct Settings {
  int64_t side = 16, latent = 4, hidden = 96;
  int accumulate = 2;
  int warmup = 20;
  double rate = 2e-3, decay = 0.98;
};

struct Output {
  torch::Tensor image, mu, logvar;
};

class ModelImpl : public torch::nn::Cloneable<ModelImpl> {
 public:
  explicit ModelImpl(Settings s) : settings(s) { reset(); }
  void reset() override {
    auto pixels = settings.side * settings.side;
    encoder = register_module("encoder", torch::nn::Sequential(torch::nn::Flatten(), torch::nn::Linear(pixels, settings.hidden), torch::nn::SiLU(), torch::nn::Linear(settings.hidden, 2 * settings.latent)));
    decoder = register_module("decoder", torch::nn::Sequential(torch::nn::Linear(settings.latent, settings.hidden), torch::nn::SiLU(), torch::nn::Linear(settings.hidden, pixels)));
  }
  Output forward(const torch::Tensor& x) {
    auto code = encoder->forward(x).chunk(2, 1);
    auto mu = code[0], logvar = code[1];
    auto z = mu + torch::exp(0.5 * logvar) * torch::randn_like(mu);
    return {.image = decoder->forward(z), .mu = mu, .logvar = logvar};
  }
  torch::Tensor draw(const torch::Tensor& z) { return torch::sigmoid(decoder->forward(z)); }

 private:
  Settings settings;
  torch::nn::Sequential encoder{nullptr}, decoder{nullptr};
};
TORCH_MODULE(Model);

class Average {
 public:
  Average(Model& model, double decay) : decay_(decay) {
    for (const auto& p : model->parameters()) shadow_.push_back(p.detach().clone());
  }
  void update(Model& model) {
    torch::NoGradGuard guard;
    auto now = model->parameters();
    for (size_t i = 0; i < now.size(); ++i) shadow_[i].lerp_(now[i], 1 - decay_);  // RIGHT: torch-retained-graph (under a guard)
  }
  void into(Model& model) const {
    torch::NoGradGuard guard;
    auto to = model->parameters();
    for (size_t i = 0; i < to.size(); ++i) to[i].copy_(shadow_[i]);  // RIGHT: torch-leaf-inplace (under a guard), torch-parameter-copy (in place)
  }

 private:
  double decay_;
  std::vector<torch::Tensor> shadow_;
};

torch::Tensor strokes(int64_t n, int64_t side) {
  std::vector<float> canvas(n * side * side, 0.f);
  auto where = torch::randint(side, {n, 2}, torch::kLong).contiguous();
  auto at = where.accessor<int64_t, 2>();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < side; ++k) {
      canvas[(i * side + at[i][0]) * side + k] = 1.f;
      canvas[(i * side + k) * side + at[i][1]] = 1.f;
    }
  return torch::from_blob(canvas.data(), {n, 1, side, side}).clone();  // RIGHT: torch-blob-lifetime (cloned)
}

torch::Tensor objective(const Output& out, const torch::Tensor& x) {
  auto rebuilt = torch::binary_cross_entropy_with_logits(out.image, x.flatten(1), {}, {}, at::Reduction::Sum);
  auto divergence = -0.5 * (1 + out.logvar - out.mu.square() - out.logvar.exp()).sum();
  return (rebuilt + divergence) / x.size(0);
}

template <std::invocable<double, int> Report>
void train(Model& model, Average& average, const Settings& s, int steps, Report report) {
  torch::optim::Adam adam(model->parameters(), torch::optim::AdamOptions(s.rate));
  double sum = 0;
  for (int i : std::views::iota(1, steps + 1)) {
    auto x = strokes(32, s.side);
    auto loss = objective(model->forward(x), x) / s.accumulate;
    loss.backward();
    sum += loss.item<double>();
    if (i % s.accumulate) continue;
    for (auto& group : adam.param_groups())
      static_cast<torch::optim::AdamOptions&>(group.options()).lr(s.rate * std::min(1.0, double(i) / s.warmup));
    adam.step();  // RIGHT: torch-missing-zero-grad (gradients of two batches are summed and then cleared)
    adam.zero_grad();
    average.update(model);
    if (i % 40 == 0) report(std::exchange(sum, 0.0) / 40 * s.accumulate, i);
  }
}

}  // namespace vae

int main() {
  torch::manual_seed(2024);
  const vae::Settings settings{.side = 12, .latent = 6, .decay = 0.9};
  vae::Model model(settings);
  vae::Average average(model, settings.decay);
  std::vector<double> curve;
  vae::train(model, average, settings, 160, [&](double loss, int step) {
    curve.push_back(loss);
    std::cout << step << ": " << loss << "\n";
  });

  auto best = std::dynamic_pointer_cast<vae::ModelImpl>(model->clone());
  vae::Model smooth(best);
  average.into(smooth);
  std::stringstream file;
  torch::save(smooth, file);
  vae::Model loaded(settings);
  torch::load(loaded, file);

  torch::NoGradGuard guard;
  loaded->eval();
  auto a = torch::randn({1, settings.latent}), b = torch::randn({1, settings.latent});
  std::vector<torch::Tensor> walk;
  for (int i = 0; i <= 4; ++i) walk.push_back(loaded->draw(torch::lerp(a, b, i / 4.0)));  // RIGHT: torch-missing-no-grad (guarded), torch-retained-graph (no graph)
  std::cout << "walk " << torch::stack(walk).mean().item<double>() << ", better: " << std::boolalpha
            << (curve.back() < curve.front()) << std::endl;
}
