// Advantage actor-critic on a cart with a pole; the losses of an episode are
// collected and go back together at its end.
#include <torch/torch.h>

#include <array>
#include <cmath>
#include <deque>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

class CartPole {
 public:
  torch::Tensor reset() {
    std::uniform_real_distribution<float> near(-0.05F, 0.05F);
    for (float& value : state_)
      value = near(random_);
    return observation();
  }

  struct Result {
    torch::Tensor observation;
    float reward;
    bool done;
  };

  Result step(int64_t action) {
    const float force = action == 1 ? 10.0F : -10.0F;
    auto& [x, v, angle, spin] = state_;
    const float push = (force + 0.05F * spin * spin * std::sin(angle)) / 1.1F;
    const float turn = (9.8F * std::sin(angle) - std::cos(angle) * push) /
                       (0.5F * (4.0F / 3.0F - 0.1F * std::pow(std::cos(angle), 2.0F) / 1.1F));
    const float pull = push - 0.05F * turn * std::cos(angle) / 1.1F;
    x += 0.02F * v;
    v += 0.02F * pull;
    angle += 0.02F * spin;
    spin += 0.02F * turn;
    return {observation(), 1.0F, std::abs(x) > 2.4F || std::abs(angle) > 0.21F};
  }

 private:
  torch::Tensor observation() const {
    return torch::tensor({state_[0], state_[1], state_[2], state_[3]});
  }

  std::array<float, 4> state_{};
  std::mt19937 random_{7};
};

struct ActorCriticImpl : torch::nn::Module {
  ActorCriticImpl() : affine(4, 128), action_head(128, 2), value_head(128, 1) {
    register_module("affine", affine);
    register_module("action_head", action_head);
    register_module("value_head", value_head);
  }

  std::tuple<torch::Tensor, torch::Tensor> forward(const torch::Tensor& x) {
    auto features = torch::relu(affine(x));
    return {torch::softmax(action_head(features), -1), value_head(features)};
  }

  torch::nn::Linear affine, action_head, value_head;
};
TORCH_MODULE(ActorCritic);

class Agent {
 public:
  Agent() : optimizer_(policy_->parameters(), torch::optim::AdamOptions(3e-2)) {}

  int64_t act(const torch::Tensor& observation) {
    auto [probabilities, value] = policy_->forward(observation);
    auto action = probabilities.multinomial(1).item<int64_t>();
    log_probabilities_.push_back(probabilities[action].log());
    values_.push_back(value);
    certainty_ += probabilities.max().item<double>();
    ++decisions_;
    return action;
  }

  void reward(float value) { rewards_.push_back(value); }

  void finish_episode() {
    std::vector<float> returns(rewards_.size());
    float future = 0;
    for (size_t i = rewards_.size(); i-- > 0;)
      returns[i] = future = rewards_[i] + 0.99F * future;
    auto target = torch::tensor(returns);
    target = (target - target.mean()) / (target.std() + 1e-8);

    auto values = torch::cat(values_);
    auto advantage = target - values.detach();
    auto policy_loss = -(torch::stack(log_probabilities_) * advantage).sum();
    auto value_loss = torch::smooth_l1_loss(values, target, torch::Reduction::Sum);
    auto loss = policy_loss + value_loss;

    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
    losses_.push_back(loss.item<float>());
    last_advantage_ = advantage.detach();

    log_probabilities_.clear();
    values_.clear();
    rewards_.clear();
  }

  int64_t best(const torch::Tensor& observation) {
    torch::NoGradGuard no_grad;
    return std::get<0>(policy_->forward(observation)).argmax().item<int64_t>();
  }

  double certainty() const { return certainty_ / decisions_; }

  float mean_loss() const {
    return std::accumulate(losses_.begin(), losses_.end(), 0.0F) / losses_.size();
  }

 private:
  ActorCritic policy_;
  torch::optim::Adam optimizer_;
  std::vector<torch::Tensor> log_probabilities_;
  std::vector<torch::Tensor> values_;
  std::vector<float> rewards_;
  std::vector<float> losses_;
  torch::Tensor last_advantage_;
  double certainty_ = 0;
  int64_t decisions_ = 0;
};

int main() {
  torch::manual_seed(543);
  CartPole environment;
  Agent agent;
  double running = 10;
  for (int episode = 0; episode < 1000; ++episode) {
    auto observation = environment.reset();
    float total = 0;
    for (int t = 0; t < 10000; ++t) {
      auto result = environment.step(agent.act(observation));
      agent.reward(result.reward);
      total += result.reward;
      observation = result.observation;
      if (result.done)
        break;
    }
    running = 0.05 * total + 0.95 * running;
    agent.finish_episode();
    if (episode % 10 == 0)
      std::cout << "episode " << episode << " reward " << total << " mean loss "
                << agent.mean_loss() << " certainty " << agent.certainty() << std::endl;
    if (running > 475)
      break;
  }

  auto observation = environment.reset();
  int survived = 0;
  for (bool done = false; !done && survived < 500; ++survived) {
    auto result = environment.step(agent.best(observation));
    observation = result.observation;
    done = result.done;
  }
  std::cout << "survived " << survived << std::endl;
}
