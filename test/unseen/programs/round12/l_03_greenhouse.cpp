// Climate control of a greenhouse by reinforcement learning: a deterministic actor sets
// heating, vents and CO2 dosing of several compartments, a critic learns the value of it.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace greenhouse {

constexpr int64_t kObs = 6;      // temperature, humidity, CO2, light, biomass, hour
constexpr int64_t kActions = 3;  // heating, vents, CO2 dosing

struct Settings {
  int64_t compartments = 8;
  int64_t hours = 24;
  int64_t capacity = 2048;
  int64_t batch = 64;
  int episodes = 4;
  int updates = 12;
  double gamma = 0.97;
  double tau = 0.02;
  torch::Device device{torch::kCPU};
};

class Environment {
 public:
  virtual ~Environment() = default;
  virtual torch::Tensor reset() = 0;
  virtual std::pair<torch::Tensor, torch::Tensor> step(const torch::Tensor& action) = 0;
};

// A coarse model of the climate; all compartments advance together.
class Simulator : public Environment {
 public:
  Simulator(int64_t n, torch::Device device)
      : base_(torch::tensor({16.f, 0.7f, 0.4f, 0.f, 0.1f, 0.f}, device)), state_(torch::zeros({n, kObs}, device)), jitter_(torch::zeros({n}, device)) {}

  torch::Tensor reset() override {
    torch::NoGradGuard no_grad;
    state_.normal_(0, 0.05).add_(base_);
    hour_ = 0;
    return state_.clone();
  }

  std::pair<torch::Tensor, torch::Tensor> step(const torch::Tensor& action) override {
    const double sun = std::max(0.0, std::sin((hour_ % 24 - 6) * 3.14159 / 12));
    auto heat = action.select(1, 0), vent = action.select(1, 1), dose = action.select(1, 2);
    auto temperature = state_.select(1, 0) + 2.0 * heat - 1.5 * vent + 1.2 * sun - 0.5 + 0.1 * jitter_.normal_();
    auto humidity = state_.select(1, 1) - 0.1 * vent + 0.03;
    auto co2 = state_.select(1, 2) + 0.2 * dose - 0.15 * vent;
    auto growth = 0.02 * (0.2 + sun) * torch::exp(-(temperature - 22).square() / 30) * torch::tanh(co2 + 0.5);
    auto biomass = state_.select(1, 4) + growth;
    ++hour_;
    auto rest = torch::full_like(temperature, sun), clock = torch::full_like(temperature, hour_ / 24.0);
    state_ = torch::stack({temperature, humidity.clamp(0, 1), co2.clamp(0, 2), rest, biomass, clock}, 1);
    auto reward = 50 * growth - 0.1 * heat - 0.05 * dose;
    return {state_, reward};
  }

 private:
  torch::Tensor base_, state_, jitter_;
  int64_t hour_ = 0;
};

torch::nn::Sequential mlp(int64_t in, int64_t hidden, int64_t out) {
  return torch::nn::Sequential(torch::nn::Linear(in, hidden), torch::nn::Tanh(), torch::nn::Linear(hidden, hidden), torch::nn::Tanh(), torch::nn::Linear(hidden, out));
}

struct ActorImpl : torch::nn::Module {
  ActorImpl() : body(register_module("body", mlp(kObs, 48, kActions))) {}
  torch::Tensor forward(const torch::Tensor& obs) { return torch::sigmoid(body->forward(obs)); }
  torch::nn::Sequential body;
};
TORCH_MODULE(Actor);

struct CriticImpl : torch::nn::Module {
  CriticImpl() : body(register_module("body", mlp(kObs + kActions, 64, 1))) {}
  torch::Tensor forward(const torch::Tensor& obs, const torch::Tensor& action) { return body->forward(torch::cat({obs, action}, 1)).squeeze(1); }
  torch::nn::Sequential body;
};
TORCH_MODULE(Critic);

class Replay {
 public:
  struct Batch {
    torch::Tensor obs, action, reward, next;
  };

  explicit Replay(const Settings& s)
      : capacity_(s.capacity),
        obs_(torch::empty({s.capacity, kObs}, s.device)),
        action_(torch::empty({s.capacity, kActions}, s.device)),
        reward_(torch::empty({s.capacity}, s.device)),
        next_(torch::empty({s.capacity, kObs}, s.device)) {}

  void add(const torch::Tensor& obs, const torch::Tensor& action, const torch::Tensor& reward, const torch::Tensor& next) {
    const int64_t n = obs.size(0);
    if (at_ + n > capacity_) at_ = 0;
    obs_.narrow(0, at_, n).copy_(obs);  // RIGHT: torch-discarded-result (writes into the memory of obs_)
    action_.narrow(0, at_, n).copy_(action);
    reward_.narrow(0, at_, n).copy_(reward);
    next_.narrow(0, at_, n).copy_(next);
    at_ += n;
    filled_ = std::max(filled_, at_);
  }

  Batch sample(int64_t n) const {
    auto pick = torch::randint(filled_, {n}, obs_.options().dtype(torch::kLong));
    return {obs_.index_select(0, pick), action_.index_select(0, pick), reward_.index_select(0, pick), next_.index_select(0, pick)};
  }

