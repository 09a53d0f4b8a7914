/*
 * Several double-DQN agents on a cart with a pole, each with a replay memory of its own.
 */
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rl {

using torch::Tensor;

struct Settings {
  int64_t observation = 4;
  int64_t frames = 4;
  int64_t actions = 2;
  int64_t hidden = 64;
  int64_t capacity = 4096;
  int64_t batch = 32;
  int episodes = 4;
  int maxSteps = 60;
  double gamma = 0.99;
  double tau = 0.01;
  double learningRate = 1e-3;
};

class Cart {
 public:
  explicit Cart(unsigned seed) : rng_(seed) { reset(); }

  std::array<float, 4> reset() {
    std::uniform_real_distribution<float> u(-0.05f, 0.05f);
    for (auto& v : s_) v = u(rng_);
    return s_;
  }

  bool advance(int64_t action, float& reward) {
    const float force = action ? 10.0f : -10.0f;
    const float c = std::cos(s_[2]), s = std::sin(s_[2]);
    const float temp = (force + 0.05f * s_[3] * s_[3] * s) / 1.1f;
    const float alpha = (9.8f * s - c * temp) / (0.5f * (4.0f / 3.0f - 0.1f * c * c / 1.1f));
    const float acc = temp - 0.05f * alpha * c / 1.1f;
    s_[0] += 0.02f * s_[1];
    s_[1] += 0.02f * acc;
    s_[2] += 0.02f * s_[3];
    s_[3] += 0.02f * alpha;
    reward = 1.0f - std::abs(s_[2]);
    return std::abs(s_[0]) < 2.4f && std::abs(s_[2]) < 0.6f;
  }

  const std::array<float, 4>& state() const { return s_; }

 private:
  std::mt19937 rng_;
  std::array<float, 4> s_{};
};

class QNetImpl : public torch::nn::Module {
 public:
  QNetImpl(int64_t inputs, int64_t hidden, int64_t actions) {
    fc1_ = register_module("fc1", torch::nn::Linear(inputs, hidden));
    fc2_ = register_module("fc2", torch::nn::Linear(hidden, hidden));
    value_ = register_module("value", torch::nn::Linear(hidden, 1));
    advantage_ = register_module("advantage", torch::nn::Linear(hidden, actions));
    torch::NoGradGuard guard;
    auto w = advantage_->weight;
    w.mul_(0.1);  // RIGHT: torch-parameter-copy
  }

  Tensor forward(const Tensor& frames) {
    auto h = torch::relu(fc2_(torch::relu(fc1_(frames.flatten(1)))));
    auto a = advantage_(h);
    return value_(h) + a - a.mean(1, /*keepdim=*/true);
  }

 private:
  torch::nn::Linear fc1_{nullptr}, fc2_{nullptr}, value_{nullptr}, advantage_{nullptr};
};
TORCH_MODULE(QNet);

struct Transitions {
  Tensor frames, action, reward, next, alive;
};

class Replay {
 public:
  Replay(const Settings& s, torch::Device device)
      : frames_(torch::zeros({s.capacity, s.frames, s.observation}, torch::device(device))),
        next_(torch::zeros_like(frames_)),
        action_(torch::zeros({s.capacity}, torch::device(device).dtype(torch::kLong))),
        reward_(torch::zeros({s.capacity}, torch::device(device))),
        alive_(torch::zeros_like(reward_)) {}

  void add(const Tensor& frames, int64_t action, float reward, const Tensor& next, bool alive) {
    const auto i = cursor_++ % frames_.size(0);
    frames_.select(0, i).copy_(frames);
    next_.select(0, i).copy_(next);
    action_.select(0, i).fill_(action);
    reward_.select(0, i).fill_(reward);
    alive_.select(0, i).fill_(alive ? 1.0f : 0.0f);
  }

  int64_t size() const { return std::min(cursor_, frames_.size(0)); }

  Transitions sample(int64_t n) const {
    const auto pick = torch::randint(size(), {n}, action_.options());
    return {frames_.index_select(0, pick), action_.index_select(0, pick), reward_.index_select(0, pick),
            next_.index_select(0, pick), alive_.index_select(0, pick)};
  }

 private:
  Tensor frames_, next_, action_, reward_, alive_;
  int64_t cursor_ = 0;
};

class Agent {
 public:
  Agent(std::string name, const Settings& s, torch::Device device)
      : name_(std::move(name)),
        s_(s),
        device_(device),
        online_(s.observation * s.frames, s.hidden, s.actions),
        target_(s.observation * s.frames, s.hidden, s.actions),
        replay_(s, device) {
    online_->to(device);
    target_->to(device);
    torch::NoGradGuard guard;
    auto mine = online_->parameters();
    auto theirs = target_->parameters();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      Tensor to = theirs[i];
      to.copy_(mine[i]);  // RIGHT: torch-parameter-copy
    }
  }

  void beginEpisode(int episode) {
    const double rate = s_.learningRate * std::pow(0.98, episode);
    optimizer_ = std::make_unique<torch::optim::Adam>(online_->parameters(), torch::optim::AdamOptions(rate));  // EXPECT: torch-optimizer-in-loop
    epsilon_ = std::max(0.05, 0.5 * std::pow(0.8, episode));
  }

  int64_t act(const Tensor& frames) {
    std::uniform_real_distribution<double> u(0, 1);
    if (u(rng_) < epsilon_) return static_cast<int64_t>(rng_() % static_cast<unsigned>(s_.actions));
    const auto q = online_->forward(frames.unsqueeze(0));  // EXPECT: torch-missing-no-grad
    return q.argmax(1).item<int64_t>();  // RIGHT: torch-sync-in-loop
  }

  Tensor bootstrap(const Transitions& t) {
    Tensor best;
    {
      torch::NoGradGuard guard;
      best = online_->forward(t.next).argmax(1, /*keepdim=*/true);  // RIGHT: torch-unused-gradients
    }
    const auto future = target_->forward(t.next).gather(1, best).squeeze(1);  // EXPECT: torch-unused-gradients
    return t.reward + s_.gamma * t.alive * future;
  }

  Tensor learn() {
    const auto t = replay_.sample(s_.batch);
    const auto q = online_->forward(t.frames).gather(1, t.action.unsqueeze(1)).squeeze(1);
    const auto loss = torch::smooth_l1_loss(q, bootstrap(t));
    optimizer_->zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(online_->parameters(), 10.0);
    optimizer_->step();
    followOnline();
    return loss.detach();
  }

  // Looks at the value estimates; a diverged agent is only reported.
  void probe(const Tensor& frames) {
    torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    const auto top = online_->forward(frames).max().item<double>();
    if (!std::isfinite(top) || top > 1e4) {
      std::cout << name_ << ": value estimates diverged\n";
      return;
    }
    peak_ = std::max(peak_, top);
    torch::GradMode::set_enabled(true);
  }

  double disagreement(const Tensor& frames) {
    const bool before = torch::GradMode::is_enabled();
    torch::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored
    const auto d = (online_->forward(frames) - target_->forward(frames)).abs().mean().item<double>();
    torch::GradMode::set_enabled(before);
    return d;
  }

  Tensor greedy(const Tensor& frames) { return online_->forward(frames).argmax(1); }  // RIGHT: torch-missing-no-grad

  Replay& replay() { return replay_; }
  QNet& network() { return online_; }
  const std::string& name() const { return name_; }
  double peak() const { return peak_; }

 private:
  void followOnline() {
    torch::NoGradGuard guard;
    const auto source = online_->named_parameters();
    for (const auto& item : target_->named_parameters()) {
      auto weight = item.value();
      weight = weight.lerp(source[item.key()], s_.tau);  // EXPECT: torch-parameter-copy
    }
  }

  std::string name_;
  Settings s_;
  torch::Device device_;
  QNet online_, target_;
  Replay replay_;
  std::unique_ptr<torch::optim::Adam> optimizer_;
  std::mt19937 rng_{17};
  double epsilon_ = 0.5;
  double peak_ = 0;
};

