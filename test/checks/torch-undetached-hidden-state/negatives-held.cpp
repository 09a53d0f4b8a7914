// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// Modules in a Sequential or an AnyModule that leave their history behind; each
// has a state of its own.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::AnyModule;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

struct DetachedImpl : torch::nn::Module {
  DetachedImpl() : fc(register_module("fc", Linear(2, 2))), h(torch::zeros({2})) {}
  Tensor forward(Tensor x) {
    h = torch::tanh(fc->forward(x) + h.detach());
    return h;
  }
  Linear fc;
  Tensor h;
};
TORCH_MODULE(Detached);

struct ResetImpl : torch::nn::Module {
  ResetImpl() : fc(register_module("fc", Linear(2, 2))) {}
  Tensor forward(Tensor x) {
    h = torch::zeros({2});
    for (int i = 0; i < 3; ++i)
      h = torch::tanh(fc->forward(x) + h);
    return h;
  }
  Linear fc;
  Tensor h;
};
TORCH_MODULE(Reset);

void several(Tensors xs) {
  Sequential net(Detached(), Detached(), Reset(), Reset(), Linear(2, 1));
  SGD sgd(net->parameters(), 0.1);
  for (auto &x : xs) {
    sgd.zero_grad();
    net->forward(x).sum().backward();
    sgd.step();
  }
}

void held(Tensors xs) {
  AnyModule net(Reset{});
  SGD sgd(net.ptr()->parameters(), 0.1);
  for (auto &x : xs) {
    sgd.zero_grad();
    net.forward(x).sum().backward();
    sgd.step();
  }
}

struct StateImpl : torch::nn::Module {
  StateImpl() : fc(register_module("fc", Linear(2, 2))), h(torch::zeros({2})) {}
  Tensor forward(Tensor x) {
    h = torch::tanh(fc->forward(x) + h);
    return h;
  }
  Linear fc;
  Tensor h;
};
TORCH_MODULE(State);

// Made anew for each sequence.
void fresh(Tensors xs) {
  for (auto &x : xs) {
    Sequential net(State(), Linear(2, 1));
    net->forward(x).sum().backward();
  }
}

// Under a guard.
void evaluated(Tensors xs) {
  Sequential net(State(), Linear(2, 1));
  torch::NoGradGuard off;
  for (auto &x : xs)
    net->forward(x);
}

// What it holds is not known here.
void given(Sequential net, Tensors xs) {
  for (auto &x : xs)
    net->forward(x).sum().backward();
}

// Another one, which runs no State.
void other(Tensors xs) {
  Sequential net(Linear(2, 2)), kept(State());
  for (auto &x : xs)
    net->forward(x).sum().backward();
}
