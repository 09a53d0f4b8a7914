// Four in a row on a 5x5 board, learnt by self-play: one learner imitates improved
// policies from a replay buffer, another one is an actor-critic against the champion.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kSide = 5, kCells = kSide * kSide, kRun = 4;

struct GameConfig {
  int64_t games = 8, generations = 3;
  int64_t sweeps = 16, passes = 3;
  int64_t replayCapacity = 1024, batch = 64;
  int64_t arenaGames = 12;
  double gamma = 0.97;
  double concentration = 0.3, noise = 0.25;
  double follow = 0.05;
  double lr = 2e-3;
};

class Board {
 public:
  // False for a cell that is taken, which loses the game.
  bool play(int64_t cell) {
    if (over_ || cells_[cell] != 0) {
      over_ = true;
      winner_ = static_cast<int8_t>(-turn_);
      return false;
    }
    cells_[cell] = turn_;
    ++moves_;
    if (completes(cell)) winner_ = turn_;
    over_ = winner_ != 0 || moves_ == kCells;
    turn_ = static_cast<int8_t>(-turn_);
    return true;
  }

  bool over() const { return over_; }
  int8_t winner() const { return winner_; }
  int8_t turn() const { return turn_; }
  int8_t at(int64_t cell) const { return cells_[cell]; }

 private:
  bool completes(int64_t cell) const {
    static constexpr std::array<std::array<int64_t, 2>, 4> directions{{{0, 1}, {1, 0}, {1, 1}, {1, -1}}};
    for (const auto& d : directions) {
      if (1 + reach(cell, d[0], d[1]) + reach(cell, -d[0], -d[1]) >= kRun) return true;
    }
    return false;
  }

  int64_t reach(int64_t cell, int64_t dr, int64_t dc) const {
    int64_t n = 0;
    for (int64_t r = cell / kSide + dr, c = cell % kSide + dc;
         r >= 0 && r < kSide && c >= 0 && c < kSide && cells_[r * kSide + c] == cells_[cell]; r += dr, c += dc) ++n;
    return n;
  }

  std::array<int8_t, kCells> cells_{};
  int8_t turn_ = 1, winner_ = 0;
  int64_t moves_ = 0;
  bool over_ = false;
};

// Own stones, the other's stones, and one plane of ones.
torch::Tensor encode(const std::vector<Board>& boards) {
  const auto count = static_cast<int64_t>(boards.size());
  auto planes = torch::ones({count, 3, kCells});
  auto out = planes.accessor<float, 3>();
  for (int64_t b = 0; b < count; ++b) {
    for (int64_t cell = 0; cell < kCells; ++cell) {
      const int stone = boards[b].at(cell) * boards[b].turn();
      out[b][0][cell] = stone > 0 ? 1.0f : 0.0f;  // RIGHT: torch-element-access-in-loop (an accessor writes plain memory)
      out[b][1][cell] = stone < 0 ? 1.0f : 0.0f;
    }
  }
  return planes.view({count, 3, kSide, kSide});
}

torch::Tensor legalCells(const torch::Tensor& planes) { return planes.narrow(1, 0, 2).sum(1).flatten(1).eq(0); }

struct Evaluation {
  torch::Tensor logits, value;
};

class PolicyValueNetImpl : public nn::Cloneable<PolicyValueNetImpl> {
 public:
  explicit PolicyValueNetImpl(int64_t width) : width_(width) { reset(); }

  void reset() override {
    stem_ = register_module("stem", nn::Conv2d(nn::Conv2dOptions(3, width_, 3).padding(1)));
    norm_ = register_module("norm", nn::GroupNorm(nn::GroupNormOptions(4, width_)));
    mix_ = register_module("mix", nn::Conv2d(nn::Conv2dOptions(width_, width_, 3).padding(1)));
    policy_ = register_module("policy", nn::Linear(width_ * kCells, kCells));
    value_ = register_module("value", nn::Linear(width_ * kCells, 1));
  }

