// Soft actor-critic for a planar two-joint reacher, with a simulator in plain
// C++ and evaluation rollouts on several threads.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace reach {

constexpr int64_t kObs = 8;
constexpr int64_t kAct = 2;
using Observation = std::array<float, kObs>;
using Action = std::array<float, kAct>;

struct SacConfig {
  int64_t hidden = 32;
  int64_t capacity = 4000;
  int64_t batch = 64;
  int64_t warmup = 128;
  int64_t total_steps = 200;
  int64_t horizon = 40;
  int actor_passes = 1;
  bool calibrate = false;
  double gamma = 0.98;
  double tau = 0.01;
  double actor_lr = 3e-4;
  double critic_lr = 1e-3;
  double alpha_lr = 3e-4;
  double target_entropy = -2.0;
};

class Reacher {
 public:
  explicit Reacher(unsigned seed) : rng_(seed) {}

  Observation reset() {
    std::uniform_real_distribution<float> angle(-3.0f, 3.0f), radius(0.3f, 0.9f);
    q_ = {angle(rng_), angle(rng_)};
    dq_ = {0.0f, 0.0f};
    const float phi = angle(rng_), r = radius(rng_);
    goal_ = {r * std::cos(phi), r * std::sin(phi)};
    return observe();
  }

  std::pair<Observation, float> step(const Action& torque) {
    float effort = 0.0f;
    for (size_t j = 0; j < torque.size(); ++j) {
      dq_[j] = 0.95f * dq_[j] + 0.2f * torque[j];
      q_[j] += 0.1f * dq_[j];
      effort += torque[j] * torque[j];
    }
    return {observe(), -distance() - 0.01f * effort};
  }

  float distance() const {
    const float x = 0.5f * std::cos(q_[0]) + 0.5f * std::cos(q_[0] + q_[1]);
    const float y = 0.5f * std::sin(q_[0]) + 0.5f * std::sin(q_[0] + q_[1]);
    return std::hypot(x - goal_[0], y - goal_[1]);
  }

 private:
  Observation observe() const {
    return {std::cos(q_[0]), std::sin(q_[0]), std::cos(q_[1]), std::sin(q_[1]), dq_[0], dq_[1], goal_[0], goal_[1]};
  }

  std::mt19937 rng_;
  std::array<float, 2> q_{}, dq_{}, goal_{};
};

struct Batch {
  torch::Tensor obs, action, reward, next_obs;
};

class ReplayBuffer {
 public:
  explicit ReplayBuffer(int64_t capacity)
      : capacity_(capacity),
        obs_(torch::empty({capacity, kObs})),
        action_(torch::empty({capacity, kAct})),
        reward_(torch::empty({capacity, 1})),
        next_obs_(torch::empty({capacity, kObs})) {}

  void push(const Observation& obs, const Action& action, float reward, const Observation& next) {
    const auto row = head_;
    auto* into = obs_.data_ptr<float>() + row * kObs;  // RIGHT: torch-dangling-data
    std::copy(obs.begin(), obs.end(), into);
    std::copy(next.begin(), next.end(), next_obs_.data_ptr<float>() + row * kObs);
    for (int64_t j = 0; j < kAct; ++j) {
      action_[row][j] = action[static_cast<size_t>(j)];  // EXPECT: torch-element-access-in-loop
    }
    reward_.data_ptr<float>()[row] = reward;
    head_ = (head_ + 1) % capacity_;
    size_ = std::min(size_ + 1, capacity_);
  }

  Batch sample(int64_t n, torch::Device device) const {
    auto rows = torch::randint(size_, {n}, torch::kInt64);
    auto pick = [&](const torch::Tensor& column) { return column.index_select(0, rows).to(device); };
    return {pick(obs_), pick(action_), pick(reward_), pick(next_obs_)};
  }

  torch::Tensor observations() const { return obs_.narrow(0, 0, size_); }
  int64_t size() const { return size_; }

 private:
  int64_t capacity_, head_ = 0, size_ = 0;
  torch::Tensor obs_, action_, reward_, next_obs_;
};

