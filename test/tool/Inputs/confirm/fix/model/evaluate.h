#pragma once
#include <torch/torch.h>

inline float evaluate(torch::nn::Linear net, torch::Tensor inputs, torch::Tensor targets) {
  net->eval();
  float sum = 0;
  for (int i = 0; i < 20; ++i)
    sum += torch::mse_loss(net->forward(inputs), targets).item<float>();
  return sum;
}

// What programs may ask of a pass that nobody runs backward.
inline bool hasGraph(torch::nn::Linear net, torch::Tensor inputs) {
  return net->forward(inputs).requires_grad();
}
