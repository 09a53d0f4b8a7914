// RUN: %check_torch %s torch-element-access-in-loop %t
//
// One number for each object of a container, in a loop that nothing repeats: the option Strict
// speaks (strict.cpp). A loop around it may repeat it a thousand times.

#include <torch/torch.h>

using torch::Tensor;

struct Action {
  std::string name;
  float probability;
};
struct Player {
  std::vector<Action> actions;
  std::vector<Action *> legal() const;
  void show(const Tensor &policy) {
    size_t i = 0;
    for (Action &action : actions) action.probability = policy[0][i++].item<float>();
  }
  Tensor target() const {
    Tensor result = torch::zeros({(int64_t)actions.size()});
    for (size_t i = 0; i < actions.size(); ++i) result[i] = actions[i].probability;
    return result;
  }
};
float best(const Player &player, const Tensor &values) {
  const auto legal = player.legal();
  const int count = (int)legal.size();
  float most = 0;
  for (int i = 0; i < count; ++i) most = std::max(most, values[i].item<float>());
  return most;
}

void each(std::vector<std::vector<Action>> &all, const Tensor &policy) {
  for (auto &actions : all)
    for (size_t i = 0; i < actions.size(); ++i) actions[i].probability = policy[i].item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:74: warning: elements of 'policy' are read one at a time
}
