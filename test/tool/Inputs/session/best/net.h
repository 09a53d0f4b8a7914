#pragma once
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl();
  torch::Tensor forward(torch::Tensor inputs);
  torch::nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Net);

/// The number of the candidate that the network likes most.
size_t best(Net &net, const std::vector<torch::Tensor> &candidates);
