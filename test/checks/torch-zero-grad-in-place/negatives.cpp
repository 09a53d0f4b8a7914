// RUN: %check_torch %s torch-zero-grad-in-place %t
//
// Gradients that are let go, or that have to stay.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void letGo(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->zero_grad(true);
    net->forward(x).sum().backward();
    opt.step();
  }
}
void byFlag(Linear net, SGD &opt, const std::vector<Tensor> &xs, bool none) {
  for (const Tensor &x : xs) {
    opt.zero_grad(none);
    net->forward(x).sum().backward();
    opt.step();
  }
}

// Something reads them: a sum beside backward(), a norm, a step by hand.
Tensor sums(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  Tensor sum = torch::zeros({8, 8});
  for (const Tensor &x : xs) {
    opt.zero_grad(false);
    if (x.dim() == 2)
      net->forward(x).sum().backward();
    for (auto &p : net->parameters())
      sum += p.grad();
    opt.step();
  }
  return sum;
}
void byHand(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    net->zero_grad(false);
    net->forward(x).sum().backward();
    torch::NoGradGuard guard;
    for (auto &p : net->parameters())
      p -= 0.1 * p.grad();
  }
}

// Once; once for each epoch; with nothing that trains.
void once(Linear net, SGD &opt, const Tensor &x) {
  opt.zero_grad(false);
  net->forward(x).sum().backward();
  opt.step();
}
void epochs(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 9; ++epoch) {
    opt.zero_grad(false);
    for (const Tensor &x : xs)
      net->forward(x).sum().backward();
    opt.step();
  }
}
void cleared(std::vector<SGD> &opts) {
  for (auto &opt : opts)
    opt.zero_grad(false);
}

// Another class has a function of that name.
struct Own {
  void zero_grad(bool set_to_none = true) { count += set_to_none; }
  int count = 0;
};
void own(Linear net, Own &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad(false);
    net->forward(x).sum().backward();
  }
}

// By hand: once for each epoch, and of a single tensor that is trained. The
// step that reads the gradients may find none.
void handEpochs(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (auto &p : net->parameters())
      p.grad().zero_();
    for (const Tensor &x : xs)
      net->forward(x).sum().backward();
    opt.step();
  }
}
void line(const std::vector<Tensor> &xs) {
  Tensor w = torch::zeros({8}, torch::requires_grad());
  SGD opt({w}, 0.1);
  for (const Tensor &x : xs) {
    (w * x).sum().backward();
    opt.step();
    w.grad().zero_();
  }
}
void handSteps(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    net->forward(x).sum().backward();
    torch::NoGradGuard guard;
    for (auto &p : net->parameters()) {
      p -= 0.1 * p.grad();
      p.grad().zero_();
    }
  }
}
void letGoByHand(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    for (auto &p : net->parameters())
      p.mutable_grad().reset();
    net->forward(x).sum().backward();
    opt.step();
  }
}
