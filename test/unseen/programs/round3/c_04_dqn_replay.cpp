// Deep Q-learning with a replay buffer: a cart on a rail has to be kept near a moving mark.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <deque>
#include <random>
#include <vector>

namespace {

constexpr int64_t kObs = 4, kActions = 3, kBatch = 32;
constexpr size_t kCapacity = 500, kWarmup = 64;

struct QNetImpl : torch::nn::Module {
  QNetImpl()
      : hidden(register_module("hidden", torch::nn::Linear(kObs, 48))),
        value(register_module("value", torch::nn::Linear(48, kActions))) {}
  torch::Tensor forward(const torch::Tensor& obs) { return value(torch::relu(hidden(obs))); }
  torch::nn::Linear hidden, value;
};
TORCH_MODULE(QNet);

struct Transition {
  torch::Tensor state, next;
  int64_t action;
  float reward;
  bool done;
};
struct Batch { torch::Tensor states, actions, rewards, nexts, live; };

class ReplayBuffer {
 public:
  explicit ReplayBuffer(torch::Device device) : device_(device) {}
  void push(Transition t) {
    if (data_.size() == kCapacity)
      data_.pop_front();
    data_.push_back(std::move(t));  // RIGHT: torch-retained-graph observations have no graph, and the buffer is bounded
  }
  size_t size() const { return data_.size(); }

  Batch sample(int64_t n) {
    std::uniform_int_distribution<size_t> pick(0, data_.size() - 1);
    std::vector<torch::Tensor> states, nexts;
    std::vector<int64_t> actions;
    std::vector<float> rewards, live;
    for (int64_t i = 0; i < n; ++i) {
      const auto& t = data_[pick(random_)];
      states.push_back(t.state.to(device_));  // EXPECT: torch-repeated-transfer
      nexts.push_back(t.next);
      actions.push_back(t.action);
      rewards.push_back(t.reward);
      live.push_back(t.done ? 0.0f : 1.0f);
    }
    return {torch::stack(states), torch::tensor(actions).to(device_), torch::tensor(rewards).to(device_),
            torch::stack(nexts).to(device_), torch::tensor(live).to(device_)};  // RIGHT: torch-repeated-transfer one copy of a whole batch
  }

 private:
  torch::Device device_;
  std::deque<Transition> data_;
  std::mt19937 random_{11};
};

class Rail {
 public:
  torch::Tensor reset() { return x_ = 1, v_ = 0, t_ = 0, observe(); }
  std::tuple<torch::Tensor, float, bool> step(int64_t action) {
    v_ = 0.9 * v_ + 0.1 * double(action - 1);
    x_ += v_;
    double error = std::abs(x_ - mark());
    return {observe(), float(-error), ++t_ == 40 || error > 5};
  }

 private:
  double mark() const { return std::sin(0.1 * t_); }
  torch::Tensor observe() const { return torch::tensor({float(x_), float(v_), float(mark()), float(t_ / 40)}); }
  double x_ = 1, v_ = 0, t_ = 0;
};

class Agent {
 public:
  explicit Agent(torch::Device device) : device_(device) {
    online_->to(device);
    target_->to(device);
    torch::NoGradGuard no_grad;
    auto from = online_->parameters(), to = target_->parameters();
    for (size_t i = 0; i < to.size(); ++i)
      to[i].copy_(from[i]);  // RIGHT: torch-parameter-copy written in place, under a guard
  }
  int64_t act(const torch::Tensor& obs, double epsilon) {
    if (std::uniform_real_distribution<>(0, 1)(random_) < epsilon)
      return int64_t(random_() % kActions);
    auto q = online_->forward(obs.to(device_).unsqueeze(0));  // EXPECT: torch-missing-no-grad
    return q.argmax(1).item<int64_t>();
  }
  torch::Tensor td_error(const Batch& b) {
    torch::Tensor goal;
    {
      torch::NoGradGuard no_grad;
      auto best = target_->forward(b.nexts).amax(1);  // RIGHT: torch-missing-no-grad the goal is made under a guard
      goal = b.rewards + 0.97 * b.live * best;
    }
    return online_->forward(b.states).gather(1, b.actions.unsqueeze(1)).squeeze(1) - goal;
  }
  void sync_target() {
    for (size_t i = 0; i < target_->parameters().size(); ++i)
      target_->parameters()[i] = online_->parameters()[i].clone();  // EXPECT: torch-parameter-copy
  }
  std::vector<torch::Tensor> parameters() { return online_->parameters(); }

 private:
  torch::Device device_;
  QNet online_, target_;
  std::mt19937 random_{5};
};

}  // namespace

int main() {
  torch::manual_seed(2);
  torch::set_num_threads(1);
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Agent agent(device);
  ReplayBuffer replay(device);
  Rail rail;
  torch::optim::Adam optimizer(agent.parameters(), torch::optim::AdamOptions(1e-3));
  auto worst = torch::zeros({}, device);
  std::vector<double> losses;
  auto obs = rail.reset();
  for (int step = 0; step < 600; ++step) {
    auto action = agent.act(obs, 0.2);
    auto [next, reward, done] = rail.step(action);
    replay.push({obs, next, action, reward, done});
    obs = done ? rail.reset() : next;
    if (replay.size() < kWarmup)
      continue;
    auto td = agent.td_error(replay.sample(kBatch));
    auto loss = td.pow(2).mean();
    loss.backward();
    optimizer.step();  // EXPECT: torch-missing-zero-grad
    losses.push_back(loss.item<double>());  // RIGHT: torch-retained-graph a number
    worst = torch::max(worst, td.abs().amax());  // EXPECT: torch-retained-graph
    if (step % 50 == 0)
      agent.sync_target();
    if (done) continue;  // a new episode
    optimizer.zero_grad();
  }
  std::printf("loss %.4f, worst error %.3f\n", losses.back(), worst.item<double>());
}
