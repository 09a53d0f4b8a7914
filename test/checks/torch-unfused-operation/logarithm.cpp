// RUN: %check_torch %s torch-unfused-operation %t
//
// Logarithms of what softmax() and sigmoid() have made, in loops and outside.

#include <torch/torch.h>

namespace F = torch::nn::functional;
using torch::Tensor;

Tensor atOnce(const Tensor &scores) {
  return torch::log(torch::softmax(scores, 1));
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: this takes the logarithm of what softmax() has made, in two passes; where softmax() rounds to zero, the logarithm is infinite, or cut off, and so is its gradient; 'log_softmax' computes both from the scores, and exactly [torch-unfused-operation]
}
Tensor byMethods(const Tensor &scores) {
  return scores.sigmoid().log();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: this takes the logarithm of what sigmoid() has made, {{.*}} 'torch::log_sigmoid' computes
}
// Chosen first: log_softmax() of all, and then the choice.
Tensor ofActions(const Tensor &scores, const Tensor &actions) {
  const Tensor policy = torch::softmax(scores, -1);
  const Tensor chosen = policy.gather(1, actions.unsqueeze(1)).squeeze(1);
  return -torch::log(chosen).mean();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: this takes the logarithm
  // CHECK-MESSAGES: :[[@LINE-4]]:25: note: softmax() is applied here
}
Tensor loss(const Tensor &scores, const Tensor &wanted) {
  const Tensor guess = torch::sigmoid(scores);
  return torch::binary_cross_entropy(guess, wanted);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: binary_cross_entropy() takes the logarithm of what sigmoid() has made, {{.*}} 'binary_cross_entropy_with_logits' computes both from the scores
}

// A network that ends with it, a member, a layer of its own.
struct PolicyImpl : torch::nn::Module {
  PolicyImpl() : out(register_module("out", torch::nn::Linear(8, 4))) {}
  Tensor forward(const Tensor &x) { return softmax(out(x)); }
  torch::nn::Linear out;
  torch::nn::Softmax softmax{1};
};
TORCH_MODULE(Policy);
struct Agent {
  Policy net;
  Tensor lossOf(const Tensor &states, const Tensor &weights) {
    const auto probabilities = net->forward(states);
    return -(weights * probabilities.log()).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: this takes the logarithm
  }
};
Tensor run(Agent &agent, const Tensor &states, const Tensor &weights) { return agent.lossOf(states, weights); }

template <class Criterion> Tensor byLayer(Criterion &criterion, const Tensor &scores, const Tensor &wanted) {
  return criterion(torch::sigmoid(scores), wanted);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: binary_cross_entropy() takes
}
Tensor ofLayer(const Tensor &scores, const Tensor &wanted) {
  torch::nn::BCELoss criterion;
  return byLayer(criterion, scores, wanted);
}

// Kept from zero, changed, of something else.
Tensor right(const Tensor &scores, const Tensor &x, const std::vector<Tensor> &many) {
  const Tensor shares = torch::softmax(scores, 1);
  return torch::log(shares + 1e-8) + torch::log(shares.clamp_min(1e-6)) + torch::log(torch::exp(x) + 1) +
         torch::log(shares.mean(0)) + torch::log(x) + torch::log_softmax(scores, 1) +
         torch::log(torch::stack(many).mean(0)) + torch::log1p(-shares);
}
Tensor rightLoss(const Tensor &scores, const Tensor &wanted) {
  return torch::binary_cross_entropy_with_logits(scores, wanted) +
         torch::binary_cross_entropy(torch::softmax(scores, 1), wanted) + torch::mse_loss(torch::sigmoid(scores), wanted);
}
