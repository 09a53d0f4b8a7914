// RUN: %check_torch %s torch-retained-graph %t
//
// What modules in a Sequential or an AnyModule keep is found as it is behind
// net->forward(x).

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::AnyModule;
using torch::nn::Linear;
using torch::nn::Sequential;

struct BlockImpl : torch::nn::Module {
  BlockImpl() : fc(register_module("fc", Linear(2, 2))) {}
  Tensor forward(Tensor x) {
    x = fc->forward(x);
    kept.push_back(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'x' kept in 'kept' keeps what its backward() would need (its autograd graph) for every iteration
    seen.push_back(x.detach());
    return x;
  }
  Linear fc;
  std::vector<Tensor> kept, seen;
};
TORCH_MODULE(Block);

Sequential makeNet() {
  Sequential net;
  for (int i = 0; i < 3; ++i)
    net->push_back(Block());
  return net;
}

void runs(Tensor x) {
  Sequential net = makeNet();
  for (int i = 0; i < 100; ++i)
    net->forward(x).sum().backward();
}

struct TapImpl : torch::nn::Module {
  TapImpl() : fc(register_module("fc", Linear(2, 2))) {}
  Tensor forward(Tensor x) {
    x = fc->forward(x);
    kept.push_back(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'x' kept in 'kept' keeps what its backward() would need (its autograd graph) for every iteration
    return x;
  }
  Linear fc;
  std::vector<Tensor> kept;
};
TORCH_MODULE(Tap);

void any(Tensor x) {
  AnyModule net;
  net = AnyModule(Tap());
  for (int i = 0; i < 100; ++i)
    net.forward(x).sum().backward();
}

// What is behind a part that keeps nothing of its graph has none either.
struct CutImpl : torch::nn::Module {
  Tensor forward(Tensor x) { return x.detach(); }
};
TORCH_MODULE(Cut);

void cut(Tensor x) {
  Sequential net(Linear(2, 2), Cut());
  std::vector<Tensor> all;
  for (int i = 0; i < 100; ++i)
    all.push_back(net->forward(x));
}

void notCut(Tensor x) {
  Sequential net(Cut(), Linear(2, 2));
  std::vector<Tensor> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(net->forward(x));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in 'all' keeps what its backward() would need
  }
}
