// REINFORCE in a corridor: walk right to reach the door.
#include <torch/torch.h>
#include <iostream>
#include <random>
#include <vector>

namespace corridor {

constexpr int64_t kLength = 8;

struct Env {
  int64_t pos = 0;
  int64_t steps = 0;
  torch::Tensor reset() {
    pos = 2;
    steps = 0;
    return observe();
  }
  torch::Tensor observe() const { return torch::one_hot(torch::tensor(pos), kLength).to(torch::kFloat); }
  std::pair<float, bool> act(int64_t a) {
    pos = std::max<int64_t>(0, pos + (a == 1 ? 1 : -1));
    ++steps;
    if (pos >= kLength - 1) {
      pos = kLength - 1;
      return {1.0f, true};
    }
    return {-0.05f, steps >= 40};
  }
};

struct PolicyImpl : torch::nn::Module {
  torch::nn::Linear l1{nullptr}, l2{nullptr};
  PolicyImpl() {
    l1 = register_module("l1", torch::nn::Linear(kLength, 32));
    l2 = register_module("l2", torch::nn::Linear(32, 2));
  }
  torch::Tensor forward(const torch::Tensor& s) { return torch::log_softmax(l2(torch::tanh(l1(s))), -1); }
};
TORCH_MODULE(Policy);

struct Memory {
  std::vector<torch::Tensor> logProbs;
  std::vector<float> rewards;
  void clear() {
    logProbs.clear();
    rewards.clear();
  }
};

void finishEpisode(torch::optim::Optimizer& opt, Memory& mem, float gamma) {
  std::vector<float> returns(mem.rewards.size());
  float R = 0;
  for (int i = static_cast<int>(mem.rewards.size()) - 1; i >= 0; --i) {
    R = mem.rewards[i] + gamma * R;
    returns[i] = R;
  }
  auto ret = torch::tensor(returns);
  ret = (ret - ret.mean()) / (ret.std(false) + 1e-6);
  auto loss = -(torch::stack(mem.logProbs) * ret).sum();
  loss.backward();
  opt.step();  // EXPECT: torch-missing-zero-grad
  mem.clear();
}

}  // namespace corridor

int main() {
  using namespace corridor;
  torch::manual_seed(3);
  Policy policy;
  torch::optim::Adam opt(policy->parameters(), 5e-3);
  opt.zero_grad();

  Env env;
  Memory mem;
  auto entropySum = torch::zeros({});
  torch::Tensor averageReturn = torch::zeros({1});
  int64_t decisions = 0;

  for (int episode = 0; episode < 120; ++episode) {
    auto state = env.reset();
    bool done = false;
    float total = 0;
    while (!done) {
      auto logp = policy->forward(state);          // RIGHT: torch-missing-no-grad (the log probabilities are backwarded)
      auto a = logp.exp().multinomial(1).item<int64_t>();
      mem.logProbs.push_back(logp[a]);             // RIGHT: torch-retained-graph (cleared after each episode)
      entropySum += -(logp.exp() * logp).sum();    // EXPECT: torch-retained-graph
      float r;
      std::tie(r, done) = env.act(a);
      mem.rewards.push_back(r);
      total += r;
      state = env.observe();
      ++decisions;
    }
    averageReturn = 0.95 * averageReturn + 0.05 * total;  // RIGHT: torch-retained-graph (rewards are numbers, there is no graph)
    finishEpisode(opt, mem, 0.97f);
  }
  std::cout << "mean return " << averageReturn.item<float>() << ", mean entropy "
            << entropySum.item<float>() / static_cast<float>(decisions) << std::endl;
}
