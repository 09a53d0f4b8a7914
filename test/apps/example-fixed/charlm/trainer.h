#pragma once

#include "corpus.h"
#include "model.h"

#include <vector>

namespace charlm {

struct TrainerOptions {
  int64_t epochs = 4;
  int64_t time = 24;       // characters per step of truncated backpropagation
  int64_t accumulate = 2;  // chunks per step of the optimizer
  double learning_rate = 1e-2;
};

class Trainer {
 public:
  Trainer(CharRNN model, torch::Device device, TrainerOptions options);

  void fit(const Corpus& training, const Corpus& validation);

  // Mean loss per character.
  double validate(const Corpus& corpus);

  // Adapts the last layer to another text, e.g. another author.
  void adapt(const Corpus& corpus, int passes);

  // The loss of each step so far, smoothed.
  torch::Tensor curve(int64_t window) const;

 private:
  double train_epoch(const Corpus& corpus);
  torch::Tensor loss_on(const Corpus::Chunk& chunk, State& state);

  CharRNN model_;
  torch::Device device_;
  TrainerOptions options_;
  torch::optim::Adam optimizer_;
  std::vector<torch::Tensor> losses_;
};

}  // namespace charlm
