// RUN: %check_torch %s torch-missing-zero-grad %t
//
// Tensors that are changed by their gradients, which something clears; or by
// gradients that are none of theirs.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using Tensors = std::vector<Tensor>;

void zeroed(Linear net, Tensors xs, double lr) {
  for (auto &x : xs) {
    net->forward(x).sum().backward();
    torch::NoGradGuard g;
    for (auto &p : net->parameters()) {
      p -= lr * p.grad();
      p.grad().zero_();
    }
  }
}

void byModule(Linear net, Tensors xs, double lr) {
  for (auto &x : xs) {
    net->zero_grad();
    net->forward(x).sum().backward();
    for (auto &p : net->parameters()) p.data().sub_(lr * p.grad());
  }
}

void undefined(Linear net, Tensors xs, double lr) {
  for (auto &x : xs) {
    net->forward(x).sum().backward();
    for (auto &p : net->parameters()) { p.data() -= lr * p.grad(); p.mutable_grad() = Tensor(); }
  }
}

void fresh(Tensors xs, double lr) {
  for (auto &x : xs) {
    auto w = torch::zeros({2}, torch::requires_grad());
    (x * w).sum().backward();
    w.data() -= lr * w.grad();
  }
}

void rebound(Tensors xs, double lr) {
  auto w = torch::zeros({2}, torch::requires_grad());
  for (auto &x : xs) {
    (x * w).sum().backward();
    w.data() -= lr * w.grad();
    w = w.detach().requires_grad_();
  }
}

void once(Linear net, Tensor x, Tensors xs, double lr) {
  net->forward(x).sum().backward();
  for (int i = 0; i < 3; ++i)
    for (auto &p : net->parameters()) p.data() -= lr * p.grad();
}

void returned(Tensors xs, double lr) {
  auto w = torch::zeros({2}, torch::requires_grad());
  for (auto &x : xs) {
    auto g = torch::autograd::grad({(x * w).sum()}, {w})[0];
    w.data() -= lr * g;
  }
}

void decay(Linear net, torch::optim::SGD &o, Tensors xs) {
  for (auto &x : xs) {
    o.zero_grad();
    net->forward(x).sum().backward();
    for (auto &p : net->parameters()) p.data().add_(p.grad(), -0.1);
  }
}

void clip(Linear net, torch::optim::SGD o, Tensors xs) {
  for (auto &x : xs) {
    o.zero_grad();
    net->forward(x).sum().backward();
    torch::NoGradGuard g;
    for (auto &p : net->parameters()) p.mutable_grad() = p.grad().clamp(-1, 1);
    o.step();
  }
}

void other(Linear net, Linear target, Tensors xs, double lr) {
  for (auto &x : xs) {
    net->zero_grad();
    net->forward(x).sum().backward();
    auto ps = net->parameters(), ts = target->parameters();
    for (size_t i = 0; i < ps.size(); ++i) ts[i].data() -= lr * ps[i].grad();
  }
}

void everyK(Linear net, Tensors xs, double lr) {
  int n = 0;
  for (auto &x : xs) {
    net->forward(x).sum().backward();
    if (++n % 4 == 0)
      for (auto &p : net->parameters()) { p.data() -= lr * p.grad(); p.grad().zero_(); }
  }
}

void ifDefined(Linear net, Tensors xs, double lr) {
  for (auto &x : xs) {
    for (auto &p : net->parameters()) if (p.grad().defined()) p.grad().zero_();
    net->forward(x).sum().backward();
    torch::NoGradGuard g;
    for (auto &item : net->named_parameters()) item.value() -= lr * item.value().grad();
  }
}

static void update(Linear net, double lr) {
  torch::NoGradGuard g;
  for (auto &p : net->parameters()) if (p.grad().defined()) { p.sub_(p.grad(), lr); p.mutable_grad().reset(); }
}

void inHelper(Linear net, Tensors xs, double lr) {
  for (auto &x : xs) { net->forward(x).sum().backward(); update(net, lr); }
}

void swarm(std::vector<Linear> nets, Tensor x, double lr) {
  for (auto &net : nets) {
    net->forward(x).sum().backward();
    for (auto &p : net->parameters()) p.data() -= lr * p.grad();
  }
}

void throughView(Tensors xs, double lr) {
  auto w = torch::zeros({2}, torch::requires_grad());
  for (auto &x : xs) {
    (x * w).sum().backward();
    auto g = w.grad();
    w.data() -= lr * g;
    g.zero_();
  }
}

void foreign(Linear net);
void clearedElsewhere(Linear net, Tensors xs, double lr) {
  for (auto &x : xs) {
    foreign(net);
    net->forward(x).sum().backward();
    for (auto &p : net->parameters())
      p.data() -= lr * p.grad();
  }
}

// Without a guard it throws, which torch-leaf-inplace says.
void throws(Tensors xs, double lr) {
  auto w = torch::zeros({2}, torch::requires_grad());
  for (auto &x : xs) {
    (x * w).sum().backward();
    w -= lr * w.grad();
  }
}
