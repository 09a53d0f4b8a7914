// RUN: %check_torch %s torch-varying-shapes %t
//
// Sizes that stay, that have few values, that are small, or that nobody knows.

#include <torch/torch.h>

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;

int64_t lengthOf(int64_t i); // in another file
void keep(const Tensor &t);  // in another file

// The same in every iteration, but for the last batch.
void batches(Tensor data, int64_t n, int64_t batch, torch::Device device) {
  for (int64_t i = 0; i < n; i += batch) {
    const auto size = std::min(batch, n - i);
    std::cout << torch::zeros({size, 4096}, device).sum();
    std::cout << torch::zeros({batch, 4096}, device).sum();
    std::cout << data.slice(0, i, i + size).clone().sum();
    std::cout << data.narrow(0, i, size).to(device).sum();
  }
}
void loader(const std::vector<Tensor> &batches, torch::Device device) {
  for (const auto &x : batches)
    std::cout << torch::zeros({x.size(0), 4096}, device).sum();
}

// Few values, steps, a limit, a function that may do either.
void fewValues(int64_t n, int64_t limit, bool flag, torch::Device device) {
  for (int64_t i = 0; i < n; ++i) {
    std::cout << torch::zeros({i % 2 + 1, 4096}, device).sum();
    std::cout << torch::zeros({flag ? 1 : 2, 4096}, device).sum();
    std::cout << torch::zeros({(i + 63) / 64 * 64, 4096}, device).sum();
    std::cout << torch::zeros({std::min(i, limit), 4096}, device).sum();
    std::cout << torch::zeros({lengthOf(i), 4096}, device).sum();
    std::cout << torch::zeros({n - i, 4096}, device).sum();
    std::cout << torch::randint(i + 1, {64, 4096}, device).sum();
    std::cout << torch::full({64, 4096}, i, device).sum();
  }
  for (int64_t i = n; i > 0; --i)
    std::cout << torch::zeros({i, 4096}, device).sum();
  for (int64_t i = 1; i < n; i *= 2)
    std::cout << torch::zeros({i, 4096}, device).sum();
}

// Short loops, and sizes that are small or grow by little.
void small(int64_t n, torch::Device device) {
  for (int64_t i = 1; i < 12; ++i)
    std::cout << torch::zeros({i, n}, device).sum();
  for (int64_t i = 1; i < 500; ++i)
    std::cout << torch::zeros({i, 4096}, device).sum();
  for (int64_t i = 1; i < n; ++i) {
    std::cout << torch::arange(i, device).sum();
    std::cout << torch::zeros({1, i, 64}, device).sum();
  }
}

// Not on a device, or a view.
void host(Tensor x, int64_t n) {
  const auto numbers = torch::rand({n, n});
  for (int64_t i = 1; i < n; ++i) {
    std::cout << torch::zeros({i, n}).sum();
    std::cout << numbers.slice(0, 0, i).clone().sum();
    std::cout << x.slice(0, 0, i).sum() << x.index({Slice(None, i)}).sum();
    std::cout << x.slice(0, 0, i).to(torch::kCPU).sum();
  }
}

// All of them are needed, or somebody may keep them.
std::vector<Tensor> lists(Tensor x, int64_t n, torch::Device device) {
  std::vector<Tensor> rows, parts, named;
  for (int64_t i = 1; i < n; ++i) {
    rows.push_back(torch::zeros({i, n}, device));
    parts.emplace_back(x.slice(0, 0, i).clone());
    const auto part = x.narrow(0, 0, i).clone();
    named.push_back(part);
    keep(torch::zeros({i, n}, device));
  }
  rows.insert(rows.end(), parts.begin(), parts.end());
  return rows;
}

// Only some iterations, and a counter that begins anew.
void some(int64_t n, int64_t m, torch::Device device) {
  for (int64_t i = 1; i < n; ++i) {
    if (i % 100 == 0)
      std::cout << torch::zeros({i, n}, device).sum();
    for (int64_t k = 0; k < m; ++k)
      std::cout << torch::zeros({i, n}, device).sum();
  }
  int64_t length = 0;
  for (int64_t i = 1; i < n; ++i) {
    ++length;
    if (length > m)
      length = 1;
    std::cout << torch::zeros({length, n}, device).sum();
  }
}

// The window of what was written is cut again.
void window(Tensor tokens, Tensor next, int64_t limit) {
  for (int i = 0; i < 1000; ++i) {
    const auto mask = torch::ones({tokens.size(1), tokens.size(1)}, tokens.options());
    std::cout << mask.sum();
    tokens = torch::cat({tokens, next}, 1);
    if (tokens.size(1) > limit)
      tokens = tokens.slice(1, 1);
  }
}

// Another dimension grows; a size that was asked for before the loop.
void others(Tensor tokens, Tensor next) {
  const auto length = tokens.size(1);
  for (int i = 0; i < 1000; ++i) {
    std::cout << torch::ones({tokens.size(0), 4096}, tokens.options()).sum();
    std::cout << torch::ones({length, length}, tokens.options()).sum();
    tokens = torch::cat({tokens, next}, 1);
  }
}
