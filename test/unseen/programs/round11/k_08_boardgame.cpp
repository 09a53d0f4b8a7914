// Self-play training for a small pawn game (six by six "breakthrough").
//
// Worker threads play games with the value network, the learner fits both
// networks to the positions, an arena measures the result.

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace game {

constexpr int kSide = 6, kSquares = kSide * kSide;
constexpr int kActions = kSquares * 3, kPlanes = 2;
using Cells = std::array<int8_t, kSquares>;

// The side to move always plays upwards; the board is flipped after a move.
struct Board {
  Cells cells{};

  static Board start() {
    Board board;
    for (int i = 0; i < 2 * kSide; ++i) board.cells[i] = 1, board.cells[kSquares - 1 - i] = -1;
    return board;
  }

  std::vector<int> legalActions() const {
    std::vector<int> actions;
    for (int from = 0; from < kSquares - kSide; ++from) {
      if (cells[from] != 1) continue;
      for (int dir = -1; dir <= 1; ++dir) {
        if (from % kSide + dir < 0 || from % kSide + dir >= kSide) continue;
        const int8_t target = cells[from + kSide + dir];
        if (target == 0 || (target == -1 && dir != 0)) actions.push_back(from * 3 + dir + 1);
      }
    }
    return actions;
  }

  // True when the move wins the game.
  bool apply(int action) {
    const int from = action / 3, to = from + kSide + action % 3 - 1;
    cells[from] = 0;
    cells[to] = 1;
    return to >= kSquares - kSide;
  }

  Board flipped() const {
    Board other;
    for (int i = 0; i < kSquares; ++i) other.cells[i] = static_cast<int8_t>(-cells[kSquares - 1 - i]);
    return other;
  }
};

torch::Tensor encode(const std::vector<Board>& boards) {
  const auto n = static_cast<int64_t>(boards.size());
  torch::Tensor planes = torch::zeros({n, kPlanes, kSide, kSide});
  float* out = planes.data_ptr<float>();  // RIGHT: torch-dangling-data
  for (const Board& board : boards) {
    for (int i = 0; i < kSquares; ++i) {
      if (board.cells[i] != 0) out[(board.cells[i] > 0 ? 0 : kSquares) + i] = 1.0f;
    }
    out += kPlanes * kSquares;
  }
  return planes;
}

}  // namespace game
struct Options {
  int generations = 2, workers = 2, gamesPerWorker = 6;
  int epochs = 2, arenaGames = 6;
  int batch = 32, microBatches = 2;
  double exploration = 0.2;
};
class TowerImpl : public torch::nn::Module {
 public:
  TowerImpl(int64_t channels, int64_t outputs) {
    body = register_module(
        "body", torch::nn::Sequential(
                    torch::nn::Conv2d(torch::nn::Conv2dOptions(game::kPlanes, channels, 3).padding(1)),
                    torch::nn::BatchNorm2d(channels), torch::nn::ReLU(),
                    torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, channels, 3).padding(1)),
                    torch::nn::ReLU(), torch::nn::Flatten(), torch::nn::Dropout(0.2)));
    head = register_module("head", torch::nn::Linear(channels * game::kSquares, outputs));
  }

  torch::Tensor forward(const torch::Tensor& planes) { return head->forward(body->forward(planes)); }
 private:
  torch::nn::Sequential body{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Tower);

struct Position {
  game::Board board;
  std::vector<int> legal;
  torch::Tensor after;  // planes of the position that was reached
  int action = 0;
  float outcome = 0.0f;
};

using History = std::vector<Position>;
class Replay {
 public:
  void append(History&& game) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (Position& p : game) positions_.push_back(std::move(p));
  }
  const History& positions() const { return positions_; }
 private:
  std::mutex mutex_;
  History positions_;
};

class SelfPlay {
 public:
  SelfPlay(Tower value, torch::Device device, const Options& options)
      : value_(std::move(value)), device_(device), options_(options) {}

  void run(Replay& replay, uint64_t seed) {
    torch::NoGradGuard guard;
    value_->eval();
    std::vector<std::thread> threads;
    for (int w = 0; w < options_.workers; ++w) {
      threads.emplace_back([this, &replay, seed, w] {
        std::mt19937 rng(seed * 31 + static_cast<uint64_t>(w));
        for (int g = 0; g < options_.gamesPerWorker; ++g) {
          History history;
          game::Board board = game::Board::start();
          bool over = false;
          while (!over) {
            Position position;
            position.board = board;
            position.legal = board.legalActions();
            if (position.legal.empty()) break;
            torch::Tensor planes = game::encode(successors(board, position.legal)).to(device_);
            torch::Tensor scores = value_->forward(planes).squeeze(1);  // EXPECT: torch-thread-local-guard
            const int64_t pick = choose(scores, rng);
            position.action = position.legal[static_cast<size_t>(pick)];
            position.after = planes[pick];  // EXPECT: torch-view-pins-storage
            over = board.apply(position.action);
            board = board.flipped();
            history.push_back(std::move(position));
          }
          settle(history);
          replay.append(std::move(history));
        }
      });
    }
    for (std::thread& t : threads) t.join();
    value_->train();
  }

