// Reinforcement learning: an actor, its critic and a slow copy of the critic.

#include <torch/torch.h>

#include <deque>
#include <iostream>
#include <vector>

namespace {

torch::nn::Sequential makeCritic() {
  return torch::nn::Sequential(torch::nn::Linear(4, 24), torch::nn::Tanh(), torch::nn::Linear(24, 1));
}

class Unrecorded {
 public:
  Unrecorded() : was_(torch::GradMode::is_enabled()) { torch::GradMode::set_enabled(false); }
  ~Unrecorded() { torch::GradMode::set_enabled(was_); }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  bool was_;
};

// The latest values, for a look at how much they vary.
class Recent {
 public:
  void add(const torch::Tensor& value) {
    // PLANT innocent torch-retained-graph/grows loop=L built=Q: only the latest twelve are kept
    values_.push_back(value);
    if (values_.size() > 12)
      values_.pop_front();
  }

  double spread() const {
    torch::NoGradGuard no_grad;
    return torch::stack(std::vector<torch::Tensor>(values_.begin(), values_.end())).std().item<double>();
  }

 private:
  std::deque<torch::Tensor> values_;
};

void descend(torch::Tensor& weight, double rate) {
  // PLANT innocent torch-leaf-inplace/leaf loop=L: the caller has switched grad mode off
  weight.sub_(weight.grad(), rate);
  weight.mutable_grad().reset();
}

void limitGradients(const std::vector<torch::Tensor>& parameters) {
  for (const auto& p : parameters) {  // AT P
    // PLANT true torch-discarded-result/computation loop=P: the gradient itself is not clamped
    p.grad().clamp(-0.01, 0.01);
  }
}

void blend(torch::Tensor slow, const torch::Tensor& fast) {
  // PLANT true torch-parameter-copy/parameter loop=B: the slow copy of the critic never changes
  slow = 0.9 * slow + 0.1 * fast.detach();
}

torch::Tensor act(torch::nn::Sequential& actor, const torch::Tensor& state) {
  return torch::cat({state, actor->forward(state)}, 1);
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  torch::nn::Sequential actor(torch::nn::Linear(3, 24), torch::nn::Tanh(), torch::nn::Linear(24, 1),
                              torch::nn::Tanh());
  auto critic = makeCritic();
  auto slow_critic = makeCritic();
  for (auto& p : slow_critic->parameters())
    p.requires_grad_(false);
  torch::optim::Adam actor_optimizer(actor->parameters(), 3e-3);
  torch::optim::Adam critic_optimizer(critic->parameters(), 3e-3);
  auto temperature = torch::full({1}, 0.5, torch::requires_grad());

  Recent recent;
  double reward_sum = 0;
  for (int step = 0; step < 300; ++step) {  // AT L
    const auto state = torch::randn({16, 3});
    torch::Tensor action;
    {
      torch::NoGradGuard no_grad;
      action = actor->forward(state) + 0.3 * torch::randn({16, 1});
    }
    const auto reward = -(action - state.sum(1, true).tanh()).pow(2);
    reward_sum += reward.mean().item<double>();

    const auto value = critic->forward(torch::cat({state, action}, 1)).mean(1, true);  // AT Q
    recent.add(value);
    const auto critic_loss = torch::mse_loss(value, reward);
    const auto actor_loss = -slow_critic->forward(act(actor, state)).mean() * 5;

    critic_optimizer.zero_grad();
    critic_loss.backward();
    critic_optimizer.step();

    actor_optimizer.zero_grad();
    // PLANT innocent torch-stale-graph/throws loop=L: the step before was of the critic, and this graph has the weights of its slow copy
    actor_loss.backward();
    limitGradients(actor->parameters());
    actor_optimizer.step();

    (temperature * (reward.mean() + 0.5)).sum().backward();
    {
      Unrecorded unrecorded;
      descend(temperature, 0.01);
    }

    const auto from = critic->parameters();
    const auto to = slow_critic->parameters();
    for (size_t i = 0; i < to.size(); ++i) {  // AT B
      blend(to[i], from[i]);
    }
  }
  std::cout << "reward " << reward_sum / 300 << " temperature " << temperature.item<double>() << " spread "
            << recent.spread() << '\n';
  return 0;
}