torch::nn::Sequential make_trunk(int64_t in, int64_t hidden) {
  return torch::nn::Sequential(torch::nn::Linear(in, hidden), torch::nn::ReLU(),
                               torch::nn::Linear(hidden, hidden), torch::nn::ReLU());
}

class ActorImpl : public torch::nn::Module {
 public:
  explicit ActorImpl(int64_t hidden)
      : trunk_(register_module("trunk", make_trunk(kObs, hidden))),
        mean_(register_module("mean", torch::nn::Linear(hidden, kAct))),
        log_std_(register_module("log_std", torch::nn::Linear(hidden, kAct))) {}

  // Reparameterized sample in (-1, 1) and its log-probability.
  std::pair<torch::Tensor, torch::Tensor> sample(const torch::Tensor& obs) {
    auto h = trunk_->forward(obs);
    auto mean = mean_->forward(h);
    auto log_std = log_std_->forward(h).clamp(-5.0, 2.0);
    auto noise = torch::randn_like(mean);
    auto raw = torch::addcmul(mean, log_std.exp(), noise);
    auto gaussian = (noise.square() * -0.5 - log_std - 0.5 * std::log(2.0 * M_PI)).sum(-1, true);
    auto squash = (2.0 * (std::log(2.0) - raw - torch::softplus(raw * -2.0))).sum(-1, true);
    return {raw.tanh(), gaussian - squash};
  }

  torch::Tensor mode(const torch::Tensor& obs) { return mean_->forward(trunk_->forward(obs)).tanh(); }

 private:
  torch::nn::Sequential trunk_;
  torch::nn::Linear mean_, log_std_;
};
TORCH_MODULE(Actor);

class CriticImpl : public torch::nn::Module {
 public:
  explicit CriticImpl(int64_t hidden)
      : trunk_(register_module("trunk", make_trunk(kObs + kAct, hidden))),
        value_(register_module("value", torch::nn::Linear(hidden, 1))) {}

  torch::Tensor forward(const torch::Tensor& obs, const torch::Tensor& action) {
    return value_->forward(trunk_->forward(torch::cat({obs, action}, -1)));
  }

 private:
  torch::nn::Sequential trunk_;
  torch::nn::Linear value_;
};
TORCH_MODULE(Critic);

using Ensemble = std::vector<Critic>;