  Evaluation forward(const torch::Tensor& planes) {
    auto h = torch::relu(norm_(stem_(planes)));
    h = torch::relu(mix_(h)).flatten(1);
    return {policy_(h), torch::tanh(value_(h)).squeeze(1)};
  }

 private:
  int64_t width_;
  nn::Conv2d stem_{nullptr}, mix_{nullptr};
  nn::GroupNorm norm_{nullptr};
  nn::Linear policy_{nullptr}, value_{nullptr};
};
TORCH_MODULE(PolicyValueNet);

torch::Tensor legalLogits(const torch::Tensor& logits, const torch::Tensor& legal) {
  auto scores = logits.view({-1, kCells});
  scores.masked_fill(legal.logical_not(), -1e9);  // EXPECT: torch-discarded-result
  return scores;
}

// Index of the best legal cell; nothing is recorded for autograd.
int64_t greedyMove(PolicyValueNet& net, const Board& board) {
  torch::NoGradGuard noGrad;
  const auto planes = encode({board});
  auto scores = net->forward(planes).logits;
  scores.masked_fill_(legalCells(planes).logical_not(), -1e9);  // RIGHT: torch-discarded-result (the in-place form)
  return scores.argmax(1).item<int64_t>();
}

struct Sample {
  torch::Tensor planes, policy;
  float outcome = 0.0f;
};

class SelfPlay {
 public:
  SelfPlay(const GameConfig& cfg, PolicyValueNet net)
      : cfg_(cfg), net_(std::move(net)), tallies_(cfg.games, torch::zeros({kCells})) {}  // EXPECT: torch-fill-alias

  std::vector<Sample> run() {
    torch::NoGradGuard noGrad;
    std::vector<Board> boards(cfg_.games);
    std::vector<std::vector<Sample>> open(cfg_.games);
    std::vector<torch::Tensor> lastPolicy(cfg_.games, torch::zeros({kCells}));  // RIGHT: torch-fill-alias (its elements are only replaced, never written through)
    for (int64_t ply = 0; ply < kCells && anyOpen(boards); ++ply) {
      const auto planes = encode(boards);
      const auto targets = improve(planes);
      const auto moves = targets.multinomial(1);
      const auto chosen = moves.accessor<int64_t, 2>();
      for (int64_t g = 0; g < cfg_.games; ++g) {
        if (boards[g].over()) continue;
        lastPolicy[g] = targets[g].clone();
        open[g].push_back({planes[g].clone(), lastPolicy[g], static_cast<float>(boards[g].turn())});
        boards[g].play(chosen[g][0]);
      }
    }
    std::vector<Sample> samples;
    for (int64_t g = 0; g < cfg_.games; ++g) {
      for (auto& sample : open[g]) {
        sample.outcome *= static_cast<float>(boards[g].winner());
        samples.push_back(std::move(sample));
      }
    }
    sharpness_ = torch::stack(lastPolicy).amax(1).mean().item<double>();
    return samples;
  }

  double sharpness() const { return sharpness_; }

 private:
  static bool anyOpen(const std::vector<Board>& boards) {
    return std::any_of(boards.begin(), boards.end(), [](const Board& board) { return !board.over(); });
  }

  torch::Tensor improve(const torch::Tensor& planes) {
    const auto legal = legalCells(planes);
    const auto prior = legalLogits(net_->forward(planes).logits, legal).softmax(1);  // RIGHT: torch-missing-no-grad (run() holds the guard)
    for (auto& tally : tallies_) tally.zero_();
    for (int64_t sweep = 0; sweep < cfg_.sweeps; ++sweep) {
      const auto alpha = torch::full({kCells}, cfg_.concentration);  // EXPECT: torch-allocation-in-loop
      for (int64_t g = 0; g < cfg_.games; ++g) {
        tallies_[g].add_(prior[g].lerp(torch::_sample_dirichlet(alpha), cfg_.noise));
      }
    }
    auto policy = torch::stack(tallies_).mul_(legal).clamp_min_(1e-8);
    return policy.div_(policy.sum(1, /*keepdim=*/true));
  }

