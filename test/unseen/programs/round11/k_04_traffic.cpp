// Traffic lights by reinforcement learning: an actor critic agent for many
// junctions at once, whose simulators run in threads.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace traffic {
constexpr int64_t kApproaches = 4, kPhases = 4;
constexpr int64_t kFeatures = kApproaches + kPhases + 1;

struct Options {
  int updates = 20, steps = 24;
  int junctions = 16, threads = 2;
  float discount = 0.95f;
  bool alternate = false, mask_phases = false, baseline = false;
  bool warm_normalizer = false, carry_forecast = false;
  torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
};

class Junction {
 public:
  Junction(unsigned seed) : rng_(seed), queues_(kApproaches, 3.0f) {}

  void observe(std::vector<float>& out) const {
    for (float q : queues_) out.push_back(q / 10.0f);
    for (int64_t p = 0; p < kPhases; ++p) out.push_back(p == phase_ ? 1.0f : 0.0f);
    out.push_back(held_ / 10.0f);
  }

  float step(int64_t phase) {
    held_ = phase == phase_ ? held_ + 1 : 0;
    phase_ = phase;
    float waiting = 0.0f;
    for (int64_t a = 0; a < kApproaches; ++a) {
      arrivals_ = static_cast<float>(std::poisson_distribution<int>(0.4 + 0.2 * a)(rng_));
      queues_[a] = std::min(queues_[a] + arrivals_, 40.0f);
      if (a == phase && held_ > 0) queues_[a] = std::max(queues_[a] - 4.0f, 0.0f);
      waiting += queues_[a];
    }
    return -waiting / 40.0f;
  }

  int64_t longest() const { return std::max_element(queues_.begin(), queues_.end()) - queues_.begin(); }
  float arrivals() const { return arrivals_; }
  static std::vector<float> look(const std::vector<Junction*>& shard) {
    std::vector<float> seen;
    for (const auto* junction : shard) junction->observe(seen);
    return seen;
  }

 private:
  std::mt19937 rng_;
  std::vector<float> queues_;
  int64_t phase_ = 0;
  float held_ = 0.0f, arrivals_ = 0.0f;
};

class Normalizer {
 public:
  explicit Normalizer(const torch::Device& device)
      : mean_(torch::zeros({kFeatures}, device)), variance_(torch::ones({kFeatures}, device)) {}

  void warm(const torch::Tensor& samples) {
    torch::Tensor spread;
    {
      c10::InferenceMode inference;
      mean_ = samples.mean(0);
      spread = samples.var(0);
    }
    variance_ = spread.clone();
  }

  void update(const torch::Tensor& batch) {
    mean_.lerp_(batch.mean(0), 0.05);  // EXPECT: torch-inference-tensor
    variance_.lerp_(batch.var(0), 0.05);  // RIGHT: torch-inference-tensor
  }

  torch::Tensor apply(const torch::Tensor& x) const {
    TORCH_CHECK(x.device() == mean_.device(), "observations and statistics on two devices");  // RIGHT: torch-device-comparison
    return (x - mean_).mul_(torch::rsqrt(variance_ + 1e-4));
  }

 private:
  torch::Tensor mean_, variance_;
};

struct EncoderImpl : torch::nn::Module {
  EncoderImpl()
      : first(register_module("first", torch::nn::Linear(kFeatures, 32))),
        second(register_module("second", torch::nn::Linear(32, 32))),
        norm(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({32})))),
        drop(register_module("drop", torch::nn::Dropout(0.1))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    auto h = first->forward(x).relu_();  // RIGHT: torch-inplace-saved
    return drop->forward(torch::tanh(norm->forward(second->forward(h))));
  }

  torch::nn::Linear first, second;
  torch::nn::LayerNorm norm;
  torch::nn::Dropout drop;
};
TORCH_MODULE(Encoder);

