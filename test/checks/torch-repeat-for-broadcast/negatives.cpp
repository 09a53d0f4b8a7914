// RUN: %check_torch %s torch-repeat-for-broadcast %t
//
// Repeated for a reason, or nobody knows.

#include <torch/torch.h>

using torch::Tensor;

// A dimension that has another size than one, or may have.
Tensor twice(Tensor x) { return x + torch::randn({64, 64}).repeat({2, 1}); }
Tensor rankUnknown(Tensor x, Tensor y, int64_t n) {
  return x + y.repeat({n, 1});
}
Tensor secondOfUnknown(Tensor x, Tensor y, int64_t n) {
  return x + y.unsqueeze(0).repeat({1, n});
}
Tensor maybe(Tensor x, bool wide, int64_t n) {
  Tensor y = torch::ones({1, n});
  if (wide)
    y = torch::ones({2, n});
  return x + y.repeat({n, 1});
}
void fill(Tensor &x);
Tensor givenAway(Tensor x, int64_t n) {
  Tensor y = torch::ones({1, n});
  fill(y);
  return x + y.repeat({n, 1});
}
Tensor squeezed(Tensor x, int64_t n) {
  Tensor y = torch::ones({1, n});
  y.squeeze_();
  return x + y.repeat({n, 1});
}
Tensor interleavedRows(Tensor x, int64_t n) {
  return x + torch::ones({4, n}).repeat_interleave(n, 0);
}
Tensor interleavedByTensor(Tensor x, Tensor times, int64_t n) {
  return x + torch::ones({1, n}).repeat_interleave(times, 0);
}
Tensor sizesOfAList(Tensor x, std::vector<int64_t> times) {
  return x + torch::ones({1, 5000}).repeat(times);
}

// Nothing is repeated.
Tensor cloned(Tensor x, int64_t n) {
  return x + torch::ones({1, n}).repeat({1, 1});
}

// The result is written.
Tensor written(Tensor x, Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1});
  rows.add_(x);
  return rows + 1;
}
Tensor writtenAtOnce(Tensor x, Tensor y, int64_t n) {
  return y.unsqueeze(0).repeat({n, 1}).mul_(x);
}
Tensor writtenByIndex(Tensor x, Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1});
  rows[0] = x;
  return rows * x;
}
Tensor accumulated(Tensor x, Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1});
  rows += x;
  return rows * x;
}

// What it was made of is written: the copy keeps what was there.
Tensor oldValues(Tensor x, Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1});
  y.zero_();
  return x - rows;
}
void inItself(Tensor x, int64_t n) {
  x.sub_(x[0].unsqueeze(0).repeat({n, 1}));
}

// Its memory is wanted, or what takes it is no elementwise work.
float *pointer(Tensor y, int64_t n) {
  static Tensor rows;
  rows = y.unsqueeze(0).repeat({n, 1});
  return rows.data_ptr<float>();
}
Tensor product(Tensor x, Tensor y, int64_t n) {
  return x.matmul(y.unsqueeze(0).repeat({n, 1}));
}
Tensor joined(Tensor x, Tensor y, int64_t n) {
  return torch::cat({x, y.unsqueeze(0).repeat({n, 1})}, 1);
}
Tensor viewed(Tensor x, Tensor y, int64_t n) {
  return x + y.unsqueeze(0).repeat({n, 1}).view({-1});
}
Tensor strides(Tensor x, Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1});
  std::cout << rows.stride(0);
  return x + rows;
}
Tensor bothWays(Tensor x, Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1});
  return x.mm(rows) + rows;
}
Tensor network(torch::nn::Linear net, Tensor y, int64_t n) {
  return net(y.unsqueeze(0).repeat({n, 1}));
}
Tensor returned(Tensor y, int64_t n) { return y.unsqueeze(0).repeat({n, 1}); }
void unseen(const Tensor &x);
void passed(Tensor x, Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1});
  unseen(rows);
  std::cout << x + rows;
}
struct Keeps {
  void set(Tensor y, int64_t n) { grid = y.unsqueeze(0).repeat({n, 1}); }
  Tensor use(Tensor x) { return x + grid; }
  Tensor grid;
};
std::vector<Tensor> listed(Tensor y, int64_t n) {
  return {y.unsqueeze(0).repeat({n, 1})};
}
auto captured(Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1});
  return [rows](Tensor x) { return x + rows; };
}
Tensor anotherName(Tensor x, Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1});
  Tensor same = rows;
  return x + same;
}
Tensor outOf(Tensor x, Tensor y, Tensor out, int64_t n) {
  return torch::add_out(out, x, y.unsqueeze(0).repeat({n, 1}));
}

// Small.
Tensor small(Tensor x) { return x + torch::ones({1, 16}).repeat({16, 1}); }

// Right as it is.
Tensor expanded(Tensor x, Tensor y, int64_t n) {
  return x + y.unsqueeze(0).expand({n, -1});
}
