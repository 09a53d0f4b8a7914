// Self-play for a small drop-four game.
//
// A session plays games with the current network, hands the episodes to listeners, the
// learner trains on replayed positions, and an arena decides whether the new weights stay.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace selfplay {

constexpr int kRows = 5, kCols = 6, kPlayers = 2;

struct Config {
  int iterations = 3, games_per_iteration = 4, updates_per_iteration = 6;
  int arena_games = 6, distill_steps = 8;
  size_t replay_capacity = 40;
  int64_t batch = 48, channels = 24;
  double learning_rate = 2e-3;
  double haste_bonus = 0.3;
  bool online = false;  // learn from every episode as soon as it is finished
};

class Board {
 public:
  int at(int row, int col) const { return cells_[row * kCols + col]; }
  int player() const { return player_; }
  int moves() const { return moves_; }
  bool legal(int col) const { return at(kRows - 1, col) == 0; }
  bool full() const { return moves_ == kRows * kCols; }

  bool play(int col) {
    int row = 0;
    while (at(row, col) != 0) ++row;
    cells_[row * kCols + col] = player_;
    ++moves_;
    const bool won = four(row, col);
    player_ = 3 - player_;
    return won;
  }

 private:
  bool four(int row, int col) const {
    for (auto [dr, dc] : {std::pair<int, int>{0, 1}, {1, 0}, {1, 1}, {1, -1}}) {
      int length = 1;
      for (int sign : {-1, 1}) {
        int r = row + sign * dr, c = col + sign * dc;
        for (; r >= 0 && c >= 0 && r < kRows && c < kCols && at(r, c) == at(row, col); r += sign * dr, c += sign * dc) {
          ++length;
        }
      }
      if (length >= 4) return true;
    }
    return false;
  }

  std::array<int, kRows * kCols> cells_{};
  int player_ = 1, moves_ = 0;
};

torch::Tensor encode(const Board& board) {
  auto planes = torch::zeros({kPlayers, kRows, kCols});
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; ++c) {
      const int stone = board.at(r, c);
      if (stone == 0) continue;
      planes[stone == board.player() ? 0 : 1][r][c] = 1.0f;  // EXPECT: torch-element-access-in-loop
    }
  }
  return planes;
}

struct Evaluation {
  torch::Tensor log_policy, value;  // [B, kCols], [B]
};

class PolicyNetImpl : public torch::nn::Module {
 public:
  explicit PolicyNetImpl(int64_t channels)
      : stem_(register_module("stem", torch::nn::Conv2d(torch::nn::Conv2dOptions(kPlayers, channels, 3).padding(1)))),
        body_(register_module("body", torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, channels, 3).padding(1)))),
        policy_(register_module("policy", torch::nn::Linear(channels * kRows * kCols, kCols))),
        value_(register_module("value", torch::nn::Linear(channels * kRows * kCols, 1))) {}

  Evaluation forward(const torch::Tensor& planes) {
    auto x = torch::relu(stem_(planes));
    x = torch::relu(body_(x) + x).flatten(1);
    return {torch::log_softmax(policy_(x), 1), torch::tanh(value_(x)).squeeze(1)};
  }

 private:
  torch::nn::Conv2d stem_, body_;
  torch::nn::Linear policy_, value_;
};
TORCH_MODULE(PolicyNet);

void copy_weights(const PolicyNet& source, PolicyNet target) {
  torch::NoGradGuard no_grad;
  auto from = source->parameters();
  auto to = target->parameters();
  for (size_t i = 0; i < from.size(); ++i) {
    to[i].copy_(from[i]);  // RIGHT: torch-parameter-copy (the holder and the handles share the parameters), torch-leaf-inplace (guarded)
  }
}

struct Episode {
  torch::Tensor states;             // [T, kPlayers, kRows, kCols]
  torch::Tensor policies, returns;  // [T, kCols], [T]
  int winner = 0;
};

class Player {
 public:
  Player(PolicyNet net, uint32_t seed) : net_(std::move(net)), rng_(seed) {}

  // Weights over the columns; illegal ones get nothing.
  std::vector<float> column_weights(const Board& board, const torch::Tensor& planes) {
    auto out = net_->forward(planes.unsqueeze(0));  // RIGHT: torch-missing-no-grad (play_episode is in InferenceMode, play_match has grad mode off)
    auto policy = out.log_policy.exp().squeeze(0);
    auto p = policy.accessor<float, 1>();
    std::vector<float> weights(kCols, 0.0f);
    for (int c = 0; c < kCols; ++c) {
      if (board.legal(c)) weights[c] = p[c] + 1e-3f;  // RIGHT: torch-element-access-in-loop (accessor over six floats in host memory)
    }
    return weights;
  }

  int sample(const std::vector<float>& weights) {
    std::discrete_distribution<int> pick(weights.begin(), weights.end());
    return pick(rng_);
  }

