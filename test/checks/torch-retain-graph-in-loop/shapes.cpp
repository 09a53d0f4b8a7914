// RUN: %check_torch %s torch-retain-graph-in-loop %t
//
// Graphs that are kept, and that nothing goes through again.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void training(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    auto loss = net->forward(x).sum();
    opt.zero_grad();
    loss.backward({}, /*retain_graph=*/true);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: backward() of 'loss' keeps the graph of every iteration, though nothing goes through it again: what it has saved stays in memory for longer than it is needed; leave out 'retain_graph' [torch-retain-graph-in-loop]
    // CHECK-FIXES: {{^}}    loss.backward();{{$}}
    opt.step();
  }
}

// The loss is declared outside; a weight of it; others are written behind.
void arguments(Linear net, SGD &opt, Tensor x, Tensor weight) {
  Tensor loss;
  for (int i = 0; i < 9; ++i) {
    loss = net->forward(x);
    loss.backward(weight, true); // weighted
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: backward() of 'loss' keeps
    // CHECK-FIXES: {{^}}    loss.backward(weight); // weighted{{$}}
    opt.step();
  }
  for (int i = 0; i < 9; ++i) {
    loss = net->forward(x).sum();
    loss.backward({}, true, false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: backward() of 'loss' keeps
    // CHECK-FIXES: {{^}}    loss.backward({}, false, false);{{$}}
    opt.step();
  }
  for (int i = 0; i < 9; ++i) {
    auto first = net->forward(x).sum(), second = net->forward(x + 1).sum();
    torch::autograd::backward({first, second}, {}, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: backward() keeps the graph
    // CHECK-FIXES: {{^}}    torch::autograd::backward({first, second}, {});{{$}}
    opt.step();
    std::cout << first.item<float>();
  }
}

// In a function that the loop calls, under a condition, in a lambda.
static float step(Linear &net, SGD &opt, const Tensor &x, bool last) {
  auto loss = net->forward(x).sum();
  opt.zero_grad();
  if (!last)
    loss.backward({}, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: backward() of 'loss' keeps
  else
    loss.backward({}, false);
  opt.step();
  return loss.item<float>();
}
void epochs(Linear net, SGD &opt, Tensor x) {
  for (int epoch = 0; epoch < 9; ++epoch)
    std::cout << step(net, opt, x, epoch == 8);
  auto again = [&](const Tensor &batch) {
    net->forward(batch).sum().backward({}, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: backward() keeps
    opt.step();
  };
  while (again(x), true) {
  }
}

// Two passes, and each has a graph of its own.
template <class Net> void both(Net real, Net fake, SGD &opt) {
  for (int i = 0; i < 9; ++i) {
    auto x = torch::randn({2, 2});
    opt.zero_grad();
    real->forward(x).sum().backward({}, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: backward() keeps
    fake->forward(x).sum().backward();
    opt.step();
  }
}
void instantiates(Linear net, Linear other, SGD &opt) {
  both(net, other, opt);
}

// By hand, and all that goes in is known.
float minimum() {
  auto x = torch::ones({8}, torch::requires_grad());
  for (int i = 0; i < 100; ++i) {
    auto value = x.square().sum();
    value.backward({}, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: backward() of 'value' keeps
    torch::NoGradGuard guard;
    x -= x.grad() * 0.1;
    x.mutable_grad() = Tensor();
  }
  return x.sum().item<float>();
}
