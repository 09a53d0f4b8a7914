// RUN: %check_torch %s torch-repeat-for-broadcast %t
//
// What is repeated ends with the statement, and no graph has saved it: what is
// written later does not show in it.

#include <torch/torch.h>

using torch::Tensor;

void drift(Tensor pos, Tensor vel, int64_t n, int steps) {
  torch::NoGradGuard guard;
  for (int i = 0; i < steps; ++i) {
    auto d = pos.unsqueeze(0) - pos.unsqueeze(1).repeat({1, n, 1});
    // CHECK-MESSAGES: :[[@LINE-1]]:50: warning: 'repeat' copies a tensor along dimensions of size one
    vel.add_(d.sum(1));
    pos.add_(vel);
  }
}
struct Swarm {
  Tensor pos = torch::rand({4096, 3});
  void step(int64_t n) {
    torch::InferenceMode guard;
    pos.add_((pos.unsqueeze(1).repeat({1, n, 1}) * 2).sum(1));
    // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'repeat' copies
  }
};

// A graph may save it as it is now.
void recorded(Tensor pos, Tensor w, int64_t n, int steps) {
  for (int i = 0; i < steps; ++i) {
    auto d = w * pos.unsqueeze(1).repeat({1, n, 1});
    d.sum().backward();
    torch::NoGradGuard guard;
    pos.add_(d.sum(1));
  }
}
// A variable has it when that is written.
void named(Tensor pos, int64_t n, int steps) {
  torch::NoGradGuard guard;
  for (int i = 0; i < steps; ++i) {
    auto old = pos.unsqueeze(1).repeat({1, n, 1});
    pos.add_(1);
    std::cout << (pos - old).sum();
  }
}
// In the same statement.
static Tensor moved(Tensor &pos) { return pos.add_(1); }
void meanwhile(Tensor pos, int64_t n, int steps) {
  torch::NoGradGuard guard;
  for (int i = 0; i < steps; ++i) {
    std::cout << (pos.unsqueeze(1).repeat({1, n, 1}) + moved(pos)).sum();
    pos.sub_(pos.unsqueeze(0).repeat({n, 1, 1}));
  }
}
