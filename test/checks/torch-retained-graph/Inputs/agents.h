// Classes whose members readers.cpp and negatives-readers.cpp fill.
#pragma once
#include <torch/torch.h>

#include <vector>

class Trainer;

// Everything that can name its private members is in readers.cpp.
class Agent {
public:
  Agent();

private:
  torch::nn::Linear policy{8, 4};
  std::vector<torch::Tensor> values;
  std::vector<torch::Tensor> logProbs;

  friend class Trainer;
};

class Trainer {
public:
  static void act(unsigned id, torch::Tensor state);
  static void update(unsigned id);

private:
  static std::vector<Agent *> agents;
};