 private:
  PolicyNet net_;
  std::mt19937 rng_;
};

Episode play_episode(Player& player, const Config& cfg) {
  c10::InferenceMode inference;
  Board board;
  std::vector<torch::Tensor> states, policies;
  std::vector<int> movers;
  Episode episode;
  while (!board.full() && episode.winner == 0) {
    const int mover = board.player();
    auto planes = encode(board);
    auto weights = player.column_weights(board, planes);
    states.push_back(planes);
    policies.push_back(torch::tensor(weights));
    movers.push_back(mover);
    if (board.play(player.sample(weights))) episode.winner = mover;
  }
  const float haste = static_cast<float>(cfg.haste_bonus) * (1.0f - board.moves() / float(kRows * kCols));
  std::vector<float> returns;
  for (int mover : movers) {
    const float sign = episode.winner == 0 ? 0.0f : (mover == episode.winner ? 1.0f : -1.0f);
    returns.push_back(sign * (1.0f + haste));
  }
  episode.states = torch::stack(states);  // RIGHT: torch-cat-in-loop (stacked once, after the game)
  episode.policies = torch::stack(policies);
  episode.policies.div_(episode.policies.sum(1, /*keepdim=*/true));  // RIGHT: torch-discarded-result (div_ works in place)
  episode.returns = torch::tensor(returns);
  return episode;
}

class Replay {
 public:
  explicit Replay(size_t capacity) : capacity_(capacity) {}

  void add(const Episode& episode) {
    episodes_.push_back(episode);
    if (episodes_.size() > capacity_) episodes_.pop_front();
  }
  bool empty() const { return episodes_.empty(); }

  Episode sample(int64_t count) const {
    std::vector<torch::Tensor> states, policies, returns;
    for (const auto& e : episodes_) {
      states.push_back(e.states);
      policies.push_back(e.policies);
      returns.push_back(e.returns);
    }
    Episode batch;
    auto all = torch::cat(states);
    auto pick = torch::randint(all.size(0), {count}, torch::kLong);
    batch.states = all.index_select(0, pick);
    batch.policies = torch::cat(policies).index_select(0, pick);
    batch.returns = torch::cat(returns).index_select(0, pick);
    batch.returns.clamp(-1.0, 1.0);  // EXPECT: torch-discarded-result
    return batch;
  }

 private:
  size_t capacity_;
  std::deque<Episode> episodes_;
};

class Learner {
 public:
  Learner(PolicyNet net, const Config& cfg)
      : net_(std::move(net)), optimizer_(net_->parameters(), torch::optim::AdamOptions(cfg.learning_rate)) {}

  torch::Tensor replay_update(const Replay& replay, int64_t count) {
    const auto batch = replay.sample(count);
    auto out = net_->forward(batch.states);  // RIGHT: torch-inference-tensor (sample gathers into new tensors, outside the mode)
    return descend(objective(out, batch.policies, batch.returns));
  }

  torch::Tensor learn_from(const Episode& episode) {
    auto out = net_->forward(episode.states);  // EXPECT: torch-inference-tensor
    auto policies = episode.policies.clone();  // RIGHT: torch-inference-tensor (a clone made outside the mode is an ordinary tensor)
    auto returns = episode.returns.clone();
    return descend(objective(out, policies, returns));
  }

 private:
  static torch::Tensor objective(const Evaluation& out, const torch::Tensor& policies, const torch::Tensor& returns) {
    return torch::mse_loss(out.value, returns) - (policies * out.log_policy).sum(1).mean();
  }

  torch::Tensor descend(const torch::Tensor& loss) {
    optimizer_.zero_grad();
    loss.backward();  // RIGHT: torch-missing-zero-grad (zeroed one line above)
    torch::nn::utils::clip_grad_norm_(net_->parameters(), 2.0);
    optimizer_.step();
    return loss.detach();
  }

  PolicyNet net_;
  torch::optim::Adam optimizer_;
};

class GradPause {
 public:
  GradPause() : before_(at::GradMode::is_enabled()) {
    at::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored (restored by the destructor)
  }
  ~GradPause() { at::GradMode::set_enabled(before_); }

 private:
  bool before_;
};

class Arena {
 public:
  explicit Arena(const Config& cfg) : cfg_(cfg) {}

  // True when the candidate wins more games than the champion.
  bool candidate_wins(PolicyNet candidate, PolicyNet champion) {
    at::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    std::array<int, kPlayers> wins{};
    for (int game = 0; game < cfg_.arena_games; ++game) {
      std::array<Player, kPlayers> players{Player(candidate, 100u + game), Player(champion, 200u + game)};
      const int winner = play_match(players, game % kPlayers);
      if (winner >= 0) ++wins[winner];
      if (*std::max_element(wins.begin(), wins.end()) > cfg_.arena_games / 2) {
        return wins[0] > wins[1];
      }
    }
    at::GradMode::set_enabled(true);
    return wins[0] > wins[1];
  }

