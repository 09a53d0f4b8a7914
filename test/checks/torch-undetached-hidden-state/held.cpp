// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// A Sequential and an AnyModule run the forward() of the modules that the file
// puts into them.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::AnyModule;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

struct CellImpl : torch::nn::Module {
  CellImpl() : fc(register_module("fc", Linear(2, 2))), h(torch::zeros({2})) {}
  Tensor forward(Tensor x) {
    h = torch::tanh(fc->forward(x) + h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    return h;
  }
  Linear fc;
  Tensor h;
};
TORCH_MODULE(Cell);

void first(Tensors xs) {
  Sequential net(Cell(), Linear(2, 1));
  SGD sgd(net->parameters(), 0.1);
  for (auto &x : xs) {
    sgd.zero_grad();
    net->forward(x).sum().backward();
    sgd.step();
  }
}

struct MiddleImpl : torch::nn::Module {
  MiddleImpl() : fc(register_module("fc", Linear(2, 2))), h(torch::zeros({2})) {}
  Tensor forward(const Tensor &x) {
    h = torch::tanh(fc->forward(x) + h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    return h;
  }
  Linear fc;
  Tensor h;
};
TORCH_MODULE(Middle);

// Pushed, behind another, in a member, with a name.
struct Net : torch::nn::Module {
  Net() {
    layers->push_back(Linear(2, 2));
    layers->push_back("middle", Middle());
    layers->push_back(torch::nn::ReLU());
    register_module("layers", layers);
  }
  Tensor forward(Tensor x) { return layers->forward(x); }
  Sequential layers;
};

void member(Tensors xs) {
  auto net = std::make_shared<Net>();
  SGD sgd(net->parameters(), 0.1);
  for (auto &x : xs) {
    sgd.zero_grad();
    net->forward(x).sum().backward();
    sgd.step();
  }
}

struct AnyImpl : torch::nn::Module {
  AnyImpl() : fc(register_module("fc", Linear(2, 2))), h(torch::zeros({2})) {}
  Tensor forward(Tensor x) {
    h = torch::tanh(fc->forward(x) + h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    return h;
  }
  Linear fc;
  Tensor h;
};
TORCH_MODULE(Any);

void any(Tensors xs) {
  AnyModule net(Any{});
  SGD sgd(net.ptr()->parameters(), 0.1);
  for (auto &x : xs) {
    sgd.zero_grad();
    net.forward(x).sum().backward();
    sgd.step();
  }
}