 private:
  // Values are those of the opponent, who moves next.
  int64_t choose(const torch::Tensor& scores, std::mt19937& rng) const {
    if (std::uniform_real_distribution<double>(0.0, 1.0)(rng) < options_.exploration) {
      return std::uniform_int_distribution<int64_t>(0, scores.size(0) - 1)(rng);
    }
    return scores.argmin().item<int64_t>();  // RIGHT: torch-sync-in-loop
  }

  static std::vector<game::Board> successors(const game::Board& board, const std::vector<int>& legal) {
    std::vector<game::Board> next(legal.size(), board);
    for (size_t i = 0; i < legal.size(); ++i) {
      next[i].apply(legal[i]);
      next[i] = next[i].flipped();
    }
    return next;
  }

  static void settle(History& history) {
    float outcome = 1.0f;
    for (auto it = history.rbegin(); it != history.rend(); ++it, outcome = -outcome) it->outcome = outcome;
  }

  Tower value_;
  torch::Device device_;
  Options options_;
};

struct Curves {
  std::vector<torch::Tensor> policy, value;
  double policyMean = 0.0;
};

class Learner {
 public:
  Learner(Tower policy, Tower value, torch::Device device, const Options& options)
      : policy_(policy), value_(value), device_(device), options_(options),
        policyOptimizer_(policy->parameters(), torch::optim::AdamOptions(1e-3)),
        valueOptimizer_(value->parameters(), torch::optim::SGDOptions(1e-2).momentum(0.9)) {}

  void fitPolicy(const History& positions) {
    policy_->train();
    double running = 0.0;
    int steps = 0;
    policyOptimizer_.zero_grad();
    for (size_t begin = 0; begin < positions.size(); begin += options_.batch, ++steps) {
      std::vector<game::Board> boards;
      std::vector<int64_t> actions;
      for (size_t i = begin; i < std::min(positions.size(), begin + options_.batch); ++i) {
        boards.push_back(positions[i].board);
        actions.push_back(positions[i].action);
      }
      torch::Tensor logits = policy_->forward(game::encode(boards).to(device_));
      torch::Tensor loss = torch::cross_entropy_loss(logits, torch::tensor(actions, device_));
      loss.div(options_.microBatches).backward();  // RIGHT: torch-missing-zero-grad
      if ((steps + 1) % options_.microBatches == 0) {
        policyOptimizer_.step();
        policyOptimizer_.zero_grad();
      }
      running += loss.item<double>();  // EXPECT: torch-sync-in-loop
      curves_.policy.push_back(loss.detach());  // RIGHT: torch-retained-graph
    }
    curves_.policyMean = running / std::max(1, steps);
  }

  void fitValue(History positions, std::mt19937& rng) {  // EXPECT: torch-dataset-copied
    value_->train();
    std::uniform_int_distribution<size_t> draw(0, positions.size() - 1);
    for (size_t seen = 0; seen < positions.size(); seen += options_.batch) {
      std::vector<torch::Tensor> planes;
      std::vector<float> outcomes;
      for (int i = 0; i < options_.batch; ++i) {
        const Position& p = positions[draw(rng)];
        planes.push_back(p.after);
        outcomes.push_back(-p.outcome);
      }
      torch::Tensor predicted = torch::tanh(value_->forward(torch::stack(planes)).squeeze(1));
      torch::Tensor loss = torch::mse_loss(predicted, torch::tensor(outcomes, device_));
      loss.backward();  // EXPECT: torch-missing-zero-grad
      valueOptimizer_.step();
      curves_.value.push_back(loss);  // EXPECT: torch-retained-graph
    }
  }

  const Curves& curves() const { return curves_; }
 private:
  Tower policy_, value_;
  torch::Device device_;
  Options options_;
  torch::optim::Adam policyOptimizer_;
  torch::optim::SGD valueOptimizer_;
  Curves curves_;
};

class Arena {
 public:
  Arena(Tower policy, Tower value, torch::Device device) : policy_(policy), value_(value), device_(device) {}

  // Counts the games won against a player that moves at random.
  int match(int games, uint64_t seed) {
    int wins = 0;
    policy_->eval();  // EXPECT: torch-partial-eval-mode
    std::thread referee([&] {
      torch::NoGradGuard guard;
      std::mt19937 rng(seed);
      for (int g = 0; g < games; ++g) wins += playOne(rng) ? 1 : 0;
    });
    referee.join();
    policy_->train();
    return wins;
  }

