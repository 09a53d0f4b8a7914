// Reinforcement learning for a gantry crane: actor, critic, target critic and a replay memory.
#include <torch/torch.h>

#include <deque>
#include <iostream>
#include <random>
#include <tuple>
#include <vector>

namespace {

struct PilotImpl : torch::nn::Module {
  PilotImpl() : a(register_module("a", torch::nn::Linear(6, 32))), b(register_module("b", torch::nn::Linear(32, 2))) {}
  torch::Tensor forward(const torch::Tensor& s) { return torch::tanh(b(torch::relu(a(s)))); }
  torch::nn::Linear a, b;
};
TORCH_MODULE(Pilot);

struct JudgeImpl : torch::nn::Module {
  JudgeImpl() : a(register_module("a", torch::nn::Linear(8, 32))), b(register_module("b", torch::nn::Linear(32, 1))) {}
  torch::Tensor forward(const torch::Tensor& s, const torch::Tensor& u) {
    return b(torch::relu(a(torch::cat({s, u}, 1))));
  }
  torch::nn::Linear a, b;
};
TORCH_MODULE(Judge);

using Transition = std::tuple<torch::Tensor, torch::Tensor, float, torch::Tensor>;

class Memory {
 public:
  explicit Memory(size_t cap) : cap_(cap) {}
  void add(Transition t) {
    items_.push_back(std::move(t));  // RIGHT: torch-retained-graph (made under a guard, and bounded)
    if (items_.size() > cap_) items_.pop_front();
  }
  Transition draw(size_t n, std::mt19937& rng) const {
    std::vector<torch::Tensor> s, u, next;
    std::vector<float> r;
    for (size_t k = 0; k < n; ++k) {
      const auto& [s0, u0, r0, s1] = items_[rng() % items_.size()];
      s.push_back(s0);
      u.push_back(u0);
      r.push_back(r0);
      next.push_back(s1);
    }
    auto rewards = torch::tensor(r).unsqueeze(1);
    return {torch::cat(s), torch::cat(u), rewards.mean().item<float>(), torch::cat(next)};
  }

 private:
  size_t cap_;
  std::deque<Transition> items_;
};

template <typename Net>
void drift(Net& to, Net& from, double tau) {
  torch::NoGradGuard g;
  for (size_t i = 0; i < from->parameters().size(); ++i)
    to->parameters()[i] = torch::lerp(to->parameters()[i], from->parameters()[i], tau);  // EXPECT: torch-parameter-copy
}

template <typename Net>
void mirror(Net& to, Net& from) {
  torch::NoGradGuard g;
  auto src = from->parameters();
  auto dst = to->parameters();
  for (size_t i = 0; i < src.size(); ++i)
    dst[i].copy_(src[i]);  // RIGHT: torch-parameter-copy, torch-leaf-inplace (in place, under a guard)
}

void improve(Pilot& pilot, Judge& judge, Judge& slow, const Memory& memory, int rounds) {
  torch::optim::SGD pilotOpt(pilot->parameters(), torch::optim::SGDOptions(1e-2));
  torch::optim::SGD judgeOpt(judge->parameters(), torch::optim::SGDOptions(1e-2));
  std::mt19937 rng(4);
  for (int k = 0; k < rounds; ++k) {
    auto [s, u, r, next] = memory.draw(16, rng);
    torch::Tensor plan;
    {
      torch::NoGradGuard g;
      plan = pilot->forward(next);  // RIGHT: torch-unused-gradients (under a guard)
    }
    auto wanted = r + 0.95 * slow->forward(next, plan);  // EXPECT: torch-unused-gradients
    auto judgeLoss = torch::mse_loss(judge->forward(s, u), wanted);
    auto pilotLoss = -judge->forward(s, pilot->forward(s)).mean();  // RIGHT: torch-undetached-generator-output (the actor learns through it)
    judgeOpt.zero_grad();
    judgeLoss.backward();
    judgeOpt.step();
    pilotOpt.zero_grad();
    pilotLoss.backward();  // EXPECT: torch-stale-graph
    pilotOpt.step();
    drift(slow, judge, 0.01);
  }
}

double imitateOnce(Pilot& pilot, const torch::Tensor& s, const torch::Tensor& expert) {
  auto opt = std::make_unique<torch::optim::Adam>(pilot->parameters(), torch::optim::AdamOptions(1e-3));  // EXPECT: torch-optimizer-in-loop
  auto loss = torch::mse_loss(pilot->forward(s), expert);
  opt->zero_grad();
  loss.backward();
  opt->step();
  return loss.item<double>();
}

double imitate(Pilot& pilot, int demos) {
  double last = 0;
  for (int d = 0; d < demos; ++d) {
    auto s = torch::randn({8, 6});
    last = imitateOnce(pilot, s, torch::tanh(s.narrow(1, 0, 2)));
  }
  return last;
}

// Returns of each recorded shift.
torch::Tensor discounted(const std::vector<torch::Tensor>& shifts, float gamma) {
  std::vector<torch::Tensor> all;
  for (const auto& rewards : shifts) {
    auto returns = torch::zeros({rewards.size(0)});
    float running = 0;
    for (int64_t t = rewards.size(0) - 1; t >= 0; --t) {
      running = rewards[t].item<float>() + gamma * running;  // EXPECT: torch-element-access-in-loop
      returns[t] = running;  // EXPECT: torch-element-access-in-loop
    }
    all.push_back(returns);
  }
  return torch::stack(all);
}

}  // namespace

int main() {
  torch::manual_seed(8);
  Pilot pilot;
  Judge judge, slow;
  mirror(slow, judge);
  std::cout << "imitation " << imitate(pilot, 25) << '\n';
  Memory memory(200);
  auto s = torch::randn({1, 6});
  for (int t = 0; t < 250; ++t) {
    torch::NoGradGuard g;
    auto u = pilot->forward(s);  // RIGHT: torch-missing-no-grad (under a guard)
    auto next = torch::randn({1, 6});
    memory.add({s, u, -s.square().sum().item<float>(), next});
    s = next;
  }
  improve(pilot, judge, slow, memory, 30);
  std::vector<torch::Tensor> shifts;
  for (int k = 0; k < 12; ++k) shifts.push_back(torch::rand({200}));
  std::cout << discounted(shifts, 0.9f).mean().item<float>() << '\n';
}
