// RUN: %check_torch %s torch-device-mismatch %t
//
// A Sequential that runs modules of the user's beside layers: what they are given is on the CPU
// as long as nobody moves it.
#include <torch/torch.h>

namespace {

struct FlatImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return x.view({x.size(0), -1}); }
};
TORCH_MODULE(Flat);

struct ScaleImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor &x) { return x * 0.5; }
};
TORCH_MODULE(Scale);

// Where its own weight is, so that anything may be given to it.
struct MovingImpl : torch::nn::Module {
  torch::Tensor weight = register_parameter("weight", torch::ones({1}));
  torch::Tensor forward(torch::Tensor x) { return x.to(weight.device()); }
};
TORCH_MODULE(Moving);

// Its body is elsewhere.
struct UnseenImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x);
};
TORCH_MODULE(Unseen);

torch::Device best() { return torch::cuda::is_available() ? torch::kCUDA : torch::kCPU; }

void first() {
  torch::Device device = best();
  torch::nn::Sequential net(Flat(), torch::nn::Linear(784, 10));
  net->to(device);
  auto x = torch::rand({8, 28, 28});
  net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'x' is on the CPU
}

void between() {
  torch::Device device = best();
  torch::nn::Sequential net(torch::nn::ReLU(), Scale(), torch::nn::Dropout(), Flat(),
                            torch::nn::Linear(784, 10), torch::nn::ReLU());
  net->to(device);
  net->forward(torch::rand({8, 28, 28}));
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: this tensor is on the CPU
}

void last() {
  torch::Device device = best();
  torch::nn::Sequential net(torch::nn::Conv2d(1, 4, 3), Flat());
  net->to(device);
  auto x = torch::rand({8, 1, 28, 28});
  net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'x' is on the CPU
}

// In a module of the user's own, that a training loop runs.
struct NetImpl : torch::nn::Module {
  NetImpl() : layers(Flat(), torch::nn::Linear(784, 10)) { register_module("layers", layers); }
  torch::Tensor forward(torch::Tensor x) { return layers->forward(x); }
  torch::nn::Sequential layers;
};
TORCH_MODULE(Net);

void train(torch::optim::SGD &optimizer, Net net, const torch::Tensor &target) {
  torch::Device device = best();
  net->to(device);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto out = net->forward(torch::rand({8, 28, 28}));
    // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: this tensor is on the CPU
    torch::nll_loss(out, target.to(device)).backward();
    optimizer.step();
  }
}

void moved() {
  torch::Device device = best();
  torch::nn::Sequential net(Flat(), torch::nn::Linear(784, 10));
  net->to(device);
  net->forward(torch::rand({8, 28, 28}).to(device));
}

// One of the modules moves it, or may do so.
void movedInside() {
  torch::Device device = best();
  torch::nn::Sequential net(Moving(), Flat(), torch::nn::Linear(784, 10));
  net->to(device);
  net->forward(torch::rand({8, 28, 28}));
  torch::nn::Sequential other(Flat(), Moving(), torch::nn::Linear(784, 10));
  other->to(device);
  other->forward(torch::rand({8, 28, 28}));
}

void mayBeMovedInside() {
  torch::Device device = best();
  torch::nn::Sequential net(Unseen(), Flat(), torch::nn::Linear(784, 10));
  net->to(device);
  net->forward(torch::rand({8, 28, 28}));
  torch::nn::Sequential other(Flat(), Unseen(), torch::nn::Linear(784, 10));
  other->to(device);
  other->forward(torch::rand({8, 28, 28}));
}

// Nothing in it has a parameter.
void withoutParameters() {
  torch::Device device = best();
  torch::nn::Sequential net(Flat(), torch::nn::Dropout(0.5), Scale());
  net->to(device);
  net->forward(torch::rand({8, 28, 28}));
}

} // namespace
