// RUN: %check_torch %s torch-cat-in-loop %t
//
// The first part goes on to the next iteration at once.

#include <torch/torch.h>

using torch::Tensor;

Tensor early(const std::vector<Tensor> &xs) {
  Tensor all;
  for (const Tensor &x : xs) {
    const auto y = x.exp();
    if (!all.defined()) {
      all = y;
      continue;
    }
    all = torch::vstack({all, y});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::vstack' copies all that 'all' has collected
  }
  return all;
}
struct Trace {
  Tensor all;
  void collect(const std::vector<Tensor> &xs) {
    for (size_t i = 0; i < xs.size(); ++i) {
      if (i == 0) {
        std::cout << "first\n";
        all = xs[i];
        continue;
      }
      {
        all = torch::cat({all, xs[i]});
        // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'torch::cat' copies all that 'all' has collected
      }
    }
  }
};

// What is there is used before it begins anew; the loop that goes on is another
// one; nothing goes on.
std::vector<Tensor> flushed(const std::vector<Tensor> &xs) {
  std::vector<Tensor> out;
  Tensor all = torch::empty({0, 4});
  for (const Tensor &x : xs) {
    if (all.size(0) > 64) {
      out.push_back(all);
      all = x;
      continue;
    }
    all = torch::cat({all, x});
  }
  return out;
}
Tensor window(const std::vector<Tensor> &xs) {
  Tensor all = torch::empty({0, 4});
  for (const Tensor &x : xs) {
    for (int i = 0; i < 3; ++i) {
      if (x.size(0) > 64) {
        all = x;
        continue;
      }
    }
    all = torch::cat({all, x});
  }
  return all;
}
Tensor replaced(const std::vector<Tensor> &xs) {
  Tensor all = torch::empty({0, 4});
  for (const Tensor &x : xs) {
    if (x.size(0) > 64) {
      all = x;
    }
    all = torch::cat({all, x});
  }
  return all;
}
