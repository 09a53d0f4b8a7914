// RUN: %check_torch %s torch-inplace-opportunity %t -still-warns
//
// x = op(x): what an iteration computes from a tensor alone goes where that was.
// Of a function, torch::relu(x), and in parentheses there is no fix.

#include <torch/torch.h>

#include <functional>

using torch::Tensor;

Tensor sampled(torch::nn::Conv2d net, Tensor x, int steps, double beta) {
  torch::NoGradGuard guard;
  for (int t = 0; t < steps; ++t) {
    x = x - net->forward(x) * beta;
    x = x / std::sqrt(1.0 - beta);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: in every iteration this takes new memory for a result that replaces 'x', which nothing else needs as it was: 1 tensor too many (memory, {{.*}}: 'div_'
    // CHECK-FIXES: x /= std::sqrt(1.0 - beta);
    if (t > 0)
      x.add_(torch::randn_like(x), beta);
  }
  return x;
}

class Plate {
public:
  explicit Plate(int64_t n) : field_(torch::full({n, n}, 20.0)) {}
  void advance(int steps, const Tensor &source) {
    torch::NoGradGuard guard;
    for (int i = 0; i < steps; ++i) {
      field_.add_(source, 0.1);
      field_ = field_.clamp(0, 400);
      // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: {{.*}} a result that replaces 'field_', {{.*}}: 'clamp_'
      // CHECK-FIXES: {{^}}      field_.clamp_(0, 400);
    }
  }

private:
  Tensor field_;
};

void decays(int n, const std::function<void(double)> &report) {
  torch::NoGradGuard guard;
  Tensor trace = torch::ones({1000, 1000});
  for (int i = 0; i < n; ++i) {
    trace = trace.mul(0.9);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: {{.*}} a result that replaces 'trace', {{.*}}: 'mul_'
    // CHECK-FIXES: {{^}}    trace.mul_(0.9);
    trace = torch::relu(trace);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: {{.*}} a result that replaces 'trace', {{.*}}: 'relu_'
    // CHECK-FIXES: {{^}}    trace = torch::relu(trace);
    trace = (trace * 0.5);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: {{.*}} a result that replaces 'trace', {{.*}}: 'mul_'
    // CHECK-FIXES: {{^}}    trace = (trace * 0.5);
    report(trace.sum().item<double>());
  }
}

// Views that are gone when the assignment comes.
void viewed(int n) {
  torch::NoGradGuard guard;
  Tensor x = torch::ones({1000, 1000});
  for (int i = 0; i < n; ++i) {
    x[0].fill_(1);
    std::cout << x.view({-1}).sum();
    x = x * 0.5;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: {{.*}} a result that replaces 'x', {{.*}}: 'mul_'
    // CHECK-FIXES: x *= 0.5;
  }
}

// Somebody else has it: a caller, a list, a view, another handle, a lambda.
void ofCaller(Tensor x, int n) {
  torch::NoGradGuard guard;
  for (int i = 0; i < n; ++i)
    x = x * 0.5;
  std::cout << x;
}
void held(int n) {
  torch::NoGradGuard guard;
  std::vector<Tensor> history;
  Tensor x = torch::ones({1000, 1000}), y = torch::ones({1000, 1000});
  Tensor z = torch::ones({1000, 1000}), w = torch::ones({1000, 1000});
  Tensor row, last;
  for (int i = 0; i < n; ++i) {
    history.push_back(x);
    x = x * 0.5;
    row = y[0];
    y = y * 0.5;
    last = z;
    z = z * 0.5;
    const auto old = w;
    w = w * 0.5;
    std::cout << (w - old).max();
  }
  std::cout << row << last;
}
void views(int n) {
  torch::NoGradGuard guard;
  Tensor x = torch::ones({1000, 1000}), y = torch::ones({1000, 1000});
  for (int i = 0; i < n; ++i) {
    const auto row = x[0].view({-1});
    x = x * 0.5;
    const auto same = y.to(torch::kFloat);
    y = y * 0.5;
    std::cout << row << same;
  }
}
void captured(int n, std::vector<std::function<Tensor()>> &later) {
  torch::NoGradGuard guard;
  Tensor x = torch::ones({1000, 1000});
  for (int i = 0; i < n; ++i) {
    later.push_back([x] { return x.sum(); });
    x = x * 0.5;
  }
}
class Seen {
public:
  void advance(int n, const Tensor &source) {
    torch::NoGradGuard guard;
    for (int i = 0; i < n; ++i) {
      field_.add_(source);
      const auto before = field_.view({-1});
      field_ = field_.clamp(0, 400);
      std::cout << (before - field_.view({-1})).max();
    }
  }

private:
  Tensor field_ = torch::ones({1000, 1000});
};
class Shown {
public:
  Tensor field() const { return field_; }
  void advance(int n) {
    torch::NoGradGuard guard;
    for (int i = 0; i < n; ++i)
      field_ = field_ * 0.5;
  }

private:
  Tensor field_ = torch::ones({1000, 1000});
};
void keep(const Tensor &t);
void unseen(int n) {
  torch::NoGradGuard guard;
  Tensor x = torch::ones({1000, 1000});
  for (int i = 0; i < n; ++i) {
    keep(x);
    x = x * 0.5;
  }
}

// A graph, another type or shape, little memory, no loop.
void others(int n, const Tensor &small) {
  Tensor w = torch::ones({1000, 1000}, torch::requires_grad());
  Tensor sum = torch::ones({1000, 1000});
  for (int i = 0; i < n; ++i) {
    sum = sum * 0.5;
    w = w * 0.5;
  }
  (sum * w).sum().backward();
  torch::NoGradGuard guard;
  Tensor counts = torch::ones({1000, 1000}, torch::kLong);
  Tensor filled = torch::full({1000, 1000}, 20);
  Tensor few = torch::ones({10});
  Tensor wide = torch::ones({1000, 1000});
  Tensor mask = torch::ones({1000, 1000});
  for (int i = 0; i < n; ++i) {
    counts = counts / 2.0;
    filled = filled * 0.5;
    few = few * 0.5;
    wide = wide * small;
    mask = mask > 0.5;
  }
  Tensor once = torch::ones({1000, 1000});
  once = once * 0.5;
  std::cout << counts << filled << few << wide << mask << once;
}