std::vector<torch::Tensor> gather(const Ensemble& ensemble) {
  std::vector<torch::Tensor> all;
  for (const auto& critic : ensemble) {
    auto own = critic->parameters();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

torch::Tensor pessimistic(Ensemble& ensemble, const torch::Tensor& obs, const torch::Tensor& action) {
  auto lowest = ensemble.front()->forward(obs, action);
  for (size_t i = 1; i < ensemble.size(); ++i) lowest = torch::min(lowest, ensemble[i]->forward(obs, action));
  return lowest;
}

void synchronize_target(const Ensemble& online, const Ensemble& target) {
  auto from = gather(online);
  auto to = gather(target);
  for (size_t i = 0; i < from.size(); ++i) {
    to[i].set_data(from[i].detach());  // EXPECT: torch-parameter-copy
  }
}

void set_trainable(const Ensemble& ensemble, bool trainable) {
  for (auto& p : gather(ensemble)) p.requires_grad_(trainable);
}

class SoftActorCritic {
 public:
  SoftActorCritic(const SacConfig& cfg, torch::Device device)
      : cfg_(cfg),
        device_(device),
        actor_(cfg.hidden),
        critics_(2, Critic(cfg.hidden)),  // EXPECT: torch-fill-alias
        log_alpha_(torch::zeros({1}, torch::requires_grad()).to(device)) {  // EXPECT: torch-non-leaf-parameter, torch-allocate-on-device
    actor_->to(device_);
    for (size_t i = 0; i < critics_.size(); ++i) {
      targets_.push_back(Critic(cfg_.hidden));  // RIGHT: torch-fill-alias
      critics_[i]->to(device_);
      targets_[i]->to(device_);
    }
    synchronize_target(critics_, targets_);
    set_trainable(targets_, false);
    actor_opt_ = std::make_unique<torch::optim::Adam>(actor_->parameters(), torch::optim::AdamOptions(cfg_.actor_lr));
    critic_opt_ = std::make_unique<torch::optim::Adam>(gather(critics_), torch::optim::AdamOptions(cfg_.critic_lr));
    alpha_opt_ = std::make_unique<torch::optim::Adam>(std::vector<torch::Tensor>{log_alpha_},
                                                      torch::optim::AdamOptions(cfg_.alpha_lr));
  }

  Action act(const Observation& obs) {
    torch::NoGradGuard no_grad;
    auto input = torch::from_blob(const_cast<float*>(obs.data()), {1, kObs}, torch::kFloat32).to(device_);  // RIGHT: torch-blob-lifetime
    auto choice = actor_->sample(input).first.cpu();  // RIGHT: torch-sync-in-loop
    Action action{};
    std::copy_n(choice.data_ptr<float>(), kAct, action.begin());
    return action;
  }

  void update(const Batch& batch) {
    critic_loss_ = update_critics(batch);
    update_actor(batch);
    blend_targets();
  }

  double critic_loss() const { return critic_loss_ ? critic_loss_->item<double>() : 0.0; }
  double alpha() const { return std::exp(log_alpha_.item<double>()); }
  Actor& actor() { return actor_; }
  torch::Device device() const { return device_; }

 private:
  torch::Tensor update_critics(const Batch& batch) {
    torch::Tensor goal;
    {
      torch::NoGradGuard no_grad;
      auto [next_action, next_logp] = actor_->sample(batch.next_obs);
      auto next_value = pessimistic(targets_, batch.next_obs, next_action) - log_alpha_.exp() * next_logp;
      goal = torch::add(batch.reward, next_value, cfg_.gamma);
    }
    critic_opt_->zero_grad();
    std::vector<torch::Tensor> losses;
    for (auto& critic : critics_) {
      losses.push_back(torch::mse_loss(critic->forward(batch.obs, batch.action), goal));  // RIGHT: torch-retained-graph
    }
    auto loss = torch::stack(losses).sum();
    loss.backward();
    critic_opt_->step();
    return loss.detach();
  }

  void update_actor(const Batch& batch) {
    set_trainable(critics_, false);  // RIGHT: torch-unused-gradients
    auto [action, logp] = actor_->sample(batch.obs);
    for (int pass = 0; pass < cfg_.actor_passes; ++pass) {
      auto value = pessimistic(critics_, batch.obs, action);
      auto loss = (log_alpha_.exp().detach() * logp - value).mean();
      actor_opt_->zero_grad();
      loss.backward();  // EXPECT: torch-stale-graph
      actor_opt_->step();
    }
    set_trainable(critics_, true);
    tune_temperature(logp.detach());
  }

  void tune_temperature(const torch::Tensor& logp) {
    auto loss = -(log_alpha_ * (logp + cfg_.target_entropy)).mean();
    loss.backward();  // EXPECT: torch-missing-zero-grad
    alpha_opt_->step();
  }

  void blend_targets() {
    torch::NoGradGuard no_grad;
    auto from = gather(critics_);
    auto to = gather(targets_);
    for (size_t i = 0; i < from.size(); ++i) to[i].lerp_(from[i], cfg_.tau);  // RIGHT: torch-leaf-inplace
  }

  SacConfig cfg_;
  torch::Device device_;
  Actor actor_;
  Ensemble critics_;
  Ensemble targets_;
  torch::Tensor log_alpha_;
  std::unique_ptr<torch::optim::Adam> actor_opt_, critic_opt_, alpha_opt_;
  std::optional<torch::Tensor> critic_loss_;
};

float rollout(Actor actor, unsigned seed, int64_t horizon, torch::Device device) {
  torch::NoGradGuard no_grad;  // RIGHT: torch-thread-local-guard
  Reacher env(seed);
  auto obs = env.reset();
  float total = 0.0f;
  for (int64_t t = 0; t < horizon; ++t) {
    auto input = torch::from_blob(obs.data(), {1, kObs}, torch::kFloat32).to(device);
    auto choice = actor->mode(input).cpu();  // RIGHT: torch-device-round-trip
    Action action{};
    std::copy_n(choice.data_ptr<float>(), kAct, action.begin());
    auto [next, reward] = env.step(action);
    total += reward;
    obs = next;
  }
  return total;
}

float evaluate(SoftActorCritic& agent, const SacConfig& cfg, int episodes) {
  std::vector<std::future<float>> runs;
  for (int e = 0; e < episodes; ++e) {
    runs.push_back(std::async(std::launch::async, rollout, agent.actor(), 900u + static_cast<unsigned>(e), cfg.horizon,
                              agent.device()));
  }
  float sum = 0.0f;
  for (auto& run : runs) sum += run.get();
  return sum / static_cast<float>(episodes);
}

// Sensitivity of the policy to sensor noise; needs a filled replay buffer.
double noise_sensitivity(SoftActorCritic& agent, const ReplayBuffer& replay, double sigma) {
  torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
  if (replay.size() < 32) {
    std::cerr << "not enough observations to calibrate\n";
    return -1.0;
  }
  auto clean = replay.observations().to(agent.device());
  auto noisy = torch::add(clean, torch::randn_like(clean), sigma);
  auto shift = (agent.actor()->mode(noisy) - agent.actor()->mode(clean)).norm(2, 1).mean();
  torch::GradMode::set_enabled(true);
  return shift.item<double>();
}

// How strongly the chosen torque reacts to each observation.
torch::Tensor saliency(SoftActorCritic& agent, const ReplayBuffer& replay) {
  torch::AutoGradMode enable(true);  // RIGHT: torch-grad-mode-not-restored
  auto probe = replay.observations().to(agent.device()).requires_grad_(true);  // RIGHT: torch-non-leaf-parameter
  auto torque = agent.actor()->mode(probe).square().sum();
  return torch::autograd::grad({torque}, {probe}).front().abs().mean(0);
}

SacConfig parse(int argc, char** argv) {
  SacConfig cfg;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--calibrate") cfg.calibrate = true;
    if (arg == "--actor-passes" && i + 1 < argc) cfg.actor_passes = std::stoi(argv[++i]);
    if (arg == "--steps" && i + 1 < argc) cfg.total_steps = std::stoll(argv[++i]);
  }
  return cfg;
}

}  // namespace reach