struct HeadImpl : torch::nn::Module {
  explicit HeadImpl(int64_t outputs)
      : hidden(register_module("hidden", torch::nn::Linear(32, 32))),
        drop(register_module("drop", torch::nn::Dropout(0.1))),
        out(register_module("out", torch::nn::Linear(32, outputs))) {}

  torch::Tensor forward(const torch::Tensor& x) { return out->forward(drop->forward(torch::relu(hidden->forward(x)))); }

  torch::nn::Linear hidden;
  torch::nn::Dropout drop;
  torch::nn::Linear out;
};
TORCH_MODULE(Head);

struct Agent {
  Encoder encoder;
  Head actor{kPhases}, critic{1};
  Normalizer normalizer;

  explicit Agent(const torch::Device& device) : normalizer(device) {
    encoder->to(device);
    actor->to(device);
    critic->to(device);
  }
  torch::Tensor logits(const torch::Tensor& x) { return actor->forward(encoder->forward(normalizer.apply(x))); }

  std::vector<torch::Tensor> parameters(std::vector<torch::Tensor> list) {
    for (auto& p : encoder->parameters()) list.push_back(p);
    for (auto& p : critic->parameters()) list.push_back(p);
    return list;
  }
};

class Forecaster {
 public:
  Forecaster(const torch::Device& device, bool carry)
      : carry_(carry), gru_(torch::nn::GRUOptions(1, 12)), out_(12, 1), optimizer_(gru_->parameters()) {
    gru_->to(device);
    out_->to(device);
    optimizer_.add_param_group(torch::optim::OptimizerParamGroup(out_->parameters()));
  }

  torch::Tensor learn(const torch::Tensor& window) {
    optimizer_.zero_grad();
    auto [states, last] = gru_->forward(window.slice(0, 0, -1), hidden_);
    auto loss = torch::mse_loss(out_->forward(states), window.slice(0, 1));
    loss.backward();
    optimizer_.step();
    if (carry_) hidden_ = last;  // EXPECT: torch-undetached-hidden-state
    trace_ = last.detach();  // RIGHT: torch-undetached-hidden-state
    return loss.detach();
  }
  const torch::Tensor& trace() const { return trace_; }

 private:
  bool carry_;
  torch::nn::GRU gru_;
  torch::nn::Linear out_;
  torch::optim::Adam optimizer_;
  torch::Tensor hidden_, trace_;
};

struct Rollout {
  std::vector<float> observations, rewards, arrivals;
  std::vector<int64_t> actions;
};

void roll_out(Agent& agent, const std::vector<Junction*>& shard, const Options& options, Rollout& out) {
  for (int t = 0; t < options.steps; ++t) {
    const auto seen = Junction::look(shard);
    auto x = torch::tensor(seen, options.device).view({-1, kFeatures});
    auto probabilities = torch::softmax(agent.logits(x), 1);  // EXPECT: torch-thread-local-guard
    auto chosen = torch::multinomial(probabilities, 1).to(torch::kCPU);  // RIGHT: torch-sync-in-loop
    const int64_t* phase = chosen.data_ptr<int64_t>();
    out.observations.insert(out.observations.end(), seen.begin(), seen.end());
    for (size_t j = 0; j < shard.size(); ++j) {
      out.actions.push_back(phase[j]);
      out.rewards.push_back(shard[j]->step(phase[j]));
      out.arrivals.push_back(shard[j]->arrivals());
    }
  }
}

std::vector<Rollout> collect(Agent& agent, const std::vector<std::vector<Junction*>>& shards, const Options& options) {
  torch::NoGradGuard no_grad;
  std::vector<Rollout> rollouts(shards.size());
  std::vector<std::thread> threads;
  for (size_t s = 0; s < shards.size(); ++s) {
    threads.emplace_back(roll_out, std::ref(agent), std::cref(shards[s]), std::cref(options), std::ref(rollouts[s]));
  }
  for (auto& thread : threads) thread.join();
  return rollouts;
}

