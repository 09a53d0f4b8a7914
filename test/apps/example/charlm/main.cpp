#include "corpus.h"
#include "model.h"
#include "sampler.h"
#include "trainer.h"

#include <iostream>
#include <string>

int main() {
  torch::manual_seed(1);
  const torch::Device device =
      torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;

  const charlm::Corpus training(charlm::Corpus::generate(600, 1), 8);
  const charlm::Corpus validation(charlm::Corpus::generate(80, 2), 4);
  std::string diary;
  for (int day = 0; day < 8; ++day) diary += "my dog and my cat are at home. ";
  const charlm::Corpus other(diary, 2);

  charlm::CharRNN model(charlm::Corpus::vocabulary(), 48, 1);
  model->to(device);
  charlm::Trainer trainer(model, device, charlm::TrainerOptions());
  trainer.fit(training, validation);
  const auto curve = trainer.curve(20);
  std::cout << "loss of the last 20 steps: " << curve[-1].item<double>() << '\n';

  trainer.adapt(other, 5);
  model->eval();
  charlm::Sampler sampler(model, 0.5);
  std::cout << sampler.generate("the ", 60) << '\n';
  return 0;
}
