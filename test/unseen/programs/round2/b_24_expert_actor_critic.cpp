#include <torch/torch.h>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>

// One-step actor-critic for a noisy pole-like system; the critic is a soft mixture of experts.

namespace {

torch::Tensor advance(const torch::Tensor& s, int64_t action, double& reward) {
  auto x = s[0].item<double>(), v = s[1].item<double>();
  v = 0.95 * v + 0.1 * x + (action ? 0.25 : -0.25) + 0.05 * torch::randn({1}).item<double>();
  x = std::clamp(x + 0.2 * v, -2.0, 2.0);
  reward = 1.0 - x * x;
  return torch::tensor({x, v}, torch::kFloat);
}

struct MixtureImpl : torch::nn::Module {
  MixtureImpl(int64_t in, int64_t out, size_t n)
      : experts(n, torch::nn::Linear(in, out)) {  // EXPECT: torch-fill-alias
    for (size_t i = 0; i < n; ++i) register_module("expert" + std::to_string(i), experts[i]);
    scale = register_parameter("scale", torch::ones({out}));
  }
  torch::Tensor forward(torch::Tensor x) {
    auto gates = torch::softmax(gate(x), -1);
    auto y = torch::zeros({});
    for (size_t i = 0; i < experts.size(); ++i) y = y + gates.select(-1, i).unsqueeze(-1) * experts[i](x);
    return y * scale;
  }
  void renormalise() {
    torch::NoGradGuard guard;
    scale /= scale.abs().max();  // RIGHT: torch-reassigned-member (in place), torch-leaf-inplace (under the guard)
  }
  std::vector<torch::nn::Linear> experts;
  torch::nn::Linear gate{2, 3};  // EXPECT: torch-unregistered-module
  torch::Tensor scale;
};
TORCH_MODULE(Mixture);

struct Log {
  torch::Tensor entropy = torch::zeros({1});
  double reward = 0;
  int n = 0;
  void add(const torch::Tensor& h, double r) {
    entropy += h;  // EXPECT: torch-retained-graph
    reward += r;
    ++n;
  }
};

}  // namespace

class Learner {
 public:
  Learner() {
    actor_ = torch::nn::Sequential(torch::nn::Linear(2, 32), torch::nn::Tanh(), torch::nn::Linear(32, 2));
    actorOpt_ = std::make_unique<torch::optim::Adam>(actor_->parameters(), 3e-3);
  }

  void run(int steps, Log& log) {
    auto s = torch::zeros({2});
    for (int i = 0; i < steps; ++i) {
      auto logits = actor_->forward(s);
      auto logp = torch::log_softmax(logits, 0);
      auto action = logp.detach().exp().multinomial(1).item<int64_t>();
      double reward = 0;
      auto next = advance(s, action, reward);
      torch::Tensor bootstrap;
      {
        torch::NoGradGuard guard;
        bootstrap = reward + 0.9 * critic_->forward(next.unsqueeze(0)).squeeze();  // RIGHT: torch-missing-no-grad (guarded by the block)
      }
      auto value = critic_->forward(s.unsqueeze(0)).squeeze();
      auto advantage = bootstrap - value;
      s = next;  // RIGHT: torch-undetached-hidden-state (the system's state comes from numbers, without a graph)

      auto entropy = -(logp * logp.exp()).sum();
      log.add(entropy, reward);
      updateCritic(advantage.square());
      if (i % 50 == 0) critic_->renormalise();

      auto loss = -logp[action] * advantage.detach() - 0.01 * entropy;
      loss.backward();
      actorOpt_->step();  // EXPECT: torch-missing-zero-grad
      if (std::abs(reward) > 2.5) continue;
      actorOpt_->zero_grad();
    }
  }

 private:
  void updateCritic(const torch::Tensor& loss) {
    auto opt = std::make_unique<torch::optim::RMSprop>(critic_->parameters(), 2e-3);  // EXPECT: torch-optimizer-in-loop
    opt->zero_grad();
    loss.backward();
    opt->step();  // RIGHT: torch-missing-zero-grad (cleared two lines above)
  }

  torch::nn::Sequential actor_{nullptr};
  Mixture critic_{2, 1, 3};
  std::unique_ptr<torch::optim::Optimizer> actorOpt_;
};

int main() {
  torch::manual_seed(55);
  Learner learner;
  for (int phase = 0; phase < 3; ++phase) {
    Log log;
    learner.run(150, log);
    std::cout << "phase " << phase << ": reward " << log.reward / log.n << ", entropy "
              << log.entropy.item<double>() / log.n << std::endl;
  }
  return 0;
}