std::vector<float> discounted(const Rollout& rollout, size_t junctions, float discount) {
  std::vector<float> returns(rollout.rewards);
  for (size_t i = returns.size(); i-- > 0;) {
    if (i + junctions < returns.size()) returns[i] += discount * returns[i + junctions];
  }
  return returns;
}

class Learner {
 public:
  Learner(Agent& agent, const Options& options)
      : agent_(agent), options_(options),
        joint_(agent.parameters(agent.actor->parameters()), torch::optim::AdamOptions(2e-3)),
        actor_(agent.actor->parameters(), torch::optim::AdamOptions(1e-3)),
        critic_(agent.parameters({}), torch::optim::AdamOptions(2e-3)),
        blocked_(torch::tensor({false, false, false, true}, torch::TensorOptions().device(options.device))) {}

  void update(const Rollout& rollout, size_t junctions) {
    const auto floats = torch::TensorOptions().device(options_.device);
    auto x = torch::tensor(rollout.observations, floats).view({-1, kFeatures});
    auto actions = torch::tensor(rollout.actions, floats.dtype(torch::kLong)).unsqueeze(1);
    auto returns = torch::tensor(discounted(rollout, junctions, options_.discount), floats);
    agent_.normalizer.update(x);
    auto features = agent_.encoder->forward(agent_.normalizer.apply(x));
    auto values = agent_.critic->forward(features).squeeze(1);
    auto raw = (returns - values).detach().to(torch::kCPU);  // EXPECT: torch-device-round-trip
    auto advantage = ((raw - raw.mean()) / (raw.std() + 1e-6)).to(options_.device);
    auto log_probs = torch::log_softmax(agent_.actor->forward(features), 1);
    auto probs = log_probs.exp();
    if (options_.mask_phases) probs.masked_fill_(blocked_, 0.0);  // EXPECT: torch-inplace-saved
    auto entropy = torch::sum(probs * log_probs, 1).mean();
    auto actor_loss = 0.01 * entropy - torch::mean(log_probs.gather(1, actions).squeeze(1) * advantage);
    auto critic_loss = torch::mse_loss(values, returns);
    joint_.zero_grad();
    if (options_.alternate) {
      critic_loss.backward({}, /*retain_graph=*/true);  // RIGHT: torch-retain-graph-in-loop
      critic_.step();
      actor_loss.backward();  // EXPECT: torch-stale-graph
      actor_.step();
    } else {
      (actor_loss + 0.5 * critic_loss).backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
      joint_.step();
    }
    history_.push_back(critic_loss.detach());  // RIGHT: torch-retained-graph
  }
  // Steps towards the rule "green for the longest queue".
  void imitate(const torch::Tensor& x, const torch::Tensor& rule) {
    for (int step = 0; step < 30; ++step) {
      joint_.zero_grad();
      auto loss = torch::nn::functional::cross_entropy(agent_.logits(x), rule);
      loss.backward();  // RIGHT: torch-stale-graph
      joint_.step();
    }
  }

  double mean_loss() const { return torch::stack(history_).mean().item<double>(); }

 private:
  Agent& agent_;
  const Options& options_;
  torch::optim::Adam joint_, actor_, critic_;
  torch::Tensor blocked_;
  std::vector<torch::Tensor> history_;
};

double drive(Agent& agent, const Options& options, unsigned seed, int steps) {
  std::vector<Junction> junctions{seed, seed + 1, seed + 2, seed + 3};
  std::vector<Junction*> shard{&junctions[0], &junctions[1], &junctions[2], &junctions[3]};
  double total = 0.0;
  for (int t = 0; t < steps; ++t) {
    auto x = torch::tensor(Junction::look(shard), torch::TensorOptions().device(options.device)).view({4, kFeatures});
    auto best = agent.logits(x).argmax(1).to(torch::kCPU);  // RIGHT: torch-missing-no-grad
    const int64_t* phase = best.data_ptr<int64_t>();
    for (size_t j = 0; j < shard.size(); ++j) total += shard[j]->step(phase[j]);
  }
  return total / steps;
}

