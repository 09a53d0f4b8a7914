// Two ways to train a generator of points on a ring, on whatever device there is.
#include <torch/torch.h>
#include <cmath>
#include <iostream>
#include <optional>

namespace {
constexpr int64_t kLatent = 24;
struct Ring : torch::data::datasets::Dataset<Ring> {
  explicit Ring(int64_t n) {
    auto angle = torch::rand({n}) * (2 * M_PI);
    points = torch::stack({angle.cos(), angle.sin()}, 1);
  }
  torch::data::Example<> get(size_t i) override { return {points[i], torch::tensor(int64_t(i))}; }
  std::optional<size_t> size() const override { return points.size(0); }
  torch::Tensor points;
};

struct GeneratorImpl : torch::nn::Module {
  GeneratorImpl() {
    in = register_module("in", torch::nn::Linear(kLatent, 64));
    norm = register_module("norm", torch::nn::BatchNorm1d(64));
    out = register_module("out", torch::nn::Linear(64, 2));
  }
  torch::Tensor forward(const torch::Tensor& z) { return out(torch::relu(norm(in(z)))); }
  torch::nn::Linear in{nullptr}, out{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Generator);
struct JudgeImpl : torch::nn::Module {
  JudgeImpl() {
    layers = register_module("layers", torch::nn::Sequential(torch::nn::Linear(2, 64), torch::nn::Tanh(), torch::nn::Linear(64, 1)));
  }
  torch::Tensor forward(const torch::Tensor& x) { return layers->forward(x); }
  torch::nn::Sequential layers{nullptr};
};
TORCH_MODULE(Judge);

torch::Tensor verdict(const torch::Tensor& logits, double wanted) {
  return torch::binary_cross_entropy_with_logits(logits, torch::full_like(logits, wanted));
}

template <class Loader>
void classic(Generator& generator, Judge& judge, Loader& loader, torch::Device device, int epochs) {
  torch::optim::Adam g_optimizer(generator->parameters(), 1e-3), j_optimizer(judge->parameters(), 1e-3);
  const auto centre = torch::full({1, 2}, 0.1);
  int64_t step = 0;
  generator->train();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (auto& batch : loader) {
      auto real = batch.data.to(device) - centre.to(device);  // EXPECT: torch-repeated-transfer
      auto noise = torch::randn({real.size(0), kLatent}).to(device);  // EXPECT: torch-allocate-on-device
      auto fake = generator->forward(noise);
      auto j_loss = verdict(judge->forward(real), 1) + verdict(judge->forward(fake), 0);  // EXPECT: torch-undetached-generator-output
      j_optimizer.zero_grad();
      j_loss.backward();
      j_optimizer.step();
      auto fresh = generator->forward(torch::randn({real.size(0), kLatent}, device));  // RIGHT: torch-allocate-on-device made there
      auto g_loss = verdict(judge->forward(fresh), 1);  // RIGHT: torch-undetached-generator-output the generator makes the step
      g_optimizer.zero_grad();
      g_loss.backward();
      g_optimizer.step();
      if (++step % 10 == 0) {
        generator->eval();  // EXPECT: torch-eval-mode-not-restored
        torch::NoGradGuard no_grad;
        auto picture = generator->forward(torch::randn({256, kLatent}, device));
        std::cout << picture.norm(2, 1).mean().template item<float>() << ' ';
      }
    }
  }
  std::cout << '\n';
}

template <class Loader>
void wasserstein(Generator& generator, Judge& judge, Loader& loader, torch::Device device) {
  torch::optim::RMSprop g_optimizer(generator->parameters(), 1e-4), j_optimizer(judge->parameters(), 1e-4);
  for (auto& batch : loader) {
    auto real = batch.data.to(device);  // RIGHT: torch-repeated-transfer the batch is another each time
    g_optimizer.zero_grad(), j_optimizer.zero_grad();
    auto fake = generator->forward(torch::randn({real.size(0), kLatent}, device));
    auto j_loss = judge->forward(fake).mean() - judge->forward(real).mean();  // EXPECT: torch-undetached-generator-output
    j_loss.backward();
    j_optimizer.step();
    auto g_loss = -judge->forward(generator->forward(torch::randn({real.size(0), kLatent}, device))).mean();
    g_loss.backward();
    g_optimizer.step();
  }
}

template <class Loader>
void penalised(Generator& generator, Judge& judge, Loader& loader, torch::Device device) {
  torch::optim::Adam j_optimizer(judge->parameters(), 1e-4), g_optimizer(generator->parameters(), 1e-4);
  for (auto& batch : loader) {
    auto real = batch.data.to(device);
    torch::Tensor fake;
    {
      torch::NoGradGuard no_grad;
      fake = generator->forward(torch::randn({real.size(0), kLatent}, device));
    }
    auto mixed = torch::lerp(real, fake, 0.5).requires_grad_();
    auto slope = torch::autograd::grad({judge->forward(mixed).sum()}, {mixed}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
    auto penalty = (slope.norm(2, 1) - 1).pow(2).mean();
    auto j_loss = judge->forward(fake).mean() - judge->forward(real).mean() + penalty;  // RIGHT: torch-undetached-generator-output made under a guard
    j_optimizer.zero_grad();
    j_loss.backward();
    j_optimizer.step();
    generator->eval();  // RIGHT: torch-eval-mode-not-restored train() follows in the same iteration
    torch::Tensor radius;
    {
      torch::NoGradGuard no_grad;
      radius = generator->forward(torch::randn({64, kLatent}, device)).norm(2, 1).mean();
    }
    generator->train();
    auto g_loss = -judge->forward(generator->forward(torch::randn({real.size(0), kLatent}, device))).mean() / radius;
    g_optimizer.zero_grad();
    g_loss.backward();
    g_optimizer.step();
  }
}

template <class Loader>
void sharpen(Judge& judge, Loader& loader, torch::Device device) {
  torch::optim::Adam optimizer(judge->parameters(), 1e-3);
  for (auto& batch : loader) {
    auto real = batch.data.to(device);
    auto loss = verdict(judge->forward(real), 1) + verdict(judge->forward(real * 2), 0);
    optimizer.zero_grad();
    loss.backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
    optimizer.step();
    auto near = verdict(judge->forward(real), 0.9), far = near + judge->forward(real * 3).mean();
    optimizer.zero_grad();
    near.backward({}, /*retain_graph=*/true);  // RIGHT: torch-retain-graph-in-loop 'far' goes through it again
    far.backward();
    optimizer.step();
  }
}
}  // namespace

int main() {
  torch::manual_seed(17);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  auto loader = torch::data::make_data_loader(Ring(640).map(torch::data::transforms::Stack<>()), 64);
  Generator generator;
  Judge judge;
  generator->to(device), judge->to(device);
  sharpen(judge, *loader, device);
  classic(generator, judge, *loader, device, 3);
  wasserstein(generator, judge, *loader, device);
  penalised(generator, judge, *loader, device);
}
