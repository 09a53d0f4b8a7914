#include "net.h"
#include <iostream>

int main() {
  Net net;
  torch::load(net, "net.pt");
  net->eval();
  std::vector<torch::Tensor> candidates;
  for (int i = 0; i < 1000; ++i)
    candidates.push_back(torch::randn({1, 16}));
  std::cout << best(net, candidates) << "\n";
}