 private:
  int64_t capacity_, at_ = 0, filled_ = 0;
  torch::Tensor obs_, action_, reward_, next_;
};

void hard_update(torch::nn::Module& target, const torch::nn::Module& source) {
  torch::NoGradGuard no_grad;
  const auto from = source.parameters();
  size_t i = 0;
  for (auto p : target.parameters()) p = from[i++].clone();  // EXPECT: torch-parameter-copy
}

void soft_update(torch::nn::Module& target, const torch::nn::Module& source, double tau) {
  torch::NoGradGuard no_grad;
  const auto from = source.parameters();
  size_t i = 0;
  for (auto p : target.parameters()) p.lerp_(from[i++], tau);  // RIGHT: torch-parameter-copy (in place, the handle is enough)
}

// Keeps the weights of a network out of a backward pass.
class Frozen {
 public:
  explicit Frozen(torch::nn::Module& m) : parameters_(m.parameters()) {
    for (auto& p : parameters_) p.requires_grad_(false);
  }
  ~Frozen() {
    for (auto& p : parameters_) p.requires_grad_(true);
  }

 private:
  std::vector<torch::Tensor> parameters_;
};

class Agent {
 public:
  explicit Agent(const Settings& s) : s_(s), critic_opt_(critic->parameters(), torch::optim::AdamOptions(2e-3)) {
    for (torch::nn::Module* m : std::vector<torch::nn::Module*>{actor.get(), critic.get(), target_actor.get(), target_critic.get(), yield_.get()}) {
      m->to(s_.device);  // RIGHT: torch-discarded-result (a module moves in place)
    }
    hard_update(*target_actor, *actor);
    hard_update(*target_critic, *critic);
  }

  // The yield model comes trained, from the agronomists.
  void load_yield(const std::string& path) { torch::load(yield_, path, s_.device); }

  void collect(Environment& env, Replay& replay) {
    torch::NoGradGuard no_grad;
    auto obs = env.reset();
    auto noise = torch::empty({s_.compartments, kActions}, s_.device);
    for (int64_t hour = 0; hour < s_.hours; ++hour) {
      const auto installed = torch::tensor({1.0f, 0.8f, 0.6f}, s_.device);  // EXPECT: torch-allocation-in-loop
      auto action = actor->forward(obs);
      action.add_(noise.normal_(0, 0.1));
      action.clamp(0, 1);  // EXPECT: torch-discarded-result
      auto [next, reward] = env.step(action * installed);
      replay.add(obs, action, reward, next);
      obs = next;
    }
  }

  void learn(const Replay& replay) {
    for (int update = 0; update < s_.updates; ++update) {
      torch::optim::Adam actor_opt(actor->parameters(), torch::optim::AdamOptions(1e-3));  // EXPECT: torch-optimizer-in-loop
      auto batch = replay.sample(s_.batch);
      torch::Tensor wanted;
      {
        torch::NoGradGuard no_grad;
        auto next_action = target_actor->forward(batch.next);  // RIGHT: torch-missing-no-grad (the guard is in this block)
        wanted = batch.reward + s_.gamma * target_critic->forward(batch.next, next_action);
      }
      auto critic_loss = torch::smooth_l1_loss(critic->forward(batch.obs, batch.action), wanted);
      critic_opt_.zero_grad();
      critic_loss.backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
      critic_opt_.step();

      Frozen frozen(*critic);
      auto action = actor->forward(batch.obs);
      auto value = critic->forward(batch.obs, action).mean();  // RIGHT: torch-undetached-generator-output (the actor learns through the critic)
      auto expected_yield = yield_->forward(batch.obs, action).mean();  // EXPECT: torch-unused-gradients
      auto actor_loss = -(value + 0.1 * expected_yield);
      actor_opt.zero_grad();
      actor_loss.backward();  // RIGHT: torch-unused-gradients (the critic is frozen here)
      actor_opt.step();
      soft_update(*target_actor, *actor, s_.tau);
      soft_update(*target_critic, *critic, s_.tau);
    }
  }

  // The first weeks of a season: follow what the grower did, and report what each aim asks for.
  void imitate(const torch::Tensor& obs, const torch::Tensor& grower, int steps) {
    torch::optim::Adam opt(actor->parameters(), torch::optim::AdamOptions(3e-3));
    auto from_grower = torch::zeros({}, s_.device);
    for (int i = 0; i < steps; ++i) {
      auto action = actor->forward(obs);
      auto follow = torch::mse_loss(action, grower);
      auto energy = 0.01 * action.select(1, 0).mean();
      opt.zero_grad();
      follow.backward({}, true);  // RIGHT: torch-retain-graph-in-loop (energy shares the graph)
      from_grower += actor->body->parameters().back().grad().abs().sum();
      energy.backward();
      opt.step();
    }
    std::cout << "pull of the grower " << from_grower.item<double>() / steps << "\n";
  }

