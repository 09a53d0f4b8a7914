// RUN: %check_torch %s torch-retain-graph-in-loop %t
//
// Graphs that are gone through again, or may be.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

// Two losses over one pass; over a shared part.
void shared(Linear net, Linear head, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    auto features = net->forward(x);
    auto loss = features.sum();
    loss.backward({}, /*retain_graph=*/true);
    auto other = head->forward(features).sum();
    other.backward();
    opt.step();
  }
  for (const Tensor &x : xs) {
    auto y = net->forward(x);
    auto first = y.sum(), second = y.mean();
    first.backward({}, true);
    opt.step();
    second.backward();
  }
  for (const Tensor &x : xs) {
    auto y = net->forward(x).sum();
    for (int i = 0; i < 3; ++i)
      y.backward({}, true);
    opt.step();
  }
}

// A penalty, a look at the graph, gradients for one of the inputs.
void penalty(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &each : xs) {
    auto x = each.clone().requires_grad_();
    auto y = net->forward(x).sum();
    y.backward({}, true);
    auto slope = torch::autograd::grad({y}, {x}, {}, true, true)[0];
    slope.norm().backward();
    opt.step();
  }
  for (const Tensor &x : xs) {
    auto y = net->forward(x).sum();
    y.backward({}, true);
    std::cout << y.grad_fn()->name();
    opt.step();
  }
  for (const Tensor &x : xs) {
    auto y = net->forward(x).sum();
    y.backward({}, true, /*create_graph=*/true);
    opt.step();
  }
  for (const Tensor &x : xs) {
    auto y = net->forward(x).sum();
    y.backward({}, true, false, std::vector<Tensor>{x});
    opt.step();
  }
}

// From before the loop; from the iteration before.
void features(Linear net, Linear head, SGD &opt, Tensor x) {
  auto once = net->forward(x);
  for (int i = 0; i < 9; ++i) {
    auto loss = head->forward(once).sum();
    loss.backward({}, true);
    opt.step();
  }
}
void state(torch::nn::GRUCell cell, SGD &opt, const std::vector<Tensor> &xs) {
  Tensor h;
  for (const Tensor &x : xs) {
    h = cell->forward(x, h);
    h.sum().backward({}, true);
    opt.step();
  }
}
void total(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  Tensor sum = torch::zeros({});
  for (const Tensor &x : xs) {
    sum = sum + net->forward(x).sum();
    sum.backward({}, true);
    opt.step();
  }
}
// It may be: nothing changes the weights, and x may have a graph.
void unknown(Linear net, Tensor x) {
  for (int i = 0; i < 9; ++i)
    net->forward(x).sum().backward({}, true);
}

// So may that of both passes.
void unknownInput(Linear real, Linear fake, SGD &opt, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    real->forward(x).sum().backward({}, true);
    fake->forward(x).sum().backward();
    opt.step();
  }
}

// Kept on purpose: afterwards, by the caller, elsewhere, who knows.
void afterwards(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  std::vector<Tensor> losses;
  for (const Tensor &x : xs) {
    auto loss = net->forward(x).sum();
    losses.push_back(loss);
    loss.backward({}, true);
    opt.step();
  }
  torch::stack(losses).sum().backward();
}
Tensor returned(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  Tensor loss;
  for (const Tensor &x : xs) {
    loss = net->forward(x).sum();
    loss.backward({}, true);
    opt.step();
  }
  return loss;
}
void look(const Tensor &loss);
struct Trainer {
  Linear net{nullptr};
  Tensor last;
  void member(SGD &opt, const std::vector<Tensor> &xs) {
    for (const Tensor &x : xs) {
      last = net->forward(x).sum();
      last.backward({}, true);
      opt.step();
    }
  }
  void unseen(SGD &opt, const std::vector<Tensor> &xs) {
    for (const Tensor &x : xs) {
      auto loss = net->forward(x).sum();
      loss.backward({}, true);
      look(loss);
      opt.step();
    }
  }
};

// No loop, no argument, a flag.
void others(Linear net, SGD &opt, const std::vector<Tensor> &xs, bool retain) {
  net->forward(xs[0]).sum().backward({}, true);
  for (const Tensor &x : xs) {
    net->forward(x).sum().backward();
    net->forward(x).sum().backward({}, false);
    net->forward(x).sum().backward({}, std::nullopt);
    net->forward(x).sum().backward({}, retain);
    opt.step();
  }
}