double measure_baseline(Agent& agent, const Options& options) {
  torch::autograd::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
  return drive(agent, options, 500, 40);
}

double evaluate(Agent& agent, const Options& options) {
  const bool recording = torch::autograd::GradMode::is_enabled();
  torch::autograd::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored
  agent.actor->eval();  // EXPECT: torch-partial-eval-mode
  const double reward = drive(agent, options, 900, 40);
  agent.actor->train();
  torch::autograd::GradMode::set_enabled(recording);
  return reward;
}

double mean_value(Agent& agent, const torch::Tensor& x) {
  torch::NoGradGuard no_grad;
  agent.encoder->eval();
  agent.critic->eval();  // RIGHT: torch-partial-eval-mode
  const double value = agent.critic->forward(agent.encoder->forward(agent.normalizer.apply(x))).mean().item<double>();
  agent.encoder->train();
  agent.critic->train();
  return value;
}

std::vector<double> stress(Agent& agent, const Options& options) {
  std::vector<double> rewards(4, 0.0);
  std::vector<std::thread> threads;
  for (unsigned town = 0; town < rewards.size(); ++town) {
    threads.emplace_back([&, town] {
      torch::NoGradGuard no_grad;  // RIGHT: torch-thread-local-guard
      rewards[town] = drive(agent, options, 2000 + 50 * town, 30);
    });
  }
  for (auto& thread : threads) thread.join();
  return rewards;
}

}  // namespace traffic

int main(int argc, char** argv) {
  using namespace traffic;
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    options.alternate |= flag == "--alternate";
    options.mask_phases |= flag == "--mask-phases";
    options.baseline |= flag == "--baseline";
    options.warm_normalizer |= flag == "--warm-normalizer";
    options.carry_forecast |= flag == "--carry-forecast";
  }
  torch::set_num_threads(1);
  torch::manual_seed(1);
  Agent agent(options.device);
  Learner learner(agent, options);
  Forecaster forecaster(options.device, options.carry_forecast);
  std::vector<Junction> junctions;
  for (int j = 0; j < options.junctions; ++j) junctions.emplace_back(static_cast<unsigned>(j));
  std::vector<std::vector<Junction*>> shards(static_cast<size_t>(options.threads));
  for (size_t j = 0; j < junctions.size(); ++j) shards[j % shards.size()].push_back(&junctions[j]);

  std::vector<float> seen;
  std::vector<int64_t> rule;
  for (int i = 0; i < 500; ++i) {
    auto& junction = junctions[i % junctions.size()];
    junction.observe(seen);
    rule.push_back(junction.longest());
    junction.step(rule.back());
  }
  auto x = torch::tensor(seen, torch::TensorOptions().device(options.device)).view({-1, kFeatures});
  if (options.warm_normalizer) agent.normalizer.warm(x);
  learner.imitate(x, torch::tensor(rule, torch::TensorOptions().device(options.device)));
  if (options.baseline) std::printf("baseline %.3f\n", measure_baseline(agent, options));

  for (int u = 0; u < options.updates; ++u) {
    torch::Tensor forecast;
    for (const auto& rollout : collect(agent, shards, options)) {
      const size_t count = rollout.rewards.size() / static_cast<size_t>(options.steps);
      learner.update(rollout, count);
      forecast = forecaster.learn(torch::tensor(rollout.arrivals, options.device).view({options.steps, -1, 1}));
    }
    if (u % 5 != 4) continue;
    std::printf("update %d  reward %.3f  forecast %.3f  trace %ld\n", u, evaluate(agent, options),
                forecast.item<double>(), static_cast<long>(forecaster.trace().numel()));
  }
  std::printf("mean value %.3f  critic loss %.3f\n", mean_value(agent, x), learner.mean_loss());
  for (double reward : stress(agent, options)) std::printf("town %.3f\n", reward);
  return 0;
}
