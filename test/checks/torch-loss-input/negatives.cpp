// RUN: %check_torch %s torch-loss-input %t
//
// Losses that are given what they take.

#include <torch/torch.h>

namespace F = torch::nn::functional;
using torch::Tensor;

Tensor right(const Tensor &scores, const Tensor &labels, const Tensor &wanted) {
  return F::cross_entropy(scores, labels) + torch::nll_loss(torch::log_softmax(scores, 1), labels) +
         torch::nll_loss(scores.softmax(1).log(), labels) +
         torch::binary_cross_entropy(torch::sigmoid(scores), wanted) +
         torch::binary_cross_entropy_with_logits(scores, wanted);
}
// log_softmax() of log_softmax() is the same.
Tensor harmless(const Tensor &scores, const Tensor &labels) {
  return F::cross_entropy(torch::log_softmax(scores, 1), labels);
}
// Probabilities as what is wanted: distillation, labels that are not hard.
Tensor distilled(const Tensor &student, const Tensor &teacher) {
  return F::kl_div(torch::log_softmax(student, 1), torch::softmax(teacher, 1)) +
         F::cross_entropy(student, torch::softmax(teacher, 1)) +
         torch::binary_cross_entropy_with_logits(student, torch::sigmoid(teacher));
}
// Computed with since: who knows on what scale it is.
Tensor changed(const Tensor &scores, const Tensor &labels, const Tensor &mask) {
  const Tensor shares = torch::softmax(scores, 1);
  return F::cross_entropy(shares * 20, labels) + F::cross_entropy(shares.matmul(mask), labels) +
         torch::nll_loss(torch::log(shares + 1e-8), labels) + F::cross_entropy(-shares, labels);
}
// Scores of attention are on their way to others.
Tensor attended(const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &labels) {
  const Tensor weights = torch::softmax(query.matmul(key.transpose(-2, -1)), -1);
  return F::cross_entropy(weights.matmul(value), labels);
}
// On one way they are scores, on the other probabilities.
struct EitherImpl : torch::nn::Module {
  EitherImpl() : out(register_module("out", torch::nn::Linear(8, 4))) {}
  Tensor forward(const Tensor &x) {
    const Tensor scores = out->forward(x);
    return is_training() ? scores : torch::softmax(scores, 1);
  }
  torch::nn::Linear out;
};
TORCH_MODULE(Either);
Tensor either(Either &net, const Tensor &x, const Tensor &labels) {
  return F::cross_entropy(net->forward(x), labels);
}
// What comes from elsewhere.
Tensor unknown(const Tensor &x, const std::vector<Tensor> &all, const Tensor &labels) {
  return torch::nll_loss(x, labels) + torch::nll_loss(all[0], labels) + torch::binary_cross_entropy(x, labels);
}
// A variable that is another tensor by then; what is written over.
Tensor later(const Tensor &scores, const Tensor &labels) {
  Tensor x = torch::softmax(scores, 1);
  const Tensor best = x.argmax(1);
  x = scores * 2;
  Tensor y = torch::sigmoid(scores);
  y.copy_(scores);
  return F::cross_entropy(x, best) + torch::binary_cross_entropy_with_logits(y, labels);
}

// A Sequential that ends with another layer, and one that is filled in two ways.
struct EncoderImpl : torch::nn::Module {
  explicit EncoderImpl(bool logits) {
    if (logits)
      choice = torch::nn::Sequential(torch::nn::Linear(8, 4));
    else
      choice = torch::nn::Sequential(torch::nn::Linear(8, 4), torch::nn::Softmax(1));
    register_module("choice", choice);
  }
  torch::nn::Sequential gate{register_module(
      "gate", torch::nn::Sequential(torch::nn::Softmax(1), torch::nn::Linear(8, 4)))};
  torch::nn::Sequential choice{nullptr};
};
TORCH_MODULE(Encoder);
Tensor encode(Encoder &net, const Tensor &x, const Tensor &labels) {
  return F::cross_entropy(net->gate->forward(x), labels) + F::cross_entropy(net->choice->forward(x), labels);
}

// The same with ?: in other places.
Tensor chosen(torch::nn::Linear &layer, const Tensor &x, const Tensor &labels, bool finish) {
  const Tensor scores = layer->forward(x);
  const Tensor input = finish ? torch::log_softmax(scores, 1) : scores;
  Tensor other;
  other = finish ? scores.log_softmax(1) : scores;
  return torch::nll_loss(input, labels) + torch::nll_loss(other, labels);
}
