// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// cell(x) runs cell->forward(x): what forward() leaves in a member is the same,
// whichever way it is called.

#include <torch/torch.h>

using torch::Tensor;

struct MemoryImpl : torch::nn::Module {
  torch::nn::RNNCell cell{nullptr};
  Tensor state = torch::zeros({2, 8});

  MemoryImpl() { cell = register_module("cell", torch::nn::RNNCell(8, 8)); }
  Tensor forward(Tensor x) {
    state = cell(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration
    return state.mean();
  }
};
TORCH_MODULE(Memory);

void called(Memory net, const std::vector<Tensor> &xs) {
  torch::optim::Adam opt(net->parameters());
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net(x).backward();
    opt.step();
  }
}

// A template and a lambda between the loop and the call; forward() is that of a
// base, with a default argument.
struct CounterBase : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  Tensor last = torch::zeros({2, 8});

  CounterBase() { fc = register_module("fc", torch::nn::Linear(8, 8)); }
  Tensor forward(Tensor x, bool sum = true) {
    last = torch::tanh(fc(x) + last);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'last' carries what its backward() needs (its autograd graph) into the next iteration
    return last.sum();
  }

protected:
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(true)})
};
struct CounterImpl : CounterBase {};
TORCH_MODULE(Counter);

template <class Net> Tensor lossOf(Net &net, const Tensor &x) {
  auto run = [&] { return net(x); };
  return run();
}

void viaTemplate(const std::vector<Tensor> &xs) {
  Counter net;
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (Tensor x : xs) {
    opt.zero_grad();
    lossOf(net, x).backward();
    opt.step();
  }
}
