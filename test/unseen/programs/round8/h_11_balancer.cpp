// Value learning for a bank of simulated balancers, with a learned temperature.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

using torch::indexing::Slice;

struct Settings {
  int64_t envs = 16, capacity = 512, batch = 32, rounds = 12, horizon = 8, hidden = 32;
  double gamma = 0.98, tau = 0.02;
  double floor = -std::numeric_limits<double>::infinity();
  bool rescale = false;
  torch::Device device = torch::kCPU;
};

// ------------------------------------------------------------ simulation

class Bank {
 public:
  Bank(int64_t n, torch::Device d) : state_(torch::rand({n, 4}, d) - 0.5) {}

  const torch::Tensor& state() const { return state_; }

  std::pair<torch::Tensor, torch::Tensor> advance(const torch::Tensor& action) {
    torch::NoGradGuard off;
    auto force = action.to(torch::kFloat) - 1;
    auto x = state_.select(1, 0), v = state_.select(1, 1);
    auto a = state_.select(1, 2), w = state_.select(1, 3);
    w.add_(a.sin() + force * 0.3, 0.05);
    v.add_(force, 0.05);
    a.add_(w, 0.05);
    x.add_(v, 0.05);
    auto fell = a.abs().gt(0.8);
    auto reward = 1 - a.abs();
    state_.index_put_({fell}, 0);  // RIGHT: torch-discarded-result
    return {reward, fell};
  }

 private:
  torch::Tensor state_;
};

// ------------------------------------------------------------ memory

struct Sample {
  torch::Tensor obs, act, rew, next, done, weight, rows;
};

// Kept in host memory: the full size does not fit beside the network.
class Memory {
 public:
  explicit Memory(int64_t n)
      : obs_(torch::zeros({n, 4})), next_(torch::zeros({n, 4})), act_(torch::zeros({n}, torch::kLong)),
        rew_(torch::zeros({n})), done_(torch::zeros({n}, torch::kBool)), prio_(torch::ones({n})) {}

  void store(const torch::Tensor& o, const torch::Tensor& a, const torch::Tensor& r,
             const torch::Tensor& n, const torch::Tensor& d) {
    const auto k = o.size(0);
    if (at_ + k > obs_.size(0)) at_ = 0;
    obs_.narrow(0, at_, k).copy_(o);
    act_.narrow(0, at_, k).copy_(a);
    rew_.narrow(0, at_, k).copy_(r);
    next_.narrow(0, at_, k).copy_(n);
    done_.narrow(0, at_, k).copy_(d);
    at_ += k;
    filled_ = std::max(filled_, at_);
  }

  Sample draw(int64_t n) const {
    auto p = prio_.narrow(0, 0, filled_);
    auto rows = torch::multinomial(p, n, true);
    auto w = (p.index({rows}) * filled_ / p.sum()).pow(-0.4);
    return {obs_.index({rows}), act_.index({rows}), rew_.index({rows}), next_.index({rows}), done_.index({rows}), w, rows};
  }

  void reprioritize(const torch::Tensor& rows, const torch::Tensor& p) {
    prio_.index_put_({rows}, p.to(torch::kCPU));
  }

 private:
  torch::Tensor obs_, next_, act_, rew_, done_, prio_;
  int64_t at_ = 0, filled_ = 0;
};

// ------------------------------------------------------------ network

struct QNetImpl : torch::nn::Module {
  explicit QNetImpl(int64_t h)
      : a(register_module("a", torch::nn::Linear(4, h))),
        b(register_module("b", torch::nn::Linear(h, h))),
        q(register_module("q", torch::nn::Linear(h, 3))) {}

  torch::Tensor forward(const torch::Tensor& x) { return q(torch::tanh(b(torch::tanh(a(x))))); }

  void soften() {
    torch::NoGradGuard off;
    q->weight.mul_(0.1);  // RIGHT: torch-leaf-inplace
    q->bias.zero_();
  }

  torch::nn::Linear a, b, q;
};
TORCH_MODULE(QNet);

void rescale(QNet& net, float gain) {
  for (auto& item : net->named_parameters()) {
    auto& w = item.value();
    if (w.dim() < 2) continue;
    torch::nn::init::orthogonal_(w);
    w.narrow(0, 0, 1).mul_(gain);  // EXPECT: torch-leaf-inplace
  }
}

