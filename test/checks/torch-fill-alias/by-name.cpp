// RUN: %check_torch %s torch-fill-alias %t
//
// Elements that get the same tensor one after the other, by name or by number.

#include <torch/torch.h>

#include <map>
#include <string>
#include <vector>

using torch::Tensor;

class Curves {
public:
  Curves(const std::vector<std::string> &names, int64_t steps) {
    const auto blank = torch::zeros({steps});
    for (const auto &name : names) {
      angle[name] = blank;
      // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: all elements of 'angle' are handles to one tensor, so a write into one changes all; make one for each element in a loop [torch-fill-alias]
      // CHECK-MESSAGES: :[[@LINE+9]]:5: note: written here
      seen.emplace(name, blank);
      // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: all elements of 'seen' are handles to one tensor
      own.emplace(name, blank.clone());
      made[name] = torch::zeros({steps});
      shown[name] = blank;
    }
  }
  void note(const std::string &name, int64_t step, double value) {
    angle.at(name).narrow(0, step, 1).add_(value);
    seen.at(name).narrow(0, step, 1).add_(1);
    own.at(name).narrow(0, step, 1).add_(1);
    made.at(name).narrow(0, step, 1).add_(1);
  }
  double first(const std::string &name) const {
    return shown.at(name)[0].item<double>();
  }

private:
  // 'shown' is only read.
  std::map<std::string, Tensor> angle, seen, own, made, shown;
};

Tensor numbered(const std::vector<Tensor> &xs) {
  std::vector<Tensor> sums(xs.size());
  Tensor zero = torch::zeros({8});
  for (size_t i = 0; i < xs.size(); ++i)
    sums[i] = zero;
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: all elements of 'sums' are handles to one tensor
  for (size_t i = 0; i < xs.size(); ++i)
    sums[i % 4].add_(xs[i]);
  return torch::stack(sums);
}

// A value to begin with, which each element replaces.
Tensor replaced(const std::vector<Tensor> &xs) {
  std::vector<Tensor> sums(xs.size());
  Tensor zero = torch::zeros({8});
  for (size_t i = 0; i < xs.size(); ++i)
    sums[i] = zero;
  for (size_t i = 0; i < xs.size(); ++i) {
    sums[i] = xs[i] * 2;
    sums[i].add_(1);
  }
  return torch::stack(sums);
}

// What a loop has changed goes in as it is then.
Tensor snapshots(const Tensor &start, int64_t steps) {
  std::map<int64_t, Tensor> states;
  Tensor state = start;
  for (int64_t i = 0; i < steps; ++i) {
    state = state * 0.9;
    states[i] = state;
    states[i].add_(1);
  }
  return states.at(0);
}

// The tensor is used by its own name, too: sharing it is meant.
Tensor shared(const std::vector<std::string> &names) {
  std::map<std::string, Tensor> views;
  Tensor all = torch::zeros({8});
  for (const auto &name : names)
    views[name] = all;
  views.at("x").add_(1);
  return all.sum();
}

int main() {
  Curves curves({"a", "b"}, 100);
  curves.note("a", 3, 0.5);
  return static_cast<int>(curves.first("b") + numbered({}).sum().item<double>() +
                          replaced({}).sum().item<double>() +
                          snapshots(torch::ones({2}), 3).sum().item<double>() +
                          shared({"x"}).item<double>());
}