 private:
  static int play_match(std::array<Player, kPlayers>& players, int first) {
    Board board;
    while (!board.full()) {
      const int index = (first + board.moves()) % kPlayers;
      const auto weights = players[index].column_weights(board, encode(board));
      if (board.play(players[index].sample(weights))) return index;
    }
    return -1;
  }

  Config cfg_;
};

// What the players tend to do, by seat.
class Statistics {
 public:
  Statistics()
      : column_mass_(kPlayers, torch::zeros({kCols})),   // EXPECT: torch-fill-alias
        mean_return_(kPlayers, torch::zeros({})) {}      // RIGHT: torch-fill-alias (each element is replaced, never written in place)

  void add(const Episode& episode) {
    ++episodes_;
    for (int seat = 0; seat < kPlayers; ++seat) {
      column_mass_[seat].add_(episode.policies.slice(0, seat, c10::nullopt, kPlayers).sum(0));
      auto current = episode.returns.slice(0, seat, c10::nullopt, kPlayers).mean();
      mean_return_[seat] = mean_return_[seat] + (current - mean_return_[seat]) / episodes_;
    }
  }

  void print() const {
    for (int seat = 0; seat < kPlayers; ++seat) {
      std::cout << "  seat " << seat << " favours column " << column_mass_[seat].argmax().item<int64_t>()
                << ", mean return " << mean_return_[seat].item<float>() << "\n";
    }
  }

 private:
  int episodes_ = 0;
  std::vector<torch::Tensor> column_mass_, mean_return_;
};

struct Session {
  explicit Session(const Config& config)
      : cfg(config), net(config.channels), champion(config.channels), replay(config.replay_capacity) {
    copy_weights(net, champion);
  }

  void play(uint32_t seed) {
    Player player(champion, seed);
    for (int g = 0; g < cfg.games_per_iteration; ++g) {
      const auto episode = play_episode(player, cfg);
      if (on_episode) on_episode(episode);
      if (on_progress) on_progress(g);
    }
  }

  Config cfg;
  PolicyNet net, champion;
  Replay replay;
  Statistics statistics;
  std::function<void(const Episode&)> on_episode;
  std::function<void(int)> on_progress;
};

void connect(const std::shared_ptr<Session>& session, Learner& learner) {
  session->on_episode = [session, &learner](const Episode& episode) {  // EXPECT: torch-reference-cycle
    session->replay.add(episode);
    session->statistics.add(episode);
    if (session->cfg.online) learner.learn_from(episode);
  };
  std::weak_ptr<Session> weak = session;
  session->on_progress = [weak](int game) {  // RIGHT: torch-reference-cycle (captures a weak pointer)
    auto self = weak.lock();
    if (self && game + 1 == self->cfg.games_per_iteration) self->statistics.print();
  };
}

// Trains a smaller network on the answers of the champion.
double distill(PolicyNet& student, PolicyNet& teacher, const Replay& replay, const Config& cfg) {
  torch::optim::SGD optimizer(student->parameters(), torch::optim::SGDOptions(0.02));
  auto total = torch::zeros({});
  for (int step = 0; step < cfg.distill_steps; ++step) {
    const auto batch = replay.sample(cfg.batch);
    torch::Tensor wanted;
    {
      GradPause pause;
      wanted = teacher->forward(batch.states).log_policy.exp();
    }
    auto loss = -(wanted * student->forward(batch.states).log_policy).sum(1).mean();
    loss.backward();  // EXPECT: torch-missing-zero-grad
    optimizer.step();
    total += loss.detach();  // RIGHT: torch-retained-graph (detached)
  }
  return total.item<double>() / cfg.distill_steps;
}

void run(const std::string& name, const Config& cfg) {
  auto session = std::make_shared<Session>(cfg);
  Learner learner(session->net, cfg);
  connect(session, learner);
  Arena arena(cfg);
  try {
    for (int it = 0; it < cfg.iterations; ++it) {
      session->play(static_cast<uint32_t>(it + 1));
      torch::Tensor loss = torch::zeros({});
      for (int u = 0; u < cfg.updates_per_iteration; ++u) loss = learner.replay_update(session->replay, cfg.batch);
      if (arena.candidate_wins(session->net, session->champion)) copy_weights(session->net, session->champion);
      std::cout << name << " iteration " << it << " loss " << loss.item<double>() << "\n";
    }
    PolicyNet student(cfg.channels / 2);
    std::cout << name << " distilled " << distill(student, session->champion, session->replay, cfg) << "\n";
  } catch (const c10::Error& error) {
    std::cerr << name << " stopped: " << error.what_without_backtrace() << "\n";
  }
}

}  // namespace selfplay

int main() {
  torch::manual_seed(2);
  selfplay::Config cfg;
  selfplay::run("replay", cfg);
  cfg.online = true;
  selfplay::run("online", cfg);
  return 0;
}