Tensor observe(const std::array<float, 4>& s, torch::Device device) {
  return torch::tensor({{s[0], s[1], s[2], s[3]}}, torch::device(device));
}

// What the dashboard draws: one curve of |angle| per agent, and all the states.
class Recorder {
 public:
  Recorder(const std::vector<std::string>& names, int64_t steps) {
    const auto blank = torch::zeros({steps});
    for (const auto& n : names) {
      angle_[n] = blank;  // EXPECT: torch-fill-alias
      visits_.emplace(n, blank.clone());  // RIGHT: torch-fill-alias
    }
    states_ = torch::empty({0, 4});
  }

  void note(const std::string& agent, int step, const std::array<float, 4>& s) {
    angle_.at(agent).narrow(0, step, 1).add_(std::abs(s[2]));
    visits_.at(agent).narrow(0, step, 1).add_(1);
    states_ = torch::cat({states_, observe(s, torch::kCPU)});  // EXPECT: torch-cat-in-loop
  }

  Tensor curve(const std::string& agent) const { return angle_.at(agent) / visits_.at(agent).clamp_min(1); }
  Tensor spread() const { return states_.std(0); }

 private:
  std::map<std::string, Tensor> angle_, visits_;
  Tensor states_;
};

std::vector<float> returnsOf(const Tensor& rewards, double gamma) {
  std::vector<float> out(static_cast<std::size_t>(rewards.size(0)));
  float acc = 0;
  for (int64_t i = rewards.size(0); i-- > 0;) {
    acc = rewards[i].item<float>() + static_cast<float>(gamma) * acc;  // EXPECT: torch-element-access-in-loop
    out[static_cast<std::size_t>(i)] = acc;
  }
  return out;
}

