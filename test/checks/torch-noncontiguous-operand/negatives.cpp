// RUN: %check_torch %s torch-noncontiguous-operand %t
//
// Copies that somebody needs, once, or of what changes.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

// Once, for what needs it.
float *pointer(const Tensor &x) {
  static Tensor copy;
  copy = x.t().contiguous();
  return copy.data_ptr<float>();
}
Tensor viewed(Tensor x) { return x.t().contiguous().view({-1}); }
Tensor product(Tensor x, Tensor y) { return x.t().contiguous().mm(y); }
Tensor returned(Tensor x) { return x.t().contiguous(); }
void kernel(const Tensor &x);
void passed(Tensor x) { kernel(x.t().contiguous()); }

// The result goes on, and may have to lie in order.
Tensor resultReturned(Tensor x) { return x.t().contiguous() * 2; }
Tensor resultViewed(Tensor x) {
  return (x.t().contiguous() * 2).view({-1}).sum();
}
void resultPassed(Tensor x) { kernel(x.t().contiguous() * 2); }
float resultPointer(Tensor x) {
  auto scaled = x.t().contiguous() * 2;
  return scaled.data_ptr<float>()[0] + scaled.sum().item<float>();
}
Tensor alongADimension(Tensor x) {
  return x.t().contiguous().sum(1);
}

// With another tensor, whose layout may be another.
Tensor withAnother(Tensor x, Tensor y) { return (x.t().contiguous() + y).sum(); }

// A copy that is written.
Tensor written(Tensor x) {
  auto copy = x.t().contiguous();
  copy.add_(1);
  return copy.sum();
}

// Nothing is copied, or nobody knows.
Tensor inOrder(Tensor x) { return ((x * 2).contiguous() + 1).sum(); }
Tensor unknown(Tensor x) { return (x.contiguous() + 1).sum(); }
Tensor column(int64_t n) {
  return (torch::ones({n, 1}).t().contiguous() + 1).sum();
}
Tensor channelsLast(Tensor x) {
  return (x.t().contiguous(torch::MemoryFormat::ChannelsLast) + 1).sum();
}
Tensor alone(Tensor x) { return (x.t() + 1).sum(); }

// In a loop, and what it is called on changes.
void perBatch(const std::vector<Tensor> &xs, Tensor y) {
  for (const Tensor &x : xs)
    std::cout << x.t().contiguous().mm(y);
}
void changes(Tensor w, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    std::cout << x.mm(w.t().contiguous());
    w.add_(x);
  }
}
void rebound(Tensor w, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs)
    w = x.mm(w.t().contiguous());
}
void workingCopy(Tensor w, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Tensor copy = w.t().contiguous();
    copy.mul_(x);
    std::cout << copy.mm(x);
  }
}
void trained(Linear net, torch::optim::SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net(x).mm(net->weight.t().contiguous()).sum().backward();
    opt.step();
  }
}
void inABranch(Tensor w, const std::vector<Tensor> &xs) {
  Tensor turned;
  for (const Tensor &x : xs) {
    if (!turned.defined())
      turned = w.t().contiguous();
    std::cout << x.mm(turned);
  }
}
void change(Tensor &w);
void givenAway(Tensor w, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    std::cout << x.mm(w.t().contiguous());
    change(w);
  }
}
void small(const std::vector<Tensor> &xs) {
  const Tensor w = torch::rand({16, 16});
  for (const Tensor &x : xs)
    std::cout << x.mm(w.t().contiguous());
}

// Layouts that meet once, that are alike, or that are not known.
Tensor meetOnce(int64_t n) {
  return torch::rand({n, n}) + torch::rand({n, n}).t();
}
void alike(int64_t n, int steps) {
  Tensor x = torch::rand({n, n}).t();
  const Tensor y = torch::rand({n, n}).t();
  for (int i = 0; i < steps; ++i)
    x.add_(y);
}
void notKnown(Tensor x, Tensor y, int steps) {
  for (int i = 0; i < steps; ++i)
    x.add_(y.t());
}
void stretched(int64_t n, int steps) {
  Tensor x = torch::rand({n, n});
  const Tensor y = torch::rand({n, 1}).t();
  for (int i = 0; i < steps; ++i)
    x.add_(y);
}
void anotherEachTime(const std::vector<Tensor> &, int64_t n, int steps) {
  Tensor x = torch::rand({n, n});
  for (int i = 0; i < steps; ++i)
    x.add_(torch::rand({n, n}).t());
}

// Code of another file may have put it in order.
void reorder(Tensor &x);
float givenAway() {
  Tensor x = torch::rand({512, 512}).t();
  reorder(x);
  return x.contiguous().sum().item<float>();
}

// In order, like what it meets; of other sizes; written itself.
void sizesOfAnother(int64_t n, int64_t rounds) {
  const auto volume = torch::rand({n, n, n});
  const auto turned = volume.permute({2, 1, 0});
  const auto ordered = turned.contiguous();
  auto sum = torch::zeros(turned.sizes());
  auto flat = torch::zeros({n, n, 1});
  auto reached = torch::zeros({n, n, n}).permute({2, 1, 0});
  for (int64_t i = 0; i < rounds; ++i) {
    torch::add_out(sum, ordered, volume);
    torch::add_out(reached, ordered, volume);
    std::cout << flat.mul(turned);
  }
  torch::sub_out(sum, turned, volume);
  std::cout << sum;
}
void unknownOrder(const Tensor &given, int64_t rounds) {
  const auto turned = given.permute({2, 1, 0});
  auto sum = torch::zeros(turned.sizes());
  for (int64_t i = 0; i < rounds; ++i)
    sum.add_(turned);
}
