// A GAN that learns to draw points of a ring, with an optimizer of its own making.

#include <torch/torch.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kBatch = 4096;

struct GeneratorImpl : torch::nn::Module {
  GeneratorImpl() {
    first = register_module("first", torch::nn::Linear(4, 16));
    // PLANT true torch-fill-alias/module: the three blocks are one layer
    blocks.assign(3, torch::nn::Linear(16, 16));
    for (size_t i = 0; i < blocks.size(); ++i)
      register_module("block" + std::to_string(i), blocks[i]);
    last = register_module("last", torch::nn::Linear(16, 2));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(first(x));
    for (auto& block : blocks)
      x = torch::relu(block(x));
    return last(x);
  }

  torch::nn::Linear first{nullptr}, last{nullptr};
  std::vector<torch::nn::Linear> blocks;
};
TORCH_MODULE(Generator);

struct SignOptions : torch::optim::OptimizerCloneableOptions<SignOptions> {
  explicit SignOptions(double lr) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
};

// Moves each weight by the learning rate, against the sign of its gradient.
class SignDescent : public torch::optim::Optimizer {
 public:
  SignDescent(std::vector<torch::Tensor> parameters, double lr)
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(parameters))}, std::make_unique<SignOptions>(lr)),
        lr_(lr) {}

  torch::Tensor step(LossClosure /*closure*/ = nullptr) override {
    torch::NoGradGuard no_grad;
    for (auto& group : param_groups()) {
      for (auto& p : group.params()) {
        if (p.grad().defined())
          p.sub_(p.grad().sign(), lr_);
      }
    }
    return {};
  }

 private:
  double lr_;
};

torch::Tensor draw(Generator& generator, bool trained) {
  torch::AutoGradMode mode(trained);
  return generator->forward(torch::randn({kBatch, 4}));  // AT M
}

torch::Tensor ring() {
  auto angle = torch::rand({kBatch, 1}) * 6.2832;
  return torch::cat({angle.cos(), angle.sin()}, 1);
}

torch::Tensor takenForReal(const torch::Tensor& logits) {
  // PLANT true torch-allocation-in-loop/same-tensor loop=L: the same labels are made for both networks in each step
  const auto labels = torch::full({kBatch, 1}, 0.9);
  return torch::binary_cross_entropy_with_logits(logits, labels);
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  Generator generator;
  torch::nn::Sequential discriminator(torch::nn::Linear(2, 16), torch::nn::LeakyReLU(), torch::nn::Linear(16, 1));
  torch::optim::Adam g_optimizer(generator->parameters(), 2e-3);
  SignDescent d_optimizer(discriminator->parameters(), 1e-3);

  double d_sum = 0;
  double g_sum = 0;
  double largest = 0;
  for (int step = 0; step < 60; ++step) {  // AT L
    const auto real_logits = discriminator->forward(ring());
    const auto fake = draw(generator, /*trained=*/false);
    // PLANT innocent torch-undetached-generator-output/in-vain loop=L also=M: draw() has recorded no graph here
    const auto fake_logits = discriminator->forward(fake);
    const auto d_loss = takenForReal(real_logits) + torch::softplus(fake_logits).mean();
    d_loss.backward();
    // PLANT true torch-missing-zero-grad/cleared-on-some-path loop=L: the continue leaves out what clears them
    d_optimizer.step();
    d_sum += d_loss.item<double>();
    if (step % 3 != 2)
      continue;

    auto drawn = draw(generator, /*trained=*/true);
    // PLANT innocent torch-hook-in-loop/changes-gradient loop=L: the hook is on a new tensor each time
    drawn.register_hook([&largest](const torch::Tensor& grad) {
      largest = std::max(largest, grad.abs().max().item<double>());
      return grad.clamp(-1e-5, 1e-5);
    });
    const auto g_loss = takenForReal(discriminator->forward(drawn));
    g_loss.backward();
    g_optimizer.step();
    g_sum += g_loss.item<double>();
    g_optimizer.zero_grad();
    d_optimizer.zero_grad();
  }

  torch::NoGradGuard no_grad;
  const auto radius = draw(generator, /*trained=*/false).norm(2, 1).mean().item<double>();
  std::cout << "discriminator " << d_sum / 60 << " generator " << g_sum / 20 << " radius " << radius
            << " largest gradient " << largest << '\n';
  return 0;
}