float longestRise(const Tensor& curve) {
  const auto c = curve.accessor<float, 1>();
  float best = 0, run = 0;
  for (int64_t i = 1; i < c.size(0); ++i) {
    run = c[i] > c[i - 1] ? run + c[i] - c[i - 1] : 0.0f;  // RIGHT: torch-element-access-in-loop
    best = std::max(best, run);
  }
  return best;
}

double playEpisode(Agent& agent, Recorder& recorder, const Settings& s, torch::Device device, int episode) {
  Cart cart(static_cast<unsigned>(episode + 1));
  agent.beginEpisode(episode);
  auto frames = observe(cart.reset(), device).expand({s.frames, s.observation});
  auto lossSum = torch::zeros({}, torch::device(device));
  std::vector<float> rewards;
  for (int step = 0; step < s.maxSteps; ++step) {
    const auto action = agent.act(frames);
    float reward = 0;
    const bool alive = cart.advance(action, reward);
    rewards.push_back(reward);
    recorder.note(agent.name(), step, cart.state());
    const auto next = torch::cat({frames.slice(0, 1), observe(cart.state(), device)});
    agent.replay().add(frames, action, reward, next, alive);
    frames = next;  // RIGHT: torch-cat-in-loop
    if (agent.replay().size() >= s.batch) lossSum += agent.learn();
    if (!alive) break;
  }
  agent.probe(frames.unsqueeze(0));
  const auto returns = returnsOf(torch::tensor(rewards), s.gamma);
  std::cout << agent.name() << " episode " << episode << ": " << rewards.size() << " steps, return " << returns.front()
            << ", loss " << lossSum.item<double>() / static_cast<double>(rewards.size()) << '\n';
  return returns.front();
}

// Scores all agents at the same states, one thread each.
std::vector<double> tournament(std::vector<std::unique_ptr<Agent>>& agents, const Tensor& states) {
  torch::NoGradGuard guard;
  std::vector<std::future<double>> jobs;
  for (auto& a : agents) {
    jobs.push_back(std::async(std::launch::async, [&states, agent = a.get()] {
      const auto q = agent->network()->forward(states);  // EXPECT: torch-thread-local-guard
      return std::get<0>(q.max(1)).mean().item<double>();
    }));
  }
  std::vector<double> out;
  for (auto& j : jobs) out.push_back(j.get());
  return out;
}

double agreement(Agent& a, Agent& b, const Tensor& states) {
  Tensor first, second;
  std::thread other([&] {
    torch::NoGradGuard mine;
    second = b.greedy(states);  // RIGHT: torch-thread-local-guard
  });
  {
    torch::NoGradGuard mine;
    first = a.greedy(states);
  }
  other.join();
  return (first == second).to(torch::kFloat).mean().item<double>();
}

}  // namespace rl

int main() {
  using namespace rl;
  torch::manual_seed(5);
  const Settings s;
  const torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);

  const std::vector<std::string> names{"ada", "bob", "cyd"};
  std::vector<std::unique_ptr<Agent>> agents;
  for (const auto& n : names) agents.push_back(std::make_unique<Agent>(n, s, device));

  Recorder recorder(names, s.maxSteps);
  for (int episode = 0; episode < s.episodes; ++episode) {
    for (auto& a : agents) playEpisode(*a, recorder, s, device, episode);
  }

  const auto states = torch::randn({256, s.frames, s.observation}, torch::device(device)) * 0.1;
  const auto scores = tournament(agents, states);
  for (std::size_t i = 0; i < agents.size(); ++i) {
    auto& a = *agents[i];
    std::cout << a.name() << " score " << scores[i] << " peak " << a.peak() << " lag " << a.disagreement(states) << " rise "
              << longestRise(recorder.curve(a.name())) << '\n';
  }
  std::cout << "agreement " << agreement(*agents[0], *agents[1], states) << "\nspread " << recorder.spread() << '\n';
  return 0;
}
