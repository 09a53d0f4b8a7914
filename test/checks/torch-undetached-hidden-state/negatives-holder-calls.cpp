// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// forward() behind a call operator that leaves no graph behind.

#include <torch/torch.h>

using torch::Tensor;

struct DetachingImpl : torch::nn::Module {
  torch::nn::RNNCell cell{nullptr};
  Tensor state = torch::zeros({2, 8});

  DetachingImpl() { cell = register_module("cell", torch::nn::RNNCell(8, 8)); }
  Tensor forward(Tensor x) {
    Tensor next = cell(x, state);
    state = next.detach();
    return next.mean();
  }
};
TORCH_MODULE(Detaching);

void detached(Detaching net, const std::vector<Tensor> &xs) {
  torch::optim::Adam opt(net->parameters());
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net(x).backward();
    opt.step();
  }
}

// Another method keeps its result; this loop does not call it.
struct TwoWaysImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  Tensor last;

  TwoWaysImpl() { fc = register_module("fc", torch::nn::Linear(8, 8)); }
  Tensor forward(Tensor x) { return fc(x).sum(); }
  Tensor advance(Tensor x, Tensor before) {
    last = fc(x) + before;
    return last.sum();
  }
};
TORCH_MODULE(TwoWays);

void other(const std::vector<Tensor> &xs) {
  TwoWays net;
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (Tensor x : xs) {
    opt.zero_grad();
    net(x).backward();
    opt.step();
  }
}

// The state is reset before each sequence, in what the loop calls.
struct ResetImpl : torch::nn::Module {
  torch::nn::GRUCell cell{nullptr};
  Tensor state;

  ResetImpl() { cell = register_module("cell", torch::nn::GRUCell(8, 8)); }
  void reset() { state = torch::zeros({2, 8}); }
  Tensor forward(Tensor x) {
    state = cell(x, state);
    return state.sum();
  }
};
TORCH_MODULE(Reset);

void fresh(Reset net, const std::vector<Tensor> &xs) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (Tensor x : xs) {
    net->reset();
    opt.zero_grad();
    net(x).backward();
    opt.step();
  }
}