  const GameConfig cfg_;
  PolicyValueNet net_;
  std::vector<torch::Tensor> tallies_;
  double sharpness_ = 0.0;
};

class Learner {
 public:
  Learner(const GameConfig& cfg, PolicyValueNet net)
      : cfg_(cfg), net_(std::move(net)), opt_(net_->parameters(), torch::optim::AdamOptions(cfg.lr)) {}
  virtual ~Learner() = default;
  virtual void update() = 0;
  virtual double progress() const = 0;

 protected:
  const GameConfig cfg_;
  PolicyValueNet net_;
  torch::optim::Adam opt_;
};

class ReplayLearner : public Learner {
 public:
  using Learner::Learner;

  void remember(std::vector<Sample> samples) {
    for (auto& sample : samples) {
      replay_.push_back(std::move(sample));
      if (static_cast<int64_t>(replay_.size()) > cfg_.replayCapacity) replay_.pop_front();
    }
  }

  void update() override {
    if (replay_.empty()) return;
    std::uniform_int_distribution<size_t> pick(0, replay_.size() - 1);
    for (int64_t pass = 0; pass < cfg_.passes; ++pass) {
      std::vector<torch::Tensor> planes, policies;
      std::vector<float> outcomes;
      for (int64_t i = 0; i < cfg_.batch; ++i) {
        const auto& sample = replay_[pick(rng_)];
        planes.push_back(sample.planes);
        policies.push_back(sample.policy);
        outcomes.push_back(sample.outcome);
      }
      const auto out = net_->forward(torch::stack(planes));
      auto loss = F::cross_entropy(out.logits, torch::stack(policies));
      auto valueLoss = F::mse_loss(out.value, torch::tensor(outcomes));
      opt_.zero_grad();
      (loss + valueLoss).backward();  // RIGHT: torch-stale-graph (every pass has its own forward)
      opt_.step();
      policyCurve_.push_back(loss);  // EXPECT: torch-retained-graph
      valueCurve_.push_back(valueLoss.detach());  // RIGHT: torch-retained-graph (detached, no graph is kept)
    }
  }

  double progress() const override {
    if (policyCurve_.empty()) return 0.0;
    return (torch::stack(policyCurve_).mean() + torch::stack(valueCurve_).mean()).item<double>();
  }

 private:
  std::deque<Sample> replay_;
  std::vector<torch::Tensor> policyCurve_, valueCurve_;
  std::mt19937_64 rng_{41};
};

struct Rollout {
  std::vector<torch::Tensor> logProbs, values;
  std::vector<float> rewards;
};

torch::Tensor discounted(const torch::Tensor& rewards, double gamma) {
  std::vector<float> returns(rewards.size(0));
  float running = 0.0f;
  for (int64_t t = rewards.size(0) - 1; t >= 0; --t) {
    running = rewards[t].item<float>() + static_cast<float>(gamma) * running;  // EXPECT: torch-element-access-in-loop
    returns[t] = running;
  }
  return torch::tensor(returns);
}

class ActorCriticLearner : public Learner {
 public:
  using Opponent = std::function<int64_t(const Board&)>;

  ActorCriticLearner(const GameConfig& cfg, PolicyValueNet net, Opponent opponent)
      : Learner(cfg, std::move(net)), opponent_(std::move(opponent)) {}

  void update() override {
    const auto rollout = collect();
    if (rollout.rewards.empty()) return;
    const auto returns = discounted(torch::tensor(rollout.rewards), cfg_.gamma);
    const auto logProbs = torch::stack(rollout.logProbs);
    const auto values = torch::stack(rollout.values);
    const auto advantage = returns - values.detach();
    for (int64_t pass = 0; pass < cfg_.passes; ++pass) {
      auto loss = F::mse_loss(values, returns) - (logProbs * advantage).mean();
      opt_.zero_grad();
      loss.backward();  // EXPECT: torch-stale-graph
      opt_.step();
      lastLoss_ = loss.detach();
    }
  }

