// RUN: %check_torch %s torch-unused-gradients %t
//
// A loss that comes of more passes than are kept apart: whether backward() goes
// through that of another network as well cannot be said, and nothing is.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

#define EIGHT(DO, N)                                                           \
  DO(N##0) DO(N##1) DO(N##2) DO(N##3) DO(N##4) DO(N##5) DO(N##6) DO(N##7)
#define ALL(DO)                                                                \
  EIGHT(DO, 1) EIGHT(DO, 2) EIGHT(DO, 3) EIGHT(DO, 4) EIGHT(DO, 5) EIGHT(DO, 6)
#define LAYER(N) Linear l##N{register_module("l" #N, Linear(4, 4))};
#define PASS(N) x = torch::relu(l##N->forward(x));

struct DeepImpl : torch::nn::Module {
  ALL(LAYER)
  Tensor forward(Tensor x) {
    ALL(PASS)
    return x;
  }
};
TORCH_MODULE(Deep);

void train(const std::vector<Tensor> &batches) {
  Deep deep;
  Linear other(4, 4);
  torch::optim::SGD opt(deep->parameters(), 0.1);
  std::cout << other->forward(batches[0]).sizes();
  for (const Tensor &x : batches) {
    opt.zero_grad();
    deep->forward(x).mean().backward();
    opt.step();
  }
}
