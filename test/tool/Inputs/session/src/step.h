#pragma once
#include <torch/torch.h>

template <class Net>
void epoch(Net &net, torch::optim::SGD &optimizer, torch::Tensor input, torch::Tensor target) {
  for (int step = 0; step < 100; ++step) {
    torch::mse_loss(net->forward(input), target).backward();
    optimizer.step();
  }
}
