#include "net.h"

double evaluate(Net &net, torch::Tensor x) {
  net.eval();
  return net.forward(x).item<double>();
}
