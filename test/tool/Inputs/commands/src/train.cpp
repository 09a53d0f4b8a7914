#include "net.h"

void train(Net &net, torch::optim::SGD &optimizer, torch::Tensor x) {
  for (int i = 0; i < 10; ++i) {
    net.forward(x).backward();
    optimizer.step();
    optimizer.zero_grad();
  }
}
