#include <cassert>
#include <cmath>
#include <immintrin.h>
#include <limits.h>
#include <torch/torch.h>

template <class T> class Meter {
public:
  void add(T value) {
    assert(!std::isnan(value));
    sum += value;
  }
  void reset() { sum = 0; }

private:
  T sum = 0;
};

void train(torch::nn::Linear net, torch::optim::SGD &optimizer, torch::Tensor input) {
  Meter<double> meter;
  for (int i = 0; i < 10; ++i) {
    torch::Tensor loss = net->forward(input).sum();
    loss.backward();
    optimizer.step();
    meter.add(loss.item<double>());
  }
}
