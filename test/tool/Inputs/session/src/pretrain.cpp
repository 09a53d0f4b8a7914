#include "step.h"

void pretrain(torch::nn::Linear net, torch::optim::SGD &optimizer, torch::Tensor input,
              torch::Tensor target) {
  epoch(net, optimizer, input, target);
}
