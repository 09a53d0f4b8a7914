// RUN: %check_torch %s torch-inplace-saved %t -still-warns
//
// Behind what is saved last are more than a hundred tensors that were saved.

#include <torch/torch.h>

using torch::Tensor;

struct Block : torch::nn::Module {
  torch::nn::Linear first{nullptr}, second{nullptr};
  explicit Block(int64_t width) {
    first = register_module("first", torch::nn::Linear(width, width));
    second = register_module("second", torch::nn::Linear(width, width));
  }
  Tensor forward(Tensor x) {
    return torch::relu(second(torch::relu(first(x))) + x);
  }
};

struct Stage : torch::nn::Module {
  std::shared_ptr<Block> a, b, c, d, e;
  explicit Stage(int64_t width) {
    a = register_module("a", std::make_shared<Block>(width));
    b = register_module("b", std::make_shared<Block>(width));
    c = register_module("c", std::make_shared<Block>(width));
    d = register_module("d", std::make_shared<Block>(width));
    e = register_module("e", std::make_shared<Block>(width));
  }
  Tensor forward(Tensor x) {
    return e->forward(d->forward(c->forward(b->forward(a->forward(x)))));
  }
};

struct Net : torch::nn::Module {
  std::shared_ptr<Stage> p, q, r, s;
  torch::nn::Linear head{nullptr};
  Net() {
    p = register_module("p", std::make_shared<Stage>(16));
    q = register_module("q", std::make_shared<Stage>(16));
    r = register_module("r", std::make_shared<Stage>(16));
    s = register_module("s", std::make_shared<Stage>(16));
    head = register_module("head", torch::nn::Linear(16, 4));
  }
  Tensor forward(Tensor x) {
    return head(s->forward(r->forward(q->forward(p->forward(x)))));
  }
};

void train(Net &net, torch::optim::Optimizer &opt, Tensor x, Tensor wanted) {
  opt.zero_grad();
  Tensor y = torch::sigmoid(net.forward(x));
  y.add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'y' is changed in place, but the backward()
  torch::mse_loss(y, wanted).backward();
  opt.step();
}

// A sum is not saved.
void right(Net &net, torch::optim::Optimizer &opt, Tensor x, Tensor wanted) {
  opt.zero_grad();
  Tensor y = net.forward(x) + 1;
  y.add_(1);
  torch::mse_loss(y, wanted).backward();
  opt.step();
}
