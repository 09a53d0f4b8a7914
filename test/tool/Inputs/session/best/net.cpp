#include "net.h"

NetImpl::NetImpl()
    : first(register_module("first", torch::nn::Linear(16, 64))),
      second(register_module("second", torch::nn::Linear(64, 1))) {}

torch::Tensor NetImpl::forward(torch::Tensor inputs) {
  return second->forward(torch::relu(first->forward(inputs)));
}

size_t best(Net &net, const std::vector<torch::Tensor> &candidates) {
  size_t result = 0;
  float most = -1;
  for (size_t i = 0; i < candidates.size(); ++i) {
    float score = net->forward(candidates[i]).item<float>();
    if (score > most) {
      most = score;
      result = i;
    }
  }
  return result;
}