int main(int argc, char** argv) {
  using namespace reach;
  torch::manual_seed(3);
  const SacConfig cfg = parse(argc, argv);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  SoftActorCritic agent(cfg, device);
  ReplayBuffer replay(cfg.capacity);
  Reacher env(17);
  if (cfg.calibrate) std::cout << "sensitivity before " << noise_sensitivity(agent, replay, 0.05) << '\n';

  auto obs = env.reset();
  int64_t in_episode = 0;
  for (int64_t step = 1; step <= cfg.total_steps; ++step) {
    const auto action = agent.act(obs);
    auto [next, reward] = env.step(action);
    replay.push(obs, action, reward, next);
    obs = next;
    if (++in_episode == cfg.horizon) {
      obs = env.reset();
      in_episode = 0;
    }
    if (step >= cfg.warmup) agent.update(replay.sample(cfg.batch, device));
    if (step % 100 == 0) {
      std::cout << "step " << step << " return " << evaluate(agent, cfg, 2) << " critic " << agent.critic_loss()
                << " alpha " << agent.alpha() << '\n';  // RIGHT: torch-sync-in-loop
    }
  }
  if (cfg.calibrate) std::cout << "sensitivity after " << noise_sensitivity(agent, replay, 0.05) << '\n';
  std::cout << "saliency " << saliency(agent, replay).cpu() << '\n';
  return 0;
}
