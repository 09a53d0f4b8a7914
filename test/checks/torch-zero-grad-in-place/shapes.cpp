// RUN: %check_torch %s torch-zero-grad-in-place %t -still-warns
//
// Gradients that are filled with zeros in each iteration of a training.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void training(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad(/*set_to_none=*/false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: zero_grad(false) of 'opt' fills the gradients with zeros in every iteration, where they could be let go: they take memory through the forward pass, when the graph needs most of it; leave out the argument, unless a parameter that gets no gradient in an iteration is to be updated all the same [torch-zero-grad-in-place]
    net->forward(x).sum().backward();
    torch::nn::utils::clip_grad_norm_(net->parameters(), 1);
    opt.step();
  }
}

// Of the module; the inner loop trains.
void ofModule(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 9; ++epoch)
    for (const Tensor &x : xs) {
      net->forward(x).sum().backward();
      opt.step();
      net->zero_grad(false);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: zero_grad(false) of 'net' fills
    }
}

// By a method, a lambda, a template.
class Trainer {
public:
  void train(const std::vector<Tensor> &xs) {
    for (const Tensor &x : xs)
      step(x);
  }

private:
  void step(const Tensor &x) {
    opt->zero_grad(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: zero_grad(false) of 'opt' fills
    net->forward(x).sum().backward();
    opt->step();
  }
  Linear net{8, 8};
  std::unique_ptr<torch::optim::Optimizer> opt =
      std::make_unique<torch::optim::Adam>(net->parameters());
};
void run(const std::vector<Tensor> &xs) { Trainer().train(xs); }

template <class Optimizer>
void byTemplate(Linear net, Optimizer &opt, const std::vector<Tensor> &xs) {
  auto clear = [&] {
    opt.zero_grad(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: zero_grad(false) of 'opt' fills
  };
  for (const Tensor &x : xs) {
    clear();
    net->forward(x).sum().backward();
    opt.step();
  }
}
template void byTemplate<torch::optim::AdamW>(Linear, torch::optim::AdamW &,
                                              const std::vector<Tensor> &);

// Every so many batches.
void accumulated(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (size_t i = 0; i < xs.size(); ++i) {
    net->forward(xs[i]).sum().backward();
    if (i % 4 == 3) {
      opt.step();
      opt.zero_grad(false);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: zero_grad(false) of 'opt' fills
    }
  }
}

// By hand, one parameter after the other.
void byHand(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    for (auto &p : net->parameters())
      if (p.grad().defined())
        p.grad().zero_();
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: this fills the gradients with zeros in every iteration, where they could be let go: they take memory through the forward pass, when the graph needs most of it; call 'mutable_grad().reset()', or 'zero_grad()', unless a parameter that gets no gradient in an iteration is to be updated all the same [torch-zero-grad-in-place]
    net->forward(x).sum().backward();
    opt.step();
  }
}

struct Loop {
  Linear net{8, 8};
  SGD opt{net->parameters(), 0.1};
  void clear() {
    for (auto &group : opt.param_groups())
      for (auto &p : group.params())
        if (p.mutable_grad().defined())
          p.mutable_grad().zero_();
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: this fills the gradients with zeros
  }
  void fit(const std::vector<Tensor> &xs) {
    for (int epoch = 0; epoch < 9; ++epoch)
      for (const Tensor &x : xs) {
        net->forward(x).sum().backward();
        opt.step();
        clear();
      }
  }
};
void fit(Loop &loop, const std::vector<Tensor> &xs) { loop.fit(xs); }
