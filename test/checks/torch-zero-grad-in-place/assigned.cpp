// RUN: %check_torch %s torch-zero-grad-in-place %t
//
// A tensor of the program's own becomes the gradient, and stays it.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void share(Linear net, Tensor own) {
  net->weight.mutable_grad() = torch::Tensor(own);
}
void training(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad(false);
    net->forward(x).sum().backward();
    opt.step();
  }
}