  // Return of a full day without exploration.
  double evaluate(Environment& env) {
    auto obs = env.reset();
    auto total = torch::zeros({s_.compartments}, s_.device);
    for (int64_t hour = 0; hour < s_.hours; ++hour) {
      auto action = actor->forward(obs);  // EXPECT: torch-missing-no-grad
      auto [next, reward] = env.step(action);
      total += reward;
      obs = next;
    }
    return total.mean().item<double>();
  }

  Actor actor, target_actor;
  Critic critic, target_critic;

 private:
  Settings s_;
  Critic yield_;
  torch::optim::Adam critic_opt_;
};

// Values of candidate starting states, one thread for each scenario of the forecast.
std::vector<torch::Tensor> score_scenarios(Agent& agent, const std::vector<torch::Tensor>& scenarios) {
  torch::NoGradGuard no_grad;  // EXPECT: torch-thread-local-guard
  std::vector<torch::Tensor> values(scenarios.size(), torch::Tensor());  // RIGHT: torch-fill-alias (each gets its own tensor below)
  std::vector<std::thread> pool;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    pool.emplace_back([&, i] {
      auto action = agent.actor->forward(scenarios[i]);
      values[i] = agent.critic->forward(scenarios[i], action);
    });
  }
  for (auto& t : pool) t.join();
  return values;
}

// The setpoints of the coming night are computed beside the report.
std::thread plan_night(Agent& agent, const torch::Tensor& obs, std::function<void(const torch::Tensor&)> done) {
  return std::thread([&agent, obs, done = std::move(done)] {
    torch::NoGradGuard no_grad;  // RIGHT: torch-thread-local-guard (made in the thread that works)
    done(agent.actor->forward(obs).mean(0).to(torch::kCPU));
  });
}

// Temperature of each compartment over the day, for the charts.
std::map<int64_t, double> chart(Agent& agent, Environment& env, const Settings& s) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> traces(s.compartments, torch::zeros({s.hours}));  // EXPECT: torch-fill-alias
  std::vector<torch::Tensor> readings;
  auto obs = env.reset();
  for (int64_t hour = 0; hour < s.hours; ++hour) {
    auto [next, reward] = env.step(agent.actor->forward(obs));
    readings.push_back(next.select(1, 0).clone());  // RIGHT: torch-allocation-in-loop (each reading is kept)
    obs = next;
  }
  auto day = torch::stack(readings, 1).to(torch::kCPU);
  std::map<int64_t, double> warmest;
  for (int64_t c = 0; c < s.compartments; ++c) traces[c].copy_(day[c]);
  for (int64_t c = 0; c < s.compartments; ++c) warmest[c] = traces[c].max().item<double>();
  return warmest;
}

// Each compartment has its own hygrometer; its offset and gain are fitted from a reference.
std::vector<double> calibrate_sensors(const Settings& s, int steps) {
  std::vector<double> gains;
  auto reference = torch::linspace(0.3, 0.95, 40).unsqueeze(1);
  for (int64_t c = 0; c < s.compartments; ++c) {
    torch::nn::Linear model(1, 1);
    torch::optim::SGD opt(model->parameters(), torch::optim::SGDOptions(0.5));  // RIGHT: torch-optimizer-in-loop (each sensor has its own model)
    auto reading = reference * (0.9 + 0.02 * c) + 0.01;
    for (int i = 0; i < steps; ++i) {
      auto loss = torch::mse_loss(model->forward(reading), reference);
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
    gains.push_back(model->weight.item<double>());  // RIGHT: torch-sync-in-loop (once a sensor, on the host)
  }
  return gains;
}

}  // namespace greenhouse

int main(int argc, char** argv) {
  using namespace greenhouse;
  torch::manual_seed(5);
  Settings settings;
  settings.device = torch::cuda::is_available() ? torch::Device(torch::kCUDA) : torch::Device(torch::kCPU);
  std::string yield_file;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--episodes") settings.episodes = std::stoi(argv[i + 1]);
    if (key == "--yield") yield_file = argv[i + 1];
  }

  for (double gain : calibrate_sensors(settings, 20)) std::cout << gain << ' ';
  std::cout << "sensor gains\n";

  Simulator env(settings.compartments, settings.device);
  Agent agent(settings);
  if (!yield_file.empty()) agent.load_yield(yield_file);
  Replay replay(settings);

  auto logged = env.reset();
  agent.imitate(logged, torch::full({settings.compartments, kActions}, 0.3, settings.device), 20);

  for (int episode = 0; episode < settings.episodes; ++episode) {
    agent.collect(env, replay);
    agent.learn(replay);
    std::cout << "episode " << episode << " return " << agent.evaluate(env) << "\n";
  }

  std::vector<torch::Tensor> scenarios;
  for (int i = 0; i < 3; ++i) scenarios.push_back(env.reset());
  for (auto& value : score_scenarios(agent, scenarios)) std::cout << "scenario " << value.mean().item<double>() << "\n";
  auto night = plan_night(agent, env.reset(), [](const torch::Tensor& t) { std::cout << "night heating " << t[0].item<float>() << "\n"; });
  night.join();
  for (auto& [compartment, warmest] : chart(agent, env, settings)) std::cout << compartment << ": " << warmest << "\n";
  return 0;
}