  // Mean entropy of the policy, and value, over a set of positions.
  std::pair<double, double> summary(const History& positions) {
    policy_->eval();  // RIGHT: torch-partial-eval-mode
    value_->eval();
    torch::NoGradGuard guard;
    std::vector<game::Board> boards;
    for (size_t i = 0; i < positions.size(); i += 4) boards.push_back(positions[i].board);
    torch::Tensor planes = game::encode(boards).to(device_);
    torch::Tensor logs = torch::log_softmax(policy_->forward(planes), 1);
    const double value = value_->forward(planes).mean().item<double>();
    policy_->train();
    value_->train();
    return {-logs.exp().mul_(logs).sum(1).mean().item<double>(), value};
  }

 private:
  bool playOne(std::mt19937& rng) {
    game::Board board = game::Board::start();
    for (bool ours = true;; ours = !ours) {
      const std::vector<int> legal = board.legalActions();
      if (legal.empty()) return !ours;
      int action = legal[std::uniform_int_distribution<size_t>(0, legal.size() - 1)(rng)];
      if (ours) action = decide(board, legal, action);
      if (board.apply(action)) return ours;
      board = board.flipped();
    }
  }

  int decide(const game::Board& board, const std::vector<int>& legal, int fallback) {
    torch::Tensor planes = game::encode({board}).to(device_);
    torch::Tensor prior = policy_->forward(planes)[0];  // RIGHT: torch-thread-local-guard
    const bool losing = value_->forward(planes).item<float>() < -0.9f;
    std::vector<uint8_t> closed(game::kActions, 1);
    for (int action : legal) closed[static_cast<size_t>(action)] = 0;
    torch::Tensor mask = torch::tensor(closed, torch::TensorOptions(torch::kBool).device(device_));
    prior.masked_fill(mask, -std::numeric_limits<float>::infinity());  // EXPECT: torch-discarded-result
    const int best = static_cast<int>(prior.argmax().item<int64_t>());
    return losing || closed[static_cast<size_t>(best)] != 0 ? fallback : best;
  }

  Tower policy_, value_;
  torch::Device device_;
};

void countOpenings(const History& positions, std::vector<int>& counts) {
  const game::Cells first = game::Board::start().cells;
  for (const Position& p : positions) {
    if (p.board.cells == first) ++counts[static_cast<size_t>(p.action)];
  }
}

// Larger batches pay off once the networks live on the accelerator.
int batchFor(Tower& tower, int requested) {
  const torch::Tensor weight = tower->parameters().front();
  return weight.device() == torch::Device(torch::kCUDA) ? requested * 8 : requested;  // EXPECT: torch-device-comparison
}

int main(int argc, char** argv) {
  Options options;
  if (argc > 1) options.generations = std::atoi(argv[1]);
  torch::manual_seed(3);
  torch::set_num_threads(1);
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;

  Tower policy(16, game::kActions), value(16, 1);
  policy->to(device);  // RIGHT: torch-discarded-result
  value->to(device);
  options.batch = batchFor(policy, options.batch);

  Learner learner(policy, value, device, options);
  SelfPlay selfPlay(value, device, options);
  Arena arena(policy, value, device);
  Replay replay;
  std::mt19937 rng(17);
  std::vector<torch::Tensor> showcase(3, torch::Tensor());  // RIGHT: torch-fill-alias
  for (int generation = 0; generation < options.generations; ++generation) {
    selfPlay.run(replay, static_cast<uint64_t>(generation));
    const History& positions = replay.positions();
    std::vector<int> openings(game::kActions, 0);
    std::thread counter(countOpenings, std::cref(positions), std::ref(openings));  // RIGHT: torch-dataset-copied
    learner.fitPolicy(positions);
    for (int epoch = 0; epoch < options.epochs; ++epoch) learner.fitValue(positions, rng);
    counter.join();

    const size_t slot = static_cast<size_t>(generation) % showcase.size();
    showcase[slot] = positions.back().after.clone();  // RIGHT: torch-view-pins-storage
    const bool resident = showcase[slot].device().type() == device.type();  // RIGHT: torch-device-comparison
    const auto stats = arena.summary(positions);
    const int wins = arena.match(options.arenaGames, static_cast<uint64_t>(generation) + 99);
    std::cout << "generation " << generation << " positions " << positions.size() << " policy "
              << learner.curves().policyMean << " value " << learner.curves().value.back().item<double>()
              << " entropy " << stats.first << " mean " << stats.second << " wins " << wins << "/"
              << options.arenaGames << (resident ? "" : " (showcase moved)") << " openings "
              << std::count_if(openings.begin(), openings.end(), [](int n) { return n > 0; }) << "\n";
  }
  return 0;
}
