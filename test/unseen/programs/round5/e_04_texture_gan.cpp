// Texture synthesis with adversarial losses, on the GPU where there is one.
#include <torch/torch.h>

#include <iostream>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kRows = 128, kPatches = 64, kLatent = 48, kWidth = 96;

torch::nn::Sequential painterNet() {
  return torch::nn::Sequential(torch::nn::Linear(kLatent, 64), torch::nn::ReLU(), torch::nn::Linear(64, kWidth));
}

torch::nn::Sequential criticNet() {
  return torch::nn::Sequential(torch::nn::Linear(kWidth, 64), torch::nn::LeakyReLU(), torch::nn::Linear(64, kPatches));
}

torch::Tensor verdict(const torch::Tensor& logits, const torch::Tensor& labels) {
  return torch::binary_cross_entropy_with_logits(logits, labels);
}

class Studio {
 public:
  explicit Studio(torch::Device where)
      : where_(where),
        painter_(painterNet()),
        critic_(criticNet()),
        painterOpt_(painter_->parameters(), torch::optim::AdamOptions(2e-4)),
        criticOpt_(critic_->parameters(), torch::optim::AdamOptions(2e-4)) {
    painter_->to(where_);
    critic_->to(where_);
  }

  void compete(const torch::Tensor& library, int rounds) {
    const auto no = torch::zeros({kRows, kPatches}, where_);
    for (int r = 0; r < rounds; ++r) {
      auto yes = torch::full({kRows, kPatches}, 0.9, where_);  // EXPECT: torch-allocation-in-loop
      auto real = library.index_select(0, torch::randint(library.size(0), {kRows}, torch::kLong)).to(where_);
      auto noise = torch::randn({kRows, kLatent}).to(where_);  // EXPECT: torch-allocate-on-device
      auto forged = painter_->forward(noise);
      auto criticLoss = verdict(critic_->forward(real), yes);
      criticLoss = criticLoss + verdict(critic_->forward(forged), no);  // EXPECT: torch-undetached-generator-output
      criticOpt_.zero_grad(false);  // EXPECT: torch-zero-grad-in-place
      criticLoss.backward();
      criticOpt_.step();
      duel_.emplace_back(r, criticLoss);  // EXPECT: torch-retained-graph

      auto again = painter_->forward(torch::randn({kRows, kLatent}, where_));
      auto painterLoss = verdict(critic_->forward(again), yes);  // RIGHT: torch-undetached-generator-output (the painter's own step)
      painterOpt_.zero_grad();
      painterLoss.backward({}, true);  // EXPECT: torch-retain-graph-in-loop
      painterOpt_.step();
    }
  }

  torch::Tensor paint(int64_t n) {
    torch::NoGradGuard frozen;
    return painter_->forward(torch::randn({n, kLatent}, where_));  // RIGHT: torch-missing-no-grad (under a guard)
  }

  double lastLoss() const { return duel_.empty() ? 0. : duel_.back().second.item<double>(); }

 private:
  torch::Device where_;
  torch::nn::Sequential painter_, critic_;
  torch::optim::Adam painterOpt_, criticOpt_;
  std::vector<std::pair<int, torch::Tensor>> duel_;
};

// The version with a gradient penalty.
double wasserstein(torch::Device where, const torch::Tensor& library, int rounds) {
  auto painter = painterNet(), critic = criticNet();
  painter->to(where);
  critic->to(where);
  torch::optim::RMSprop painterOpt(painter->parameters(), 1e-4), criticOpt(critic->parameters(), 1e-4);
  const auto real = library.narrow(0, 0, kRows).to(where);
  auto distance = torch::zeros({}, where);
  for (int r = 0; r < rounds; ++r) {
    auto forged = painter->forward(torch::randn({kRows, kLatent}, where));
    auto mix = torch::lerp(real, forged.detach(), 0.5).requires_grad_();
    auto slope = torch::autograd::grad({critic->forward(mix).sum()}, {mix}, {}, true, true)[0];
    auto criticLoss = critic->forward(forged.detach()).mean() - critic->forward(real).mean() +
                      10 * (slope.norm(2, 1) - 1).square().mean();
    criticOpt.zero_grad();
    criticLoss.backward();  // RIGHT: torch-undetached-generator-output (detached)
    criticOpt.step();
    distance += criticLoss.detach();  // RIGHT: torch-retained-graph (detached)
    auto painterLoss = -critic->forward(forged).mean();
    painterOpt.zero_grad();
    painterLoss.backward();
    painterOpt.step();
  }
  return distance.item<double>() / rounds;  // RIGHT: torch-sync-in-loop (behind the loop)
}

}  // namespace

int main() {
  torch::manual_seed(5);
  const torch::Device where(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const auto library = torch::randn({512, kWidth}).cumsum(1);
  const auto probe = torch::randn({4, kLatent}).to(where);  // RIGHT: torch-allocate-on-device (once, in main)
  Studio studio(where);
  studio.compete(library, 25);
  std::cout << "loss " << studio.lastLoss() << ", painted " << studio.paint(4).sizes() << probe.sizes() << '\n';
  std::cout << "distance " << wasserstein(where, library, 15) << '\n';
}
