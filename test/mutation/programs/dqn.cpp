// Deep Q-learning with a replay memory and a target network.
#include <torch/torch.h>

#include <cstdint>
#include <deque>
#include <iostream>
#include <random>
#include <vector>

struct Transition {
  torch::Tensor state;
  int64_t action;
  float reward;
  torch::Tensor next;
};

torch::nn::Sequential make_net() {
  return torch::nn::Sequential(torch::nn::Linear(64, 256), torch::nn::ReLU(),
                               torch::nn::Linear(256, 4));
}

class GridWorld {
public:
  GridWorld() { reset(); }
  void reset() { x = y = 0; }
  torch::Tensor observe() const {
    auto board = torch::zeros({64});
    board[y * 8 + x] = 1;
    return board;
  }
  float act(int64_t action) {
    if (action == 0 && x < 7) ++x;
    if (action == 1 && x > 0) --x;
    if (action == 2 && y < 7) ++y;
    if (action == 3 && y > 0) --y;
    return done() ? 1.F : -0.01F;
  }
  bool done() const { return x == 7 && y == 7; }

private:
  int x = 0, y = 0;
};

class Agent {
public:
  explicit Agent(torch::Device device)
      : device(device), online(make_net()), target(make_net()),
        optimizer(online->parameters(), torch::optim::AdamOptions(1e-3)) {
    online->to(device);
    target->to(device);
    target->eval();
    synchronize();
  }

  int64_t choose(const torch::Tensor &state, double epsilon) {
    if (std::uniform_real_distribution<>(0, 1)(random) < epsilon)
      return static_cast<int64_t>(random() % 4);
    torch::NoGradGuard no_grad;
    return online->forward(state.to(device).unsqueeze(0)).argmax(1).item<int64_t>();
  }

  void remember(Transition transition) {
    memory.push_back(std::move(transition));
    if (memory.size() > 10000)
      memory.pop_front();
  }

  void learn(int64_t batch) {
    if (static_cast<int64_t>(memory.size()) < batch)
      return;
    std::vector<torch::Tensor> states, nexts;
    std::vector<int64_t> actions;
    std::vector<float> rewards;
    for (int64_t i = 0; i < batch; ++i) {
      const auto &pick = memory[random() % memory.size()];
      states.push_back(pick.state);
      nexts.push_back(pick.next);
      actions.push_back(pick.action);
      rewards.push_back(pick.reward);
    }
    auto q = online->forward(torch::stack(states).to(device))
                 .gather(1, torch::tensor(actions).to(device).unsqueeze(1))
                 .squeeze(1);
    torch::Tensor best;
    {
      torch::NoGradGuard no_grad;
      best = std::get<0>(target->forward(torch::stack(nexts).to(device)).max(1));
    }
    auto wanted = torch::tensor(rewards).to(device) + 0.99 * best;
    auto loss = torch::smooth_l1_loss(q, wanted);
    optimizer.zero_grad();
    loss.backward();
    for (auto &p : online->parameters())
      p.mutable_grad().clamp_(-1, 1);
    optimizer.step();
    total_loss += loss.item<double>();
    mean_q = 0.99 * mean_q + 0.01 * q.mean().item<double>();
    updates++;
  }

  void synchronize() {
    torch::NoGradGuard no_grad;
    auto from = online->parameters(), to = target->parameters();
    for (size_t i = 0; i < from.size(); ++i)
      to[i].copy_(from[i]);
  }

  // The value of each field of the board.
  std::vector<float> values() {
    torch::NoGradGuard no_grad;
    online->eval();
    std::vector<float> result;
    auto board = torch::zeros({64}, device);
    for (int64_t field = 0; field < 64; ++field) {
      board.zero_();
      board[field] = 1;
      result.push_back(online->forward(board.unsqueeze(0)).max().item<float>());
    }
    online->train();
    return result;
  }

  double loss() const { return updates ? total_loss / updates : 0; }

private:
  torch::Device device;
  torch::nn::Sequential online, target;
  torch::optim::Adam optimizer;
  std::deque<Transition> memory;
  std::mt19937 random{5};
  double total_loss = 0;
  double mean_q = 0;
  long updates = 0;
};

int main() {
  Agent agent(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  GridWorld world;
  double epsilon = 1.0;
  long frame = 0;
  for (int episode = 0; episode < 300; ++episode) {
    world.reset();
    auto state = world.observe();
    for (int t = 0; t < 200 && !world.done(); ++t, ++frame) {
      auto action = agent.choose(state, epsilon);
      auto reward = world.act(action);
      auto next = world.observe();
      agent.remember({state, action, reward, next});
      state = next;
      agent.learn(64);
      if (frame % 500 == 0)
        agent.synchronize();
    }
    epsilon = std::max(0.05, epsilon * 0.98);
    std::cout << episode << ' ' << agent.loss() << '\n';
  }
  for (float value : agent.values())
    std::cout << value << ' ';
  std::cout << '\n';
}
