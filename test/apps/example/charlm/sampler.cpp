#include "sampler.h"

#include "corpus.h"

namespace charlm {

Sampler::Sampler(CharRNN model, double temperature)
    : model_(std::move(model)),
      temperature_(temperature),
      state_(model_->initial_state(1)) {}

char Sampler::next(char last) {
  auto input = torch::full(
      {1, 1},
      Corpus::index(last),
      torch::dtype(torch::kInt64).device(model_->head->weight.device()));
  torch::Tensor logits;
  std::tie(logits, state_) = model_->forward(input, state_);  // BAD: torch-undetached-hidden-state

  auto weights = torch::softmax(logits.view({-1}) / temperature_, 0);
  return Corpus::character(torch::multinomial(weights, 1).item<int64_t>());
}

std::string Sampler::generate(const std::string& prompt, int length) {
  std::string text = prompt;
  state_ = model_->initial_state(1);
  char last = ' ';
  for (char c : prompt) {
    next(last);
    last = c;
  }
  while (static_cast<int>(text.size()) < length) {
    last = next(last);
    text += last;
  }
  return text;
}

}  // namespace charlm
