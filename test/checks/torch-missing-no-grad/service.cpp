// RUN: %check_torch %s torch-missing-no-grad %t
//
// A class that is made to evaluate, which main() asks once.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

class Ranker {
public:
  explicit Ranker(Linear net) : net(std::move(net)) { this->net->eval(); }
  double best(const Tensor &x) { return net->forward(x).max().item<double>(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:41: warning: forward pass of 'net'

private:
  Linear net;
};

// Whoever has written it may want no more than to see that it runs.
class Demo {
public:
  double best(const Tensor &x) { return net->forward(x).max().item<double>(); }

private:
  Linear net{4, 2};
};

int main() {
  Linear net(4, 2);
  Ranker ranker(net);
  std::cout << ranker.best(torch::rand({1, 4}));
  Demo demo;
  std::cout << demo.best(torch::rand({1, 4}));
}