// ------------------------------------------------------------ agent

class Agent : public std::enable_shared_from_this<Agent> {
 public:
  using Callback = std::function<void(int64_t)>;

  explicit Agent(const Settings& s)
      : set_(s),
        online_(s.hidden),
        target_(s.hidden),
        log_alpha_(torch::zeros({1}, torch::dtype(torch::kFloat).device(s.device).requires_grad(true))),
        opt_(nullptr),
        memory_(s.capacity) {
    online_->to(s.device);  // RIGHT: torch-discarded-result
    target_->to(s.device);
    online_->soften();
    if (s.rescale) rescale(online_, 0.5f);
    match();
    for (auto& p : target_->parameters()) p.requires_grad_(false);
    opt_ = std::make_unique<torch::optim::Adam>(online_->parameters(), torch::optim::AdamOptions(1e-3));
    alpha_opt_ = std::make_unique<torch::optim::Adam>(std::vector<torch::Tensor>{log_alpha_}, torch::optim::AdamOptions(1e-2));
  }

  void attach() {
    on_round_ = [self = shared_from_this()](int64_t round) {  // EXPECT: torch-reference-cycle
      if (round % 4 == 0) std::printf("round %ld, %ld updates\n", (long)round, (long)self->updates_);
    };
    std::weak_ptr<Agent> weak = weak_from_this();
    on_update_ = [weak](int64_t n) {  // RIGHT: torch-reference-cycle
      if (auto self = weak.lock(); self && n % 16 == 0) self->match();
    };
    on_store_ = [this](int64_t n) { stored_ += n; };  // RIGHT: torch-reference-cycle
  }

  torch::Tensor act(const torch::Tensor& obs) {
    torch::NoGradGuard off;
    auto scores = online_->forward(obs) / log_alpha_.exp();
    return torch::multinomial(scores.softmax(-1), 1).squeeze(-1);
  }

  void collect(Bank& bank) {
    auto before = bank.state().clone();
    auto action = act(before);
    auto [reward, fell] = bank.advance(action);
    memory_.store(before, action, reward, bank.state(), fell);
    if (on_store_) on_store_(before.size(0));
  }

  void learn() {
    const auto dev = set_.device;
    auto s = memory_.draw(set_.batch);
    auto obs = s.obs.to(dev), act = s.act.to(dev), rew = s.rew.to(dev);
    auto next = s.next.to(dev), done = s.done.to(dev);

    torch::Tensor goal;
    {
      torch::NoGradGuard off;
      auto alpha = log_alpha_.exp();
      auto value = alpha * torch::logsumexp(target_->forward(next) / alpha, -1);
      if (done.size(0) > 0) value.masked_fill(done, 0.0);  // EXPECT: torch-discarded-result
      value.clamp_(-100, 100);  // RIGHT: torch-discarded-result
      goal = rew + set_.gamma * value;
    }

    auto q = online_->forward(obs);
    auto td = q.gather(-1, act.unsqueeze(-1)).squeeze(-1) - goal;
    auto loss = (td.square() * s.weight).mean();  // EXPECT: torch-device-mismatch
    loss = loss * torch::tensor(0.5f);  // RIGHT: torch-device-mismatch
    opt_->zero_grad();
    loss.backward();
    opt_->step();  // RIGHT: torch-missing-zero-grad

    auto alpha = log_alpha_.exp();
    auto policy = (q.detach() / alpha.detach()).softmax(-1);
    auto entropy = -(policy * (policy + 1e-8).log()).sum(-1).mean();
    auto alpha_loss = (log_alpha_ * (entropy - 0.7)).sum();
    alpha_loss.backward();
    alpha_opt_->step();  // EXPECT: torch-missing-zero-grad

    auto urgency = td.detach().to(torch::kCPU).abs().add(1e-3).pow(0.6).to(dev);  // EXPECT: torch-device-round-trip
    urgency.div_(urgency.max());
    memory_.reprioritize(s.rows, urgency);

    follow();
    ++updates_;
    if (on_update_) on_update_(updates_);
  }

  // Polyak average.
  void follow() {
    torch::NoGradGuard off;
    auto from = online_->parameters();
    auto to = target_->parameters();
    for (size_t i = 0; i < to.size(); ++i) {
      auto dst = to[i];
      dst = torch::lerp(dst, from[i], set_.tau);  // EXPECT: torch-parameter-copy
    }
  }

