// RUN: %check_torch %s torch-element-access-in-loop %t -- -config="{CheckOptions: {torch-element-access-in-loop.Strict: true}}"
//
// With Strict the check also speaks of loops over the objects of a container. See also
// negatives-objects.cpp, which holds the same functions without the option.

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
    // CHECK-MESSAGES: :[[@LINE-1]]:57: warning: elements of 'policy' are read one at a time
  }
  Tensor target() const {
    Tensor result = torch::zeros({(int64_t)actions.size()});
    for (size_t i = 0; i < actions.size(); ++i) result[i] = actions[i].probability;
    // CHECK-MESSAGES: :[[@LINE-1]]:49: warning: elements of 'result' are written one at a time
    return result;
  }
};
float best(const Player &player, const Tensor &values) {
  const auto legal = player.legal();
  const int count = (int)legal.size();
  float most = 0;
  for (int i = 0; i < count; ++i) most = std::max(most, values[i].item<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:57: warning: elements of 'values' are read one at a time
  return most;
}
