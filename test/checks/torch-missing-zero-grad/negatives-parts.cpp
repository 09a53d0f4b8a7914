// RUN: %check_torch %s torch-missing-zero-grad %t
//
// What is cleared is a part of what is trained, or holds it.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::SGD;

void headOfTheNet() {
  Linear head(4, 4);
  Sequential net(Linear(4, 4), head);
  SGD opt(head->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    net->zero_grad();
    net->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
  }
}

void partOfTheTrained() {
  Sequential net(Linear(4, 4), Linear(4, 4));
  SGD opt(net[1]->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    net->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
    net->ptr<torch::nn::LinearImpl>(1)->zero_grad();
  }
}

static void clear(torch::nn::Module &module) {
  for (auto &child : module.children())
    child->zero_grad();
}

void byChildren() {
  Linear head(4, 4);
  Sequential net(Linear(4, 4), head);
  SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    clear(*net);
    net->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
  }
}

void byHand() {
  Linear head(4, 4);
  Sequential net(Linear(4, 4), head);
  SGD opt(head->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    for (auto &p : net->parameters())
      if (p.grad().defined())
        p.mutable_grad().zero_();
    net->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
  }
}

// The other network shares nothing with the one that is trained.
void otherNet() {
  Linear head(4, 4);
  Sequential net(Linear(4, 4), head), other(Linear(4, 4));
  SGD opt(head->parameters(), 0.1);
  net->forward(torch::rand({2, 4})).sum().backward();
  for (int i = 0; i < 9; ++i) {
    other->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
  }
}
