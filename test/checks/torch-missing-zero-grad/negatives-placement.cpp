// RUN: %check_torch %s torch-missing-zero-grad %t
//
// Cleared once per step: before, between or after, by whatever owns the
// gradients.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
using torch::nn::Linear;

struct NetImpl : torch::nn::Module {
  NetImpl() {
    features = register_module("features", Linear(8, 8));
    head = register_module("head", Linear(8, 2));
  }
  Tensor forward(Tensor x) { return head(features(x)); }
  Linear features{nullptr}, head{nullptr};
};
TORCH_MODULE(Net);

void firstThing(Net net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    opt.zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

void betweenForwardAndBackward(Net net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    std::cout << loss.item<float>() << '\n';
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// Right after the step(): the anchors' first false positive.
void afterStep(Net net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    opt.zero_grad();
  }
}

// In the header of the loop.
void inLoopHeader(Net net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i, opt.zero_grad()) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

// false keeps the tensors and fills them with zeros: cleared all the same.
void notSetToNone(Net net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    opt.zero_grad(/*set_to_none=*/false);
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

void byModule(Net net, torch::optim::Optimizer &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    net->zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

void byModuleReference(torch::nn::Module &module, torch::nn::AnyModule any,
                       torch::optim::Optimizer &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    module.zero_grad();
    torch::mse_loss(any.forward(x), y).backward();
    opt.step();
  }
}

// The optimizer holds a part, the whole module is cleared.
void byParentModule(Net net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->head->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    net->zero_grad();
  }
}

// A submodule is cleared; the contract counts that as clearing.
void bySubmodule(Net net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    net->head->zero_grad();
    net->features->zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

void throughDereference(std::unique_ptr<torch::optim::Optimizer> optimizer,
                        Net net, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    (*optimizer).zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    optimizer->step();
  }
}

// Cleared through one name, stepped through another.
void aliases(Net net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  auto &reference = opt;
  torch::optim::Optimizer *pointer = &opt;
  for (int i = 0; i < 10; ++i) {
    i % 2 ? reference.zero_grad() : pointer->zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}
