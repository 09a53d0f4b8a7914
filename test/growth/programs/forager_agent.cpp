// A deep Q-network that learns to forage: many small worlds run side by side,
// the agent moves on a torus and eats food that grows back elsewhere. Steps go
// into a replay memory, from which the network learns.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

namespace {

constexpr int64_t kGrid = 16;
constexpr int64_t kFood = 6;
constexpr int64_t kActions = 4;
constexpr int64_t kWorlds = 40;
constexpr int64_t kBatch = 64;
constexpr size_t kMemory = 5000;
constexpr int kEpisode = 60;

struct Place {
  int64_t row = 0;
  int64_t column = 0;
  bool operator==(const Place &other) const {
    return row == other.row && column == other.column;
  }
};

class World {
public:
  explicit World(uint32_t seed) : random_(seed) { reset(); }

  void reset() {
    agent_ = anywhere();
    food_.clear();
    for (int64_t i = 0; i < kFood; ++i)
      food_.push_back(anywhere());
    age_ = 0;
    gain_ = 0.0;
  }

  // Moves the agent; returns the reward.
  double act(int64_t action) {
    static constexpr int64_t kRow[kActions] = {-1, 1, 0, 0};
    static constexpr int64_t kColumn[kActions] = {0, 0, -1, 1};
    agent_.row = (agent_.row + kRow[action] + kGrid) % kGrid;
    agent_.column = (agent_.column + kColumn[action] + kGrid) % kGrid;
    double reward = -0.02;
    for (Place &place : food_) {
      if (place == agent_) {
        reward += 1.0;
        place = anywhere();
      }
    }
    ++age_;
    gain_ += reward;
    return reward;
  }

  bool over() const { return age_ >= kEpisode; }
  double gain() const { return gain_; }

  // Three planes, centred on the agent: food, the closeness to the agent, and
  // the time left.
  torch::Tensor observe() const {
    torch::Tensor planes = torch::zeros({3, kGrid, kGrid});
    auto cell = planes.accessor<float, 3>();
    for (const Place &place : food_)
      cell[0][shift(place.row - agent_.row)]
          [shift(place.column - agent_.column)] = 1.0F;
    cell[1][kGrid / 2][kGrid / 2] = 1.0F;
    planes[2].fill_(1.0 - static_cast<double>(age_) / kEpisode);
    return planes;
  }

private:
  static int64_t shift(int64_t offset) {
    return (offset + kGrid / 2 + kGrid) % kGrid;
  }

  Place anywhere() {
    return {static_cast<int64_t>(random_() % kGrid),
            static_cast<int64_t>(random_() % kGrid)};
  }

  std::mt19937 random_;
  Place agent_;
  std::vector<Place> food_;
  int age_ = 0;
  double gain_ = 0.0;
};

struct Transition {
  torch::Tensor before;
  torch::Tensor after;
  int64_t action = 0;
  float reward = 0.0F;
  bool last = false;
};

class ReplayMemory {
public:
  void remember(Transition transition) {
    transitions_.push_back(std::move(transition));
    if (transitions_.size() > kMemory)
      transitions_.pop_front();
  }

  std::vector<Transition> recall(std::mt19937 &random) const {
    std::vector<Transition> picked;
    picked.reserve(kBatch);
    for (int64_t i = 0; i < kBatch; ++i)
      picked.push_back(transitions_[random() % transitions_.size()]);
    return picked;
  }

  size_t size() const { return transitions_.size(); }

private:
  std::deque<Transition> transitions_;
};

struct QNetworkImpl : torch::nn::Module {
  QNetworkImpl()
      : look(torch::nn::Conv2dOptions(3, 16, 3).padding(1)),
        think(torch::nn::Conv2dOptions(16, 16, 3).stride(2).padding(1)),
        value(16 * 8 * 8, 96), choose(96, kActions) {
    register_module("look", look);
    register_module("think", think);
    register_module("value", value);
    register_module("choose", choose);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(think(torch::relu(look(x))));
    return choose(torch::relu(value(x.flatten(1))));
  }