  double progress() const override { return lastLoss_.defined() ? lastLoss_.item<double>() : 0.0; }

 private:
  Rollout collect() {
    Rollout rollout;
    Board board;
    while (!board.over()) {
      if (board.turn() < 0) {
        board.play(opponent_(board));
        continue;
      }
      const auto planes = encode({board});
      const auto out = net_->forward(planes);
      const auto logp = legalLogits(out.logits, legalCells(planes)).log_softmax(1)[0];
      const auto move = logp.detach().exp().multinomial(1);
      rollout.logProbs.push_back(logp.index_select(0, move)[0]);  // RIGHT: torch-retained-graph (backward needs it, it goes with the rollout)
      rollout.values.push_back(out.value[0]);
      rollout.rewards.push_back(0.0f);
      board.play(move.item<int64_t>());
    }
    if (!rollout.rewards.empty()) rollout.rewards.back() = static_cast<float>(board.winner());
    return rollout;
  }

  Opponent opponent_;
  torch::Tensor lastLoss_;
};

void copyParameters(nn::Module& from, nn::Module& to) {
  const auto source = from.named_parameters();
  for (auto& item : to.named_parameters()) {
    item.value().copy_(source[item.key()]);  // RIGHT: torch-leaf-inplace (the only caller holds a NoGradGuard)
  }
}

// The champion trails the trained network and is replaced by it after a clear win.
class League {
 public:
  League(const GameConfig& cfg, const PolicyValueNet& net)
      : cfg_(cfg), champion_(std::dynamic_pointer_cast<PolicyValueNetImpl>(net->clone())) {}

  int64_t reply(const Board& board) { return greedyMove(champion_, board); }

  void trail(PolicyValueNet& net) {
    const auto source = net->named_parameters();
    for (auto& item : champion_->named_parameters()) {
      item.value().lerp_(source[item.key()].detach(), cfg_.follow);  // EXPECT: torch-leaf-inplace
    }
  }

  double challenge(PolicyValueNet& net) {
    double points = 0.0;
    for (int64_t game = 0; game < cfg_.arenaGames; ++game) {
      const int8_t side = game % 2 == 0 ? 1 : -1;
      Board board;
      board.play((game * 7) % kCells);
      while (!board.over()) board.play(board.turn() == side ? greedyMove(net, board) : reply(board));
      points += board.winner() == side ? 1.0 : board.winner() == 0 ? 0.5 : 0.0;
    }
    const double share = points / static_cast<double>(cfg_.arenaGames);
    if (share > 0.6) promote(*net);
    return share;
  }

 private:
  void promote(nn::Module& winner) {
    torch::NoGradGuard noGrad;
    copyParameters(winner, *champion_);
  }

  const GameConfig cfg_;
  PolicyValueNet champion_;
};

void stage(const std::string& name, const std::function<void()>& body) {
  try {
    body();
  } catch (const c10::Error& e) {
    std::cerr << name << " failed: " << e.what_without_backtrace() << "\n";
  }
}

int main() {
  torch::manual_seed(29);
  const GameConfig cfg;
  PolicyValueNet net(16);
  League league(cfg, net);
  SelfPlay selfPlay(cfg, net);
  ReplayLearner replay(cfg, net);
  ActorCriticLearner actor(cfg, net, [&league](const Board& board) { return league.reply(board); });

  for (int64_t generation = 0; generation < cfg.generations; ++generation) {
    stage("self-play", [&] { replay.remember(selfPlay.run()); });
    stage("replay", [&] { replay.update(); });
    stage("actor-critic", [&] { actor.update(); });
    stage("league", [&] { league.trail(net); });
    std::cout << "generation " << generation << " sharpness " << selfPlay.sharpness() << " replay " << replay.progress()
              << " actor " << actor.progress() << " share " << league.challenge(net) << "\n";
  }
  return 0;
}
