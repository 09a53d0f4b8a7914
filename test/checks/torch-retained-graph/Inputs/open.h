// Classes whose members code in other files can read.
#pragma once
#include <torch/torch.h>

#include <vector>

struct PublicMembers {
  void act(torch::Tensor state);
  float last() const;

  torch::nn::Linear policy{8, 4};
  std::vector<torch::Tensor> values;
};

class MethodElsewhere {
public:
  void act(torch::Tensor state);
  float last() const;
  // Defined in another file.
  torch::Tensor loss() const;

private:
  torch::nn::Linear policy{8, 4};
  std::vector<torch::Tensor> values;
};

class Stranger;

class FriendElsewhere {
public:
  void act(torch::Tensor state);
  float last() const;

private:
  torch::nn::Linear policy{8, 4};
  std::vector<torch::Tensor> values;

  friend class Stranger;
};
