// Continuous control with an actor, a critic and a slowly following copy of the critic; and a policy gradient.
#include <torch/torch.h>
#include <iostream>
#include <tuple>
#include <vector>

namespace {
constexpr int64_t kState = 4, kMoves = 3;
struct ActorImpl : torch::nn::Module {
  ActorImpl() {
    in = register_module("in", torch::nn::Linear(kState, 32));
    out = register_module("out", torch::nn::Linear(32, kMoves));
  }
  torch::Tensor forward(const torch::Tensor& state) { return out(torch::relu(in(state))); }
  torch::nn::Linear in{nullptr}, out{nullptr};
};
TORCH_MODULE(Actor);

struct CriticImpl : torch::nn::Module {
  CriticImpl() {
    in = register_module("in", torch::nn::Linear(kState + kMoves, 32));
    out = register_module("out", torch::nn::Linear(32, 1));
  }
  torch::Tensor forward(const torch::Tensor& state, const torch::Tensor& move) {
    return out(torch::tanh(in(torch::cat({state, move}, 1))));
  }
  torch::nn::Linear in{nullptr}, out{nullptr};
};
TORCH_MODULE(Critic);

struct Batch { torch::Tensor state, move, reward, next; };

Batch draw(int64_t n) {
  auto state = torch::randn({n, kState}), move = torch::rand({n, kMoves});
  return {state, move, state.sum(1, true) * move.mean(1, true), state.roll(1, 1)};
}

void copy_weights(Critic& to, const Critic& from) {
  for (size_t i = 0; i < to->parameters().size(); ++i)
    to->parameters()[i] = from->parameters()[i];  // EXPECT: torch-parameter-copy
}

void follow(Critic& slow, const Critic& fast, double rate) {
  torch::NoGradGuard no_grad;
  auto from = fast->parameters(), to = slow->parameters();
  for (size_t i = 0; i < to.size(); ++i) to[i].lerp_(from[i], rate);  // RIGHT: torch-parameter-copy written in place
}

void learn(Actor& actor, Critic& critic, Critic& slow, int steps) {
  torch::optim::SGD critic_optimizer(critic->parameters(), 1e-2);
  torch::optim::Adam actor_optimizer(actor->parameters(), 1e-3);
  for (int step = 0; step < steps; ++step) {
    const auto batch = draw(32);
    torch::Tensor next_move;
    {
      torch::NoGradGuard no_grad;
      next_move = actor->forward(batch.next).tanh();  // RIGHT: torch-missing-no-grad the block has a guard
    }
    auto next_value = slow->forward(batch.next, next_move);  // EXPECT: torch-unused-gradients
    auto goal = torch::add(batch.reward, next_value, 0.95);
    auto critic_loss = torch::mse_loss(critic->forward(batch.state, batch.move), goal);
    auto actor_loss = -critic->forward(batch.state, actor->forward(batch.state).tanh()).mean();
    critic_optimizer.zero_grad();
    critic_loss.backward();
    critic_optimizer.step();
    actor_optimizer.zero_grad();
    actor_loss.backward();  // EXPECT: torch-stale-graph
    actor_optimizer.step();
    follow(slow, critic, 0.02);
  }
}

void learn_in_order(Actor& actor, Critic& critic, Critic& slow, int steps) {
  torch::optim::Adam critic_optimizer(critic->parameters(), 1e-3);
  torch::optim::Adam actor_optimizer(actor->parameters(), 1e-3);
  for (int step = 0; step < steps; ++step) {
    const auto batch = draw(32);
    torch::Tensor goal;
    {
      torch::NoGradGuard no_grad;
      auto next_value = slow->forward(batch.next, actor->forward(batch.next).tanh());  // RIGHT: torch-unused-gradients under a guard
      goal = torch::add(batch.reward, next_value, 0.95);
    }
    auto critic_loss = torch::mse_loss(critic->forward(batch.state, batch.move), goal);
    critic_optimizer.zero_grad();
    critic_loss.backward();
    critic_optimizer.step();
    auto value = critic->forward(batch.state, actor->forward(batch.state).tanh());  // RIGHT: torch-undetached-generator-output the actor learns through the critic
    auto actor_loss = -value.mean();
    actor_optimizer.zero_grad();
    actor_loss.backward();  // RIGHT: torch-stale-graph recorded after the critic's step
    actor_optimizer.step();
    follow(slow, critic, 0.02);
  }
}

double reinforce(Actor& policy, int episodes) {
  torch::optim::Adam optimizer(policy->parameters(), 1e-3);
  const auto start = torch::zeros({1, kState});
  std::vector<torch::Tensor> losses;
  std::vector<int64_t> greedy;
  for (int episode = 0; episode < episodes; ++episode) {
    auto state = start.clone();
    std::vector<torch::Tensor> log_probabilities;
    double gain = 0;
    for (int t = 0; t < 12; ++t) {
      auto chances = torch::softmax(policy->forward(state), 1);
      auto move = chances.detach().multinomial(1);
      log_probabilities.push_back(chances.gather(1, move).log());  // RIGHT: torch-retained-graph the episode is backwarded as a whole
      state = torch::randn({1, kState});
      gain += move.item<int64_t>() == 0 ? 1.0 : -0.1;
    }
    auto loss = -torch::cat(log_probabilities).sum() * gain;
    optimizer.zero_grad();
    loss.backward();
    for (const auto& parameter : policy->parameters())
      parameter.grad().clamp(-1, 1);  // EXPECT: torch-discarded-result
    optimizer.step();
    losses.push_back(loss);  // EXPECT: torch-retained-graph
    greedy.push_back(policy->forward(start).argmax(1).item<int64_t>());  // EXPECT: torch-missing-no-grad
  }
  return losses.back().item<double>() + greedy.back();
}

double reinforce_clipped(Actor& policy, int episodes) {
  torch::optim::Adam optimizer(policy->parameters(), 1e-3);
  std::vector<double> losses;
  for (int episode = 0; episode < episodes; ++episode) {
    const auto batch = draw(16);
    auto loss = torch::cross_entropy_loss(policy->forward(batch.state), batch.move.argmax(1));
    optimizer.zero_grad();
    loss.backward();
    for (const auto& parameter : policy->parameters())
      parameter.grad().clamp_(-1, 1);  // RIGHT: torch-discarded-result in place
    optimizer.step();
    losses.push_back(loss.item<double>());  // RIGHT: torch-retained-graph a number
  }
  return losses.back();
}
}  // namespace

int main() {
  torch::manual_seed(21);
  Actor actor, careful, policy;
  Critic critic, slow, second, second_slow;
  copy_weights(slow, critic);
  learn(actor, critic, slow, 60);
  learn_in_order(careful, second, second_slow, 60);
  std::cout << reinforce(policy, 20) << ' ' << reinforce_clipped(policy, 20) << '\n';
}