  void match() {
    torch::NoGradGuard off;
    auto from = online_->parameters();
    size_t i = 0;
    for (auto dst : target_->parameters()) dst.copy_(from[i++]);  // RIGHT: torch-parameter-copy
  }

  double evaluate(Bank& bank, int64_t steps) {
    const bool before = at::GradMode::is_enabled();
    at::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    auto sum = torch::zeros({}, set_.device);
    for (int64_t i = 0; i < steps; ++i) sum += bank.advance(online_->forward(bank.state()).argmax(-1)).first.mean();
    const double score = sum.item<double>() / steps;
    if (score < set_.floor) {
      std::printf("score %.3f is below the floor\n", score);
      return score;
    }
    at::GradMode::set_enabled(before);
    return score;
  }

  double spread(const torch::Tensor& obs) {
    const bool before = at::GradMode::is_enabled();
    at::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored
    const double value = online_->forward(obs).std(-1).mean().item<double>();
    at::GradMode::set_enabled(before);
    return value;
  }

  void finishRound(int64_t r) {
    if (on_round_) on_round_(r);
  }
  int64_t stored() const { return stored_; }
  double alpha() const { return std::exp(log_alpha_.item<double>()); }

 private:
  Settings set_;
  QNet online_, target_;
  torch::Tensor log_alpha_;
  std::unique_ptr<torch::optim::Adam> opt_, alpha_opt_;
  Memory memory_;
  Callback on_round_, on_update_, on_store_;
  int64_t updates_ = 0, stored_ = 0;
};

// ------------------------------------------------------------ diagnostics

// Discounted return of each step of one trajectory.
std::vector<float> discounted(const torch::Tensor& rewards, double gamma) {
  std::vector<float> out(static_cast<size_t>(rewards.size(0)));
  double g = 0;
  for (int64_t t = rewards.size(0) - 1; t >= 0; --t) {
    g = rewards[t].item<double>() + gamma * g;  // EXPECT: torch-element-access-in-loop
    out[static_cast<size_t>(t)] = static_cast<float>(g);
  }
  return out;
}

int64_t longestRun(const torch::Tensor& rewards) {
  auto host = rewards.to(torch::kCPU).contiguous();
  auto view = host.accessor<float, 1>();
  int64_t best = 0, run = 0;
  for (int64_t t = 0; t < view.size(0); ++t) {
    run = view[t] > 0.7f ? run + 1 : 0;  // RIGHT: torch-element-access-in-loop
    best = std::max(best, run);
  }
  return best;
}

torch::Tensor record(Agent& agent, Bank& bank, int64_t steps) {
  std::vector<torch::Tensor> rewards;
  for (int64_t i = 0; i < steps; ++i) rewards.push_back(bank.advance(agent.act(bank.state())).first.mean());
  return torch::stack(rewards);
}

int main(int argc, char** argv) {
  torch::manual_seed(17);
  const std::set<std::string> flags(argv + 1, argv + argc);
  Settings s;
  if (torch::cuda::is_available()) s.device = torch::Device(torch::kCUDA, 0);
  s.rescale = flags.count("--rescale") > 0;
  if (flags.count("--floor")) s.floor = 0.9;
  if (flags.count("--full")) {
    s.envs = 1024;
    s.capacity = 1 << 20;
    s.batch = 4096;
    s.rounds = 2000;
    s.hidden = 512;
  }

  auto agent = std::make_shared<Agent>(s);
  agent->attach();
  Bank bank(s.envs, s.device), trial(s.envs, s.device);
  for (int64_t round = 0; round < s.rounds; ++round) {
    for (int64_t i = 0; i < s.horizon; ++i) agent->collect(bank);
    for (int64_t i = 0; i < 4; ++i) agent->learn();
    if (round % 4 == 3) std::printf("score %.3f\n", agent->evaluate(trial, 10));
    agent->finishRound(round);
  }

  auto rewards = record(*agent, trial, 50);
  auto returns = discounted(rewards, s.gamma);
  std::printf("return %.3f run %ld spread %.4f alpha %.3f stored %ld\n", returns.front(), (long)longestRun(rewards),
              agent->spread(trial.state()), agent->alpha(), (long)agent->stored());
  return 0;
}
