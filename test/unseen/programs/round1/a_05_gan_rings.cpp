// A GAN that learns points on two rings.
#include <torch/torch.h>
#include <cmath>
#include <iostream>

namespace nn = torch::nn;

static constexpr int64_t kBatch = 256;
static constexpr int64_t kLatent = 3;
static constexpr int kSteps = 120;

static nn::Sequential make_generator() {
  return nn::Sequential(nn::Linear(kLatent, 64), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                        nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 2));
}

static nn::Sequential make_critic() {
  return nn::Sequential(nn::Linear(2, 64), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                        nn::Linear(64, 1), nn::Sigmoid());
}

static torch::Tensor rings(int64_t n) {
  auto angle = torch::rand({n}) * (2 * M_PI);
  auto radius = torch::where(torch::rand({n}) < 0.5, torch::full({n}, 1.0), torch::full({n}, 2.0));
  return torch::stack({radius * angle.cos(), radius * angle.sin()}, 1);
}

int main() {
  torch::manual_seed(11);
  torch::Device device = torch::kCPU;
  if (torch::cuda::is_available()) device = torch::Device(torch::kCUDA);

  auto G = make_generator();
  auto D = make_critic();
  G->to(device);
  D->to(device);
  torch::optim::Adam g_opt(G->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.999}));
  torch::optim::Adam d_opt(D->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.999}));

  auto data = rings(kBatch * 16).to(device);
  auto soft = torch::full({kBatch, 1}, 0.9, device);  // RIGHT: torch-allocation-in-loop (made before the loop)

  for (int step = 0; step < kSteps; ++step) {
    auto real = data.narrow(0, (step % 16) * kBatch, kBatch);
    auto z = torch::randn({kBatch, kLatent}, device);  // RIGHT: torch-allocation-in-loop (768 new random numbers, not the same tensor)
    auto fake = G->forward(z);

    // critic
    auto fake_label = torch::zeros({kBatch, 1}, device);  // EXPECT: torch-allocation-in-loop
    auto d_loss = torch::binary_cross_entropy(D->forward(real), soft) +
                  torch::binary_cross_entropy(D->forward(fake.detach()), fake_label);
    d_loss.backward();
    d_opt.step();  // EXPECT: torch-missing-zero-grad

    // generator
    g_opt.zero_grad();
    auto g_loss = torch::binary_cross_entropy(D->forward(fake),
                                              torch::ones({kBatch, 1}, device));  // EXPECT: torch-allocation-in-loop
    g_loss.backward();
    g_opt.step();  // RIGHT: torch-missing-zero-grad (cleared above, before the generator's backward)

    if (step % 40 == 0)
      std::cout << "step " << step << " D " << d_loss.item<float>() << " G " << g_loss.item<float>() << '\n';
  }

  G->eval();
  torch::NoGradGuard no_grad;
  auto samples = G->forward(torch::randn({512, kLatent}, device));  // RIGHT: torch-missing-no-grad (under the guard)
  std::cout << "mean radius " << samples.norm(2, 1).mean().item<float>() << std::endl;
  return 0;
}
