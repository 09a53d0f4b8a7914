// RUN: %check_torch %s torch-missing-zero-grad %t
//
// The optimizer trains a part of what is run, however that is reached.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::SGD;

static Sequential makeTwo() { return Sequential(Linear(4, 4), Linear(4, 4)); }

template <class Net> static void fit(Net &net, SGD &opt) {
  for (int i = 0; i < 9; ++i) {
    net->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared
  }
}

void byIndex() {
  auto net = makeTwo();
  SGD last(net[1]->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    net->forward(torch::rand({2, 4})).sum().backward();
    last.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'last' are not cleared
  }
}

void byClass() {
  auto net = makeTwo();
  SGD last(net->ptr(1)->as<Linear>()->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    net->forward(torch::rand({2, 4})).sum().backward();
    last.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'last' are not cleared
  }
}

void shared() {
  Linear head(4, 4);
  Sequential net(Linear(4, 4), head);
  SGD opt(head->parameters(), 0.1);
  fit(net, opt);
}

void pushed() {
  Sequential net;
  Linear head(4, 4);
  net->push_back(Linear(4, 4));
  net->push_back(head);
  SGD last(head->parameters(), 0.1);
  auto step = [&] {
    net->forward(torch::rand({2, 4})).sum().backward();
    last.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'last' are not cleared
  };
  for (int i = 0; i < 9; ++i)
    step();
}

struct Trainer {
  Trainer() : net(body, head), opt(head->parameters(), 0.1) {}
  void run() {
    for (int i = 0; i < 9; ++i) {
      net->forward(torch::rand({2, 4})).sum().backward();
      opt.step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'opt' are not cleared
    }
  }
  Linear body{4, 4}, head{4, 4};
  Sequential net;
  SGD opt;
};

void children() {
  auto net = makeTwo();
  SGD last(net->children().back()->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    net->forward(torch::rand({2, 4})).sum().backward();
    last.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'last' are not cleared
  }
}

void elements() {
  torch::nn::ModuleList layers(Linear(4, 4), Linear(4, 4));
  SGD opt(layers->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    auto x = torch::rand({2, 4});
    for (auto &layer : *layers)
      x = layer->as<Linear>()->forward(x);
    x.sum().backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared
  }
}

void range() {
  auto net = makeTwo();
  auto all = net->parameters();
  SGD last(std::vector<Tensor>(all.end() - 2, all.end()), 0.1);
  for (int i = 0; i < 9; ++i) {
    net->forward(torch::rand({2, 4})).sum().backward();
    last.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'last' are not cleared
  }
}
