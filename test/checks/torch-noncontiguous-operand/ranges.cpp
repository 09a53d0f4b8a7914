// RUN: %check_torch %s torch-noncontiguous-operand %t
//
// Ranges of a transposed tensor meet ranges of one in order.

#include <torch/torch.h>

using torch::Tensor;

class Corpus {
public:
  Corpus(int64_t ticks, int64_t sensors) : ticks(ticks), sensors(sensors) {
    series = torch::rand({ticks, sensors}).mul_(2);
  }
  Tensor trend(int64_t lags) const {
    auto out = torch::zeros({sensors, ticks}, series.options());
    for (int64_t lag = 0; lag < lags; ++lag)
      out.slice(1, lag).add_(series.t().slice(1, 0, ticks - lag), std::pow(0.5, lag));
      // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'series.t()' is transposed and meets, in every iteration, a tensor that is not, which is slow; it does not change in this loop: make it contiguous once before
    return out;
  }

private:
  int64_t ticks, sensors;
  Tensor series;
};
Tensor use() { return Corpus(10000, 500).trend(64); }

Tensor ends(int64_t n, int64_t rounds) {
  const auto turned = torch::rand({n, n}).t();
  auto sum = torch::zeros({n, n});
  for (int64_t i = 0; i < rounds; ++i)
    sum.narrow(1, 0, n - i) += turned.slice(1, i);
    // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'turned' is transposed and meets
  return sum;
}

// A window that goes on: each iteration has another part.
Tensor windows(int64_t n, int64_t size) {
  const auto turned = torch::rand({n, n}).t();
  auto sum = torch::zeros({n, size});
  for (int64_t i = 0; i + size < n; i += size) {
    sum.add_(turned.slice(1, i, i + size));
    sum.add_(turned.narrow(1, i, size));
  }
  return sum;
}
// It changes; both are transposed; in no loop.
Tensor changes(int64_t n, int64_t rounds) {
  auto turned = torch::rand({n, n}).t();
  auto sum = torch::zeros({n, n}), other = torch::zeros({n, n}).t();
  for (int64_t i = 0; i < rounds; ++i) {
    sum.slice(1, i).add_(turned.slice(1, 0, n - i));
    turned.mul_(2);
  }
  const auto same = torch::rand({n, n}).t();
  for (int64_t i = 0; i < rounds; ++i)
    other.slice(1, i).add_(same.slice(1, 0, n - i));
  sum.slice(1, 1).add_(same.slice(1, 0, n - 1));
  return sum + other;
}

// Memory of others lies in order, unless it is told to lie otherwise.
Tensor blobs(float *data, int64_t n, int64_t rounds) {
  const auto turned = torch::from_blob(data, {n, n}).t();
  const auto told = torch::from_blob(data, {n, n}, {1, n}).t();
  auto sum = torch::zeros({n, n}), rest = torch::zeros({n, n});
  for (int64_t i = 0; i < rounds; ++i) {
    sum.add_(turned);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'turned' is transposed and meets
    rest.add_(told);
  }
  return sum + rest;
}
