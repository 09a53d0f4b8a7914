// RUN: %check_torch %s torch-repeat-for-broadcast %t -still-warns
//
// The mistake in its shapes, and what is written instead.

#include <torch/torch.h>

using torch::Tensor;

Tensor distances(const Tensor &a, const Tensor &b) {
  const auto n = a.size(0), m = b.size(0);
  auto left = a.unsqueeze(1).repeat({1, m, 1});
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'repeat' copies a tensor along dimensions of size one, and only operations that broadcast use the copy; 'expand' does the same without memory [torch-repeat-for-broadcast]
  auto right = b.unsqueeze(0).repeat({n, /*of b*/ 1, 1}); // each of a
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: 'repeat' copies a tensor along dimensions of size one, and only operations that broadcast use the copy; 'expand' does the same without memory: 'expand({n, -1, -1})'
  // CHECK-FIXES: auto right = b.unsqueeze(0).expand({n, -1, -1}); // each of a
  // CHECK-MESSAGES: :[[@LINE+1]]:16: note: the copy is broadcast here
  return (left - right).pow(2).sum(2);
}

Tensor mask(Tensor scores, int64_t n) {
  Tensor row = torch::arange(n);
  return torch::where(row.repeat({n, 1}) > 3, scores, -scores);
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: 'repeat' copies 'row' along dimensions of size one
  // CHECK-FIXES: return torch::where(row.expand({n, -1}) > 3, scores, -scores);
}

struct Norm : torch::nn::Module {
  Tensor forward(Tensor x) {
    Tensor mean = x.mean(1, /*keepdim=*/true).repeat({1, width});
    // CHECK-MESSAGES: :[[@LINE-1]]:47: warning: 'repeat' copies a tensor along dimensions of size one
    // CHECK-FIXES: Tensor mean = x.mean(1, /*keepdim=*/true).expand({-1, width});
    return x - mean;
  }
  int64_t width = 8;
};

Tensor column(Tensor v) { return v.view({-1, 1}); }
Tensor byHelper(Tensor x, Tensor v) {
  return x * column(v).repeat({1, x.size(1)});
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: 'repeat' copies a tensor along
  // CHECK-FIXES: return x * column(v).expand({-1, x.size(1)});
}

template <class T> Tensor scaled(Tensor x, T n) {
  x.mul_(torch::linspace(0, 1, n).view({n, 1}).repeat({1, n}));
  // CHECK-MESSAGES: :[[@LINE-1]]:48: warning: 'repeat' copies a tensor along
  // CHECK-FIXES: x.mul_(torch::linspace(0, 1, n).view({n, 1}).expand({-1, n}));
  return x;
}
Tensor instance(Tensor x, int64_t n) { return scaled(x, n); }

void inLambda(const std::vector<Tensor> &xs, Tensor y, int64_t n) {
  auto each = [&](Tensor x) {
    auto rows = y.unsqueeze(0).repeat({n, 1});
    // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'repeat' copies a tensor along
    // CHECK-FIXES: auto rows = y.unsqueeze(0).expand({n, -1});
    std::cout << rows.sizes() << (x + rows);
  };
  for (const auto &x : xs)
    each(x);
}

Tensor interleaved(Tensor x, int64_t n) {
  Tensor ones = torch::arange(n).view({n, 1});
  return x + ones.repeat_interleave(x.size(1), 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'repeat_interleave' copies 'ones' along dimensions of size one
  // CHECK-FIXES: return x + ones.expand({-1, x.size(1)});
}

Tensor tiled(Tensor x, int64_t n) {
  Tensor ones = torch::arange(n).view({n, 1});
  return x + ones.tile({1, n});
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'tile' copies 'ones' along dimensions of size one
  // CHECK-FIXES: return x + ones.expand({-1, n});
}

// The last dimension has size one, and how many there are is not known.
Tensor fromTheEnd(Tensor x, Tensor v, int64_t n) {
  return x + v.unsqueeze(-1).repeat({1, 1, n});
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'repeat' copies a tensor along dimensions of size one, and only operations that broadcast use the copy; 'expand' does the same without memory [torch-repeat-for-broadcast]
  // CHECK-FIXES: return x + v.unsqueeze(-1).repeat({1, 1, n});
}

Tensor quietHere(Tensor x, int64_t n) {
  return x + torch::arange(n).repeat({n, 1}); // NOLINT(torch-repeat-for-broadcast)
}

// What register_buffer() returns is the tensor that it was given.
struct Centred : torch::nn::Module {
  explicit Centred(int64_t rows) {
    mean = register_buffer("mean", torch::zeros({1, rows, 1}));
  }
  Tensor forward(const Tensor &x) {
    return x - mean.repeat({x.size(0), 1, x.size(2)});
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'repeat' copies 'mean' along dimensions of size one
    // CHECK-FIXES: return x - mean.expand({x.size(0), -1, x.size(2)});
  }
  Tensor mean;
};
