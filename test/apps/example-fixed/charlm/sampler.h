#pragma once

#include "model.h"

#include <string>

namespace charlm {

// Writes text one character at a time.
class Sampler {
 public:
  Sampler(CharRNN model, double temperature);

  // The model's choice of what follows `last`, given all characters so far.
  char next(char last);

  std::string generate(const std::string& prompt, int length);

 private:
  CharRNN model_;
  double temperature_;
  State state_;
};

}  // namespace charlm
