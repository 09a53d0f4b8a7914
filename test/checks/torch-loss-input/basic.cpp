// RUN: %check_torch %s torch-loss-input %t
//
// Written where the loss is given them: what to write instead is known.

#include <torch/torch.h>

namespace F = torch::nn::functional;
using torch::Tensor;

Tensor twice(const Tensor &scores, const Tensor &labels) {
  return F::cross_entropy(torch::softmax(scores, 1), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: cross_entropy() applies log_softmax() to what it is given, and this is the result of softmax(): the loss cannot come near zero, and its gradients are a fraction of what they should be; give it what softmax() was given [torch-loss-input]
  // CHECK-FIXES: return F::cross_entropy(scores, labels);
}
Tensor twiceByMethod(const Tensor &scores, const Tensor &labels) {
  return torch::cross_entropy_loss(scores.view({-1, 10}).softmax(-1), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: cross_entropy() applies
  // CHECK-FIXES: return torch::cross_entropy_loss(scores.view({-1, 10}), labels);
}
Tensor sigmoidTwice(const Tensor &scores, const Tensor &labels) {
  return torch::binary_cross_entropy_with_logits(torch::sigmoid(scores), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:50: warning: binary_cross_entropy_with_logits() applies sigmoid() to what it is given, and this is the result of sigmoid(): {{.*}} give it what sigmoid() was given
  // CHECK-FIXES: return torch::binary_cross_entropy_with_logits(scores, labels);
}
Tensor noLogarithm(const Tensor &scores, const Tensor &labels) {
  return torch::nll_loss(torch::softmax(scores, 1), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: nll_loss() takes logarithms of probabilities, and this is the result of softmax(): without the logarithm, what is very wrong costs hardly more than what is nearly right; give it log_softmax() of the scores
  // CHECK-FIXES: return torch::nll_loss(torch::log_softmax(scores, 1), labels);
}
Tensor noLogarithmByMethod(const Tensor &scores, const Tensor &labels) {
  return F::nll_loss(scores.softmax(1), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: nll_loss() takes
  // CHECK-FIXES: return F::nll_loss(scores.log_softmax(1), labels);
}
Tensor distilled(const Tensor &student, const Tensor &teacher) {
  return F::kl_div(torch::softmax(student, 1), torch::softmax(teacher, 1));
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: kl_div() takes logarithms of probabilities
  // CHECK-FIXES: return F::kl_div(torch::log_softmax(student, 1), torch::softmax(teacher, 1));
}