  torch::nn::Conv2d look, think;
  torch::nn::Linear value, choose;
};
TORCH_MODULE(QNetwork);

void copyWeights(QNetwork &to, const QNetwork &from) {
  torch::NoGradGuard guard;
  const std::vector<torch::Tensor> source = from->parameters();
  std::vector<torch::Tensor> target = to->parameters();
  for (size_t i = 0; i < source.size(); ++i)
    target[i].copy_(source[i]);
}

torch::Tensor temporalLoss(QNetwork &online, QNetwork &target,
                           const std::vector<Transition> &picked) {
  std::vector<torch::Tensor> before, after;
  std::vector<int64_t> action;
  std::vector<float> reward, going_on;
  for (const Transition &transition : picked) {
    before.push_back(transition.before);
    after.push_back(transition.after);
    action.push_back(transition.action);
    reward.push_back(transition.reward);
    going_on.push_back(transition.last ? 0.0F : 1.0F);
  }
  const torch::Tensor value = online->forward(torch::stack(before))
                                  .gather(1, torch::tensor(action).unsqueeze(1))
                                  .squeeze(1);
  torch::NoGradGuard guard;
  const torch::Tensor next =
      std::get<0>(target->forward(torch::stack(after)).max(1));
  const torch::Tensor goal =
      torch::tensor(reward) + next * torch::tensor(going_on) * 0.95;
  torch::AutoGradMode enable(true);
  return torch::smooth_l1_loss(value, goal);
}

} // namespace

int main(int argc, char **argv) {
  int64_t iterations = 450;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--iterations") == 0)
      iterations = std::atoll(argv[i + 1]);

  torch::manual_seed(17);
  std::mt19937 random(17);
  std::vector<World> worlds;
  std::vector<torch::Tensor> views;
  for (int64_t i = 0; i < kWorlds; ++i) {
    worlds.emplace_back(1000 + static_cast<uint32_t>(i));
    views.push_back(worlds.back().observe());
  }

  QNetwork online, target;
  copyWeights(target, online);
  torch::optim::Adam optimizer(online->parameters(),
                               torch::optim::AdamOptions(1e-3));
  ReplayMemory memory;
  std::vector<double> gains;

  for (int64_t step = 1; step <= iterations; ++step) {
    const double curiosity =
        std::max(0.1, 1.0 - static_cast<double>(step) / 200);
    torch::Tensor best;
    {
      torch::NoGradGuard guard;
      best = online->forward(torch::stack(views)).argmax(1);
    }
    for (int64_t i = 0; i < kWorlds; ++i) {
      const bool explore = random() % 1000 < curiosity * 1000;
      const int64_t action = explore ? static_cast<int64_t>(random() % kActions)
                                     : best[i].item<int64_t>();
      const double reward = worlds[i].act(action);
      const bool over = worlds[i].over();
      torch::Tensor after = worlds[i].observe();
      memory.remember(
          {views[i], after, action, static_cast<float>(reward), over});
      if (over) {
        gains.push_back(worlds[i].gain());
        worlds[i].reset();
        after = worlds[i].observe();
      }
      views[i] = after;
    }

    optimizer.zero_grad();
    const torch::Tensor loss =
        temporalLoss(online, target, memory.recall(random));
    loss.backward();
    optimizer.step();
    if (step % 25 == 0)
      copyWeights(target, online);
    if (step % 90 == 0) {
      double recent = 0.0;
      const size_t used = std::min<size_t>(gains.size(), kWorlds);
      for (size_t i = gains.size() - used; i < gains.size(); ++i)
        recent += gains[i] / static_cast<double>(used);
      std::printf("step %4lld  loss %.5f  gain %.3f  memory %zu\n",
                  static_cast<long long>(step), loss.item<double>(), recent,
                  memory.size());
    }
  }
  return 0;
}
