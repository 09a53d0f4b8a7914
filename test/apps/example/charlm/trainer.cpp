#include "trainer.h"

#include <iostream>

namespace charlm {

namespace F = torch::nn::functional;

Trainer::Trainer(CharRNN model, torch::Device device, TrainerOptions options)
    : model_(std::move(model)),
      device_(device),
      options_(options),
      optimizer_(
          model_->parameters(),
          torch::optim::AdamOptions(options.learning_rate)) {}

void Trainer::fit(const Corpus& training, const Corpus& validation) {
  for (int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
    const double loss = train_epoch(training);
    std::cout << "epoch " << epoch << " training " << loss << " validation "
              << validate(validation) << '\n';
  }
}

// Runs on from `state`, which is replaced by the state after the chunk.
torch::Tensor Trainer::loss_on(const Corpus::Chunk& chunk, State& state) {
  auto [logits, next] = model_->forward(chunk.input.to(device_), state);
  state = next;
  return F::cross_entropy(
      logits.flatten(0, 1), chunk.target.to(device_).flatten());
}

double Trainer::train_epoch(const Corpus& corpus) {
  model_->train();
  auto state = model_->initial_state(corpus.streams());
  double total = 0;
  int64_t steps = 0;
  for (const auto& chunk : corpus.chunks(options_.time)) {
    auto loss = loss_on(chunk, state);
    (loss / options_.accumulate).backward();
    state = detach(state);

    total += loss.item<double>();
    losses_.push_back(loss);  // BAD: torch-retained-graph
    if (++steps % options_.accumulate == 0) {
      torch::nn::utils::clip_grad_norm_(model_->parameters(), 1.0);
      optimizer_.step();
      optimizer_.zero_grad();
    }
  }
  optimizer_.zero_grad();
  return total / steps;
}

double Trainer::validate(const Corpus& corpus) {
  torch::NoGradGuard no_grad;
  model_->eval();
  auto state = model_->initial_state(corpus.streams());
  std::vector<torch::Tensor> losses;
  for (const auto& chunk : corpus.chunks(options_.time)) {
    losses.push_back(loss_on(chunk, state));
  }
  return torch::stack(losses).mean().item<double>();
}

void Trainer::adapt(const Corpus& corpus, int passes) {
  model_->train();
  torch::optim::SGD tuner(model_->head->parameters(), 0.05);
  tuner.zero_grad();
  for (int pass = 0; pass < passes; ++pass) {
    // Each pass is one step over the whole text.
    auto state = model_->initial_state(corpus.streams());
    std::vector<torch::Tensor> losses;
    for (const auto& chunk : corpus.chunks(options_.time)) {
      losses.push_back(loss_on(chunk, state));
    }
    torch::stack(losses).mean().backward();
    tuner.step();  // BAD: torch-missing-zero-grad
  }
}

torch::Tensor Trainer::curve(int64_t window) const {
  torch::NoGradGuard no_grad;
  if (static_cast<int64_t>(losses_.size()) < window) return torch::empty({0});
  return torch::stack(losses_).unfold(0, window, 1).mean(1).cpu();
}

}  // namespace charlm
